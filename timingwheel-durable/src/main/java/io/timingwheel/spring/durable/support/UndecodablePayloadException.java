package io.timingwheel.spring.durable.support;

/**
 * Thrown if this node cannot read a stored payload, or it does not fit its handler. The
 * message says why, and quotes nothing of the payload.
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

	/**
	 * The reason alone, which becomes the error of the task.
	 */
	@Override
	public String toString() {
		return String.valueOf(getMessage());
	}

}
