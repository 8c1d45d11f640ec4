package io.timingwheel.spring.durable;

import java.io.Serial;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a store without transactions that has stored some of many tasks.
 */
public final class PartlyStoredException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final transient List<@Nullable Enqueued> enqueued;

	private final RuntimeException failure;

	/**
	 * Creates an exception.
	 * @param enqueued what has become of each task, {@code null} for those that are not,
	 * or not for certain, stored
	 * @param failure why these are not
	 */
	public PartlyStoredException(List<@Nullable Enqueued> enqueued, RuntimeException failure) {
		super(failure);
		this.enqueued = enqueued;
		this.failure = failure;
	}

	/**
	 * What has become of each task, {@code null} for those that are not, or not for
	 * certain, stored.
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
