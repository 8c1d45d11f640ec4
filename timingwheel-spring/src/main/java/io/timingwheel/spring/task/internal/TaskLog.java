package io.timingwheel.spring.task.internal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import org.apache.commons.logging.Log;

/**
 * Logs events of one kind that happen to single tasks. In an outage they happen to many
 * tasks. Only the first event in a minute is therefore logged at its level. All others
 * are logged at DEBUG, and the next line at the level says how many they were.
 * Thread-safe.
 */
public final class TaskLog {

	private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final Log logger;

	private final AtomicLong silentUntil = new AtomicLong(System.nanoTime());

	private final LongAdder silenced = new LongAdder();

	public TaskLog(Log logger) {
		this.logger = logger;
	}

	public void error(String message) {
		if (isFirst()) {
			this.logger.error(message + others());
		}
		else {
			silence(message);
		}
	}

	public void warn(String message) {
		if (isFirst()) {
			this.logger.warn(message + others());
		}
		else {
			silence(message);
		}
	}

	private boolean isFirst() {
		long now = System.nanoTime();
		long until = this.silentUntil.get();
		return now - until >= 0 && this.silentUntil.compareAndSet(until, now + SILENCE_NANOS);
	}

	private String others() {
		long count = this.silenced.sumThenReset();
		return (count > 0) ? " (and %d more since the last such line, at DEBUG)".formatted(count) : "";
	}

	private void silence(String message) {
		this.silenced.increment();
		this.logger.debug(message);
	}

}
