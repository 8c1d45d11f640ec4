package io.timingwheel.test;

/**
 * Thrown at startup if the application cannot have virtual time.
 */
class VirtualTimeException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String remedy;

	/**
	 * Creates an exception.
	 * @param problem what is wrong, as a sentence
	 * @param remedy what to do about it, as a sentence
	 */
	VirtualTimeException(String problem, String remedy) {
		super(problem + " " + remedy);
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
