package io.timingwheel.spring.autoconfigure;

/**
 * The application asks for a store whose library is not on the class path.
 */
@SuppressWarnings("serial")
final class MissingStoreException extends IllegalStateException {

	private final String problem;

	private final String remedy;

	MissingStoreException(String problem, String remedy) {
		super("Durable tasks cannot be stored: %s. To solve this, %s.".formatted(problem, remedy));
		this.problem = problem;
		this.remedy = remedy;
	}

	String problem() {
		return this.problem;
	}

	String remedy() {
		return this.remedy;
	}

}
