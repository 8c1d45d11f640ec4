package io.timingwheel.spring.durable.payload;

/**
 * Thrown if an argument or a name cannot be stored. The message names the problem and the
 * remedy.
 *
 * @since 0.1
 */
public final class UnsupportedArgumentException extends IllegalArgumentException {

	private final String problem;

	private final String remedy;

	public UnsupportedArgumentException(String problem, String remedy, Throwable cause) {
		super(problem + "; " + remedy, cause);
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * What is wrong.
	 */
	public String getProblem() {
		return this.problem;
	}

	/**
	 * What to change.
	 */
	public String getRemedy() {
		return this.remedy;
	}

}
