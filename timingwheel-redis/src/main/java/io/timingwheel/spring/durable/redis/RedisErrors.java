package io.timingwheel.spring.durable.redis;

import java.util.Set;

import io.lettuce.core.RedisCommandExecutionException;

/**
 * Tells what an exception of Redis means.
 */
final class RedisErrors {

	/**
	 * The first words of the errors of a server or cluster that cannot answer at the
	 * moment.
	 */
	private static final Set<String> OUTAGES = Set.of("LOADING", "BUSY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN",
			"UNKILLABLE", "MOVED", "ASK");

	private RedisErrors() {
	}

	/**
	 * Whether Redis has answered, and refuses the request for good, such as for a lack of
	 * rights.
	 */
	static boolean isRefusal(Throwable error) {
		for (Throwable cause = error; cause != null; cause = cause.getCause()) {
			if (cause instanceof RedisCommandExecutionException) {
				String message = String.valueOf(cause.getMessage());
				return !OUTAGES.contains(message.split(" ", 2)[0]);
			}
		}
		// A value that this store refuses.
		return error instanceof IllegalArgumentException;
	}

}
