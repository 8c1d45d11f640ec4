package io.timingwheel.spring.durable.support;

/**
 * Thrown if a stored payload does not fit its handler. The message says why, and quotes
 * nothing of the payload.
 */
final class UndecodablePayloadException extends Exception {

	/**
	 * Creates an exception.
	 * @param reason why
	 */
	UndecodablePayloadException(String reason) {
		super(reason);
	}

	/**
	 * Creates an exception.
	 * @param reason why
	 * @param cause the exception of the mapper
	 */
	UndecodablePayloadException(String reason, Throwable cause) {
		super(reason, cause);
	}

}
