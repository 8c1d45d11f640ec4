package io.timingwheel.spring.durable.redis;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.NonTransientDataAccessResourceException;

/**
 * Thrown if too few replicas have acknowledged in time that a task was stored, cancelled
 * or moved (see {@link RedisStoreOptions#waitReplicas()}). The primary has made the
 * change, and a stored task may run. Only if the primary fails before a replica has the
 * change is a stored task lost, or does a cancelled or moved task come back as it was.
 *
 * @since 0.1
 */
public final class UncertainWriteException extends NonTransientDataAccessResourceException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param cause why no more replicas are known to have the change, {@code null} if
	 * Redis has counted them
	 */
	UncertainWriteException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
