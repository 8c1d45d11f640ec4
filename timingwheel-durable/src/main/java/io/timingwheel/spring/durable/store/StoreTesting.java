package io.timingwheel.spring.durable.store;

import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * What tests need of a store.
 *
 * @since 0.1
 */
public interface StoreTesting {

	/**
	 * Replaces the store's clock for the store object that gave this object.
	 * @param millis gives milliseconds since the epoch; {@code null} for the store's own
	 * clock
	 */
	void setClock(@Nullable LongSupplier millis);

	/** Deletes all tasks, and all that the store knows of names and nodes. */
	void deleteAll();

}
