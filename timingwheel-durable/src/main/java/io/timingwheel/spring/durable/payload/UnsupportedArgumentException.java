package io.timingwheel.spring.durable.payload;

/**
 * An argument or a name cannot be stored. The message names the problem and the remedy.
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

	public String getProblem() {
		return this.problem;
	}

	public String getRemedy() {
		return this.remedy;
	}

}
