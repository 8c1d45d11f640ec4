package io.timingwheel.spring.durable.node;

import io.timingwheel.spring.aop.delayed.DurableMethod;
import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * Runs the durable tasks of a method on this node. Thread-safe.
 *
 * @param missed what becomes of the times of a schedule that have passed without a run
 * @param transactions runs the bodies, {@code null} if tasks are settled after their
 * bodies
 * @since 0.1
 */
public record DurableHandler(DurableMethod method, Arguments arguments, Missed missed,
		@Nullable TransactionalBodies transactions) {

	public String name() {
		return this.method.name();
	}

	/** Writes and reads the arguments of the method. Thread-safe. */
	public interface Arguments {

		/**
		 * @throws IllegalArgumentException if the arguments cannot be stored
		 */
		String encode(@Nullable Object[] arguments);

		/**
		 * @throws Exception whose text becomes the error of the attempt
		 */
		@Nullable Object[] decode(String payload) throws Exception;

	}

}
