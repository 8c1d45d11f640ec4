package io.timingwheel.spring.durable.redis;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.NonTransientDataAccessResourceException;

/**
 * Thrown if too few replicas have acknowledged in time that a task was stored, cancelled
 * or moved (see {@link RedisStoreOptions#waitReplicas()}). The primary has made the
 * change, and a stored task may run. The change can be lost only if the primary fails
 * before a replica has the change. Then a stored task is lost, and a cancelled or moved
 * task comes back as it was.
 *
 * @since 0.1
 */
public final class UncertainWriteException extends NonTransientDataAccessResourceException {

	@Serial
	private static final long serialVersionUID = 1L;

	UncertainWriteException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
