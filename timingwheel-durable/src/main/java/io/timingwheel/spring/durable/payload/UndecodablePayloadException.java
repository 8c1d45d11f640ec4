package io.timingwheel.spring.durable.payload;

/**
 * A stored payload cannot be read, or does not fit its method. The message quotes nothing
 * of it.
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

	/** The reason alone, which becomes the error of the task. */
	@Override
	public String toString() {
		return String.valueOf(getMessage());
	}

}
