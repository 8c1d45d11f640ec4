package io.timingwheel.spring.durable.support;

/**
 * Thrown if an argument or a name cannot be stored. The message names the problem and the
 * remedy.
 *
 * @since 0.1
 */
public final class UnsupportedArgumentException extends IllegalArgumentException {

	private final String problem;

	private final String remedy;

	/**
	 * Creates an exception.
	 * @param problem what is wrong, a clause without a full stop
	 * @param remedy what to change, in the imperative, without a full stop
	 * @param cause the exception of the mapper
	 */
	UnsupportedArgumentException(String problem, String remedy, Throwable cause) {
		super(problem + "; " + remedy, cause);
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * What is wrong.
	 * @return a clause without a full stop
	 */
	public String getProblem() {
		return this.problem;
	}

	/**
	 * What to change.
	 * @return an imperative without a full stop
	 */
	public String getRemedy() {
		return this.remedy;
	}

}
