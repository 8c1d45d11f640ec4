package io.timingwheel.spring.autoconfigure;

/**
 * Thrown at startup if durable tasks cannot be stored, because something that the store
 * needs is missing.
 */
class UnusableTaskStoreException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String remedy;

	/**
	 * Creates an exception.
	 * @param problem what is wrong, as a clause without a full stop
	 * @param remedy what to do about it, as a clause without a full stop
	 */
	UnusableTaskStoreException(String problem, String remedy) {
		super(problem + "; " + remedy);
		this.problem = problem;
		this.remedy = remedy;
	}

	String getProblem() {
		return this.problem;
	}

	String getRemedy() {
		return this.remedy;
	}

}
