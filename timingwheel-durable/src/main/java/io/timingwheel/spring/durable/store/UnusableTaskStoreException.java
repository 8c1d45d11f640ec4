package io.timingwheel.spring.durable.store;

import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;

/**
 * Thrown at the start of an application if its store cannot keep durable tasks. Spring
 * Boot shows the problem and the remedy in place of a stack trace.
 *
 * @since 0.1
 */
public class UnusableTaskStoreException extends IllegalStateException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String remedy;

	/**
	 * @param problem without a full stop, as the remedy
	 */
	public UnusableTaskStoreException(String problem, String remedy) {
		this(problem, remedy, null);
	}

	/**
	 * @param cause {@code null} if there is none
	 */
	public UnusableTaskStoreException(String problem, String remedy, @Nullable Throwable cause) {
		super(problem + "; " + remedy, cause);
		this.problem = problem;
		this.remedy = remedy;
	}

	/** A failure with a remedy. A store that gives none has probably not answered. */
	public static UnusableTaskStoreException of(RuntimeException failure) {
		return (failure instanceof UnusableTaskStoreException unusable) ? unusable : new UnusableTaskStoreException(
				"the check of the store has failed (%s)".formatted(NestedExceptionUtils.getMostSpecificCause(failure)),
				"check that the server of the store runs, and that its address, user and password are right", failure);
	}

	/** What is wrong, without a full stop. */
	public String getProblem() {
		return this.problem;
	}

	/** What to do about it, without a full stop. */
	public String getRemedy() {
		return this.remedy;
	}

}
