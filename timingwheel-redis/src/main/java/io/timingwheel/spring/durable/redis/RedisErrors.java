package io.timingwheel.spring.durable.redis;

import java.util.List;
import java.util.Set;

import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

final class RedisErrors {

	/** The first words of the errors of a server that cannot answer at the moment. */
	private static final Set<String> OUTAGES = Set.of("LOADING", "BUSY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN",
			"UNKILLABLE", "MOVED", "ASK");

	private static final String READONLY = "READONLY ";

	/**
	 * A server that does not write at the moment. Redis before version 7 says this in the
	 * middle of the message.
	 */
	private static final List<String> NO_WRITES = List.of(READONLY, "MISCONF ", "NOREPLICAS ");

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private RedisErrors() {
	}

	/** Whether Redis, or this store, refuses the request for good. */
	static boolean isRefusal(Throwable error) {
		for (Throwable cause = error; cause != null; cause = cause.getCause()) {
			if (cause instanceof RedisCommandExecutionException) {
				String message = String.valueOf(cause.getMessage());
				return !OUTAGES.contains(message.split(" ", 2)[0]) && NO_WRITES.stream().noneMatch(message::contains);
			}
		}
		return error instanceof IllegalArgumentException;
	}

	/** Whether Redis has answered, if only with an error. */
	static boolean isAnswer(RuntimeException failure) {
		return failure.getCause() instanceof RedisCommandExecutionException;
	}

	static boolean isReadOnly(@Nullable RuntimeException failure) {
		return message(failure).contains(READONLY);
	}

	static String message(@Nullable RuntimeException failure) {
		Throwable cause = (failure != null) ? failure.getCause() : null;
		return (cause != null) ? String.valueOf(cause.getMessage()) : "";
	}

	/**
	 * Translates an exception as Spring does. Health shows only the message, so this has
	 * the message of Redis or Lettuce.
	 */
	static RuntimeException translated(Exception cause) {
		if (cause instanceof DataAccessException known) {
			return known;
		}
		RuntimeException translated = EXCEPTIONS.convert(cause);
		return (translated == null || translated.getClass() == RedisSystemException.class)
				? new RedisSystemException("Redis failed: " + cause.getMessage(), cause) : translated;
	}

}
