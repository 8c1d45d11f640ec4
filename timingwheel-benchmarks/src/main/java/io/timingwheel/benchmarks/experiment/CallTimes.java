package io.timingwheel.benchmarks.experiment;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import io.timingwheel.benchmarks.Quantiles;
import io.timingwheel.benchmarks.peer.Peer;
import io.timingwheel.benchmarks.peer.PeerTask;
import io.timingwheel.benchmarks.peer.TimerPeer;

/**
 * How long the calls take while the peer's own thread is busy with timers that fire at
 * random times. The caller has scheduled these timers before, so that its calls may meet
 * that thread at the same lock. Each call is timed alone, and the calls come at a fixed
 * rate, however long the calls before have taken.
 */
final class CallTimes {

	/** The time from one pair of calls to the next. */
	private static final long INTERVAL = TimeUnit.MICROSECONDS.toNanos(5);

	private static final long FAR = TimeUnit.MINUTES.toNanos(10);

	private CallTimes() {
	}

	static Map<String, Double> measure(Peer peer, int count, double seconds) throws InterruptedException {
		long span = (long) (seconds * TimeUnit.SECONDS.toNanos(1));
		int pairs = (int) (span / INTERVAL);
		long[] schedule = new long[pairs];
		long[] cancel = new long[pairs];
		try (TimerPeer timers = peer.start()) {
			long[] dues = new Random(42).longs(count, 0, span).toArray();
			long start = System.nanoTime() + Experiment.leadNanos(count);
			for (long due : dues) {
				timers.schedule(PeerTask.NO_OP, start + due - System.nanoTime());
			}
			timePairs(timers, schedule, cancel, Math.min(pairs, 100_000), System.nanoTime());
			System.gc();
			TimeUnit.NANOSECONDS.sleep(start - System.nanoTime());
			timePairs(timers, schedule, cancel, pairs, start);
		}
		Arrays.sort(schedule);
		Arrays.sort(cancel);
		return Map.of("schedule-p50", micros(schedule, 0.5), "schedule-p99", micros(schedule, 0.99), "schedule-p999",
				micros(schedule, 0.999), "cancel-p50", micros(cancel, 0.5), "cancel-p99", micros(cancel, 0.99),
				"cancel-p999", micros(cancel, 0.999));
	}

	private static void timePairs(TimerPeer timers, long[] schedule, long[] cancel, int pairs, long start) {
		for (int i = 0; i < pairs; i++) {
			long next = start + i * INTERVAL;
			long before = System.nanoTime();
			while (before - next < 0) {
				Thread.onSpinWait();
				before = System.nanoTime();
			}
			Object timer = timers.schedule(PeerTask.NO_OP, FAR + i);
			long between = System.nanoTime();
			timers.cancel(timer);
			cancel[i] = System.nanoTime() - between;
			schedule[i] = between - before;
		}
	}

	private static double micros(long[] sorted, double quantile) {
		return Quantiles.of(sorted, quantile) / 1e3;
	}

}
