package io.timingwheel.spring.durable.support;

/**
 * A stored payload gives no arguments for its handler. The message says why, and quotes
 * nothing of the payload.
 */
public class UndecodablePayloadException extends Exception {

	/**
	 * Creates an exception.
	 * @param reason why
	 */
	public UndecodablePayloadException(String reason) {
		super(reason);
	}

	/**
	 * Creates an exception.
	 * @param reason why
	 * @param cause what uncovered it
	 */
	public UndecodablePayloadException(String reason, Throwable cause) {
		super(reason, cause);
	}

}
