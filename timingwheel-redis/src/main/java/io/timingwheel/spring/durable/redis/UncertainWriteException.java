package io.timingwheel.spring.durable.redis;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.NonTransientDataAccessResourceException;

/**
 * Thrown if fewer replicas than asked for have acknowledged in time that a task was
 * stored, cancelled or moved. The primary has done it: a stored task may run, and it is
 * lost, or a cancelled one comes back, only if the primary fails before a replica has
 * caught up.
 */
public class UncertainWriteException extends NonTransientDataAccessResourceException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param message what was done, and who has acknowledged it
	 * @param cause why no more is known, {@code null} for nothing
	 */
	public UncertainWriteException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
