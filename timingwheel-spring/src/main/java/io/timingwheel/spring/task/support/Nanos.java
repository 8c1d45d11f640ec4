package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * Arithmetic in nanoseconds that saturates, at 292 years, instead of overflowing.
 */
final class Nanos {

	private Nanos() {
	}

	static long of(Duration duration) {
		return TimeUnit.NANOSECONDS.convert(duration);
	}

	static long sinceEpoch(Instant instant) {
		return of(Duration.ofSeconds(instant.getEpochSecond(), instant.getNano()));
	}

	static Instant toInstant(long sinceEpoch) {
		return Instant.ofEpochSecond(0, sinceEpoch);
	}

	static long add(long a, long b) {
		long sum = a + b;
		if (((a ^ sum) & (b ^ sum)) < 0) {
			return (a < 0) ? Long.MIN_VALUE : Long.MAX_VALUE;
		}
		return sum;
	}

}
