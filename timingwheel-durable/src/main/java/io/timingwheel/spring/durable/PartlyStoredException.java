package io.timingwheel.spring.durable;

import java.io.Serial;
import java.util.List;

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

	private final RuntimeException failure;

	/**
	 * Creates an exception.
	 * @param enqueued the result for each task, {@code null} for a task that is not, or
	 * not certainly, stored
	 * @param failure why these tasks are not stored
	 */
	public PartlyStoredException(List<@Nullable Enqueued> enqueued, RuntimeException failure) {
		super(failure);
		this.enqueued = enqueued;
		this.failure = failure;
	}

	/**
	 * The result for each task, {@code null} for a task that is not, or not certainly,
	 * stored.
	 * @return an element for each task, in the order of the tasks
	 */
	public List<@Nullable Enqueued> enqueued() {
		return this.enqueued;
	}

	/**
	 * Why some tasks are not stored.
	 * @return the failure
	 */
	public RuntimeException failure() {
		return this.failure;
	}

}
