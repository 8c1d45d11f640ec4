package io.timingwheel.spring.durable.support;

/**
 * Rolls back the transaction of a body, because a test wants the end of the body to get
 * lost.
 */
final class LostEndException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	LostEndException(DurableRun run) {
		super("The test lets the end of the durable task " + run + " get lost: the transaction is rolled back");
	}

}
