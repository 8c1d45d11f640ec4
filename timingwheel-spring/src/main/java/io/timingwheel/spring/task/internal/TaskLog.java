package io.timingwheel.spring.task.internal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;

/**
 * Logs one event of a kind in a minute at its level, with the number of those that came
 * since the last, and all others at DEBUG. Thread-safe.
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
		log(this.logger::error, message);
	}

	public void warn(String message) {
		log(this.logger::warn, message);
	}

	private void log(Consumer<Object> level, String message) {
		long now = System.nanoTime();
		long until = this.silentUntil.get();
		if (now - until >= 0 && this.silentUntil.compareAndSet(until, now + SILENCE_NANOS)) {
			long others = this.silenced.sumThenReset();
			level.accept((others > 0) ? "%s (and %d more since the last such line, at DEBUG)".formatted(message, others)
					: message);
		}
		else {
			this.silenced.increment();
			this.logger.debug(message);
		}
	}

}
