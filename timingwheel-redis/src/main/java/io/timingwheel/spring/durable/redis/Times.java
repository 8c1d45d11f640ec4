package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.DelayedTaskStore;

/**
 * Durations as scripts take them.
 */
final class Times {

	private Times() {
	}

	static long millis(Duration duration) {
		return Math.min(TimeUnit.MILLISECONDS.convert(duration), DelayedTaskStore.MAX_TIME);
	}

}
