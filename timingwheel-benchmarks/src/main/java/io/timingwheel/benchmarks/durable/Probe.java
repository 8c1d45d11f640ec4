package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.benchmarks.Quantiles;

/** The body of the tasks of a node. It reads the clock. Thread-safe. */
final class Probe {

	/** How many tasks may run between two resets. */
	static final int MAX = 4_000_000;

	private final long[] lateness = new long[MAX];

	private final AtomicInteger count = new AtomicInteger();

	private final AtomicLong first = new AtomicLong(Long.MAX_VALUE);

	private final AtomicLong last = new AtomicLong();

	private final AtomicLong latest = new AtomicLong(Long.MIN_VALUE);

	/** When the latest task has run, in microseconds of the time of day. */
	private volatile long latestAt;

	/**
	 * Records that a task runs.
	 * @param due when it is due, in whole milliseconds
	 */
	void run(Instant due) {
		Instant now = Instant.now();
		long micros = micros(now);
		long late = micros - micros(due);
		this.lateness[this.count.getAndIncrement()] = late;
		if (late > this.latest.get() && this.latest.accumulateAndGet(late, Math::max) == late) {
			this.latestAt = micros;
		}
		if (micros < this.first.get()) {
			this.first.accumulateAndGet(micros, Math::min);
		}
		this.last.accumulateAndGet(micros, Math::max);
	}

	private static long micros(Instant time) {
		return Duration.between(Instant.EPOCH, time).toNanos() / 1_000;
	}

	void reset() {
		this.count.set(0);
		this.first.set(Long.MAX_VALUE);
		this.last.set(0);
		this.latest.set(Long.MIN_VALUE);
	}

	int count() {
		return this.count.get();
	}

	/**
	 * The figures since the last reset: the number of tasks, the times of the first and
	 * the last run, in microseconds of the time of day, the lateness, and after how many
	 * seconds the latest one has run.
	 */
	Map<String, Double> figures() {
		long[] sorted = Arrays.copyOf(this.lateness, this.count.get());
		Arrays.sort(sorted);
		Map<String, Double> figures = new LinkedHashMap<>();
		figures.put("count", (double) sorted.length);
		figures.put("first", (double) this.first.get());
		figures.put("last", (double) this.last.get());
		if (sorted.length > 0) {
			figures.put("early", (double) Arrays.stream(sorted).filter((late) -> late < 0).count());
			figures.put("p50", millis(sorted, 0.5));
			figures.put("p99", millis(sorted, 0.99));
			figures.put("max", millis(sorted, 1));
			figures.put("max-at", (this.latestAt - this.first.get()) / 1e6);
		}
		return figures;
	}

	private static double millis(long[] sorted, double quantile) {
		return Quantiles.of(sorted, quantile) / 1e3;
	}

}
