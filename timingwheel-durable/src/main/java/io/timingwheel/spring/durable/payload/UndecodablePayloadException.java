package io.timingwheel.spring.durable.payload;

/**
 * Thrown if a stored payload cannot be read, or does not fit its method. The message says
 * why, and quotes nothing of the payload.
 *
 * @since 0.1
 */
public final class UndecodablePayloadException extends Exception {

	UndecodablePayloadException(String reason) {
		super(reason);
	}

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
