package io.timingwheel.spring.durable.support;

/**
 * Rolls the transaction of a body back whose end nobody is to hear of.
 */
final class LostEndException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	LostEndException(DurableRun run) {
		super("The test lets the end of the durable task " + run + " get lost: the transaction is rolled back");
	}

}
