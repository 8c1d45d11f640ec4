package io.timingwheel.spring.durable.store;

import java.io.Serial;
import java.util.List;
import java.util.Objects;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a store without transactions that has stored only some of several tasks.
 *
 * @since 0.1
 */
public final class PartlyStoredException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final transient List<@Nullable Enqueued> enqueued;

	/**
	 * @param failure why some tasks are not stored
	 */
	public PartlyStoredException(List<@Nullable Enqueued> enqueued, RuntimeException failure) {
		super(failure);
		this.enqueued = enqueued;
	}

	/**
	 * The result for each task, in this order; {@code null} if it is not, or not
	 * certainly, stored.
	 */
	public List<@Nullable Enqueued> enqueued() {
		return this.enqueued;
	}

	public RuntimeException failure() {
		return (RuntimeException) Objects.requireNonNull(getCause());
	}

}
