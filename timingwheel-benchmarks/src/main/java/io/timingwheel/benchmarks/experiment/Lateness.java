package io.timingwheel.benchmarks.experiment;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.benchmarks.ProcessCpu;
import io.timingwheel.benchmarks.Quantiles;
import io.timingwheel.benchmarks.peer.Peer;
import io.timingwheel.benchmarks.peer.PeerTask;
import io.timingwheel.benchmarks.peer.TimerPeer;

/**
 * How late timers fire that are due at random times within some seconds, and the
 * processor time of these seconds. The tasks only read the clock.
 */
final class Lateness {

	private static final int HOT_CALLERS = 8;

	/** The calls of a hot caller between two readings of the clock. */
	private static final int CALLS = 64;

	private static final long FAR = TimeUnit.MINUTES.toNanos(10);

	private final long[] lateness;

	private final AtomicInteger waiting;

	private final CountDownLatch done = new CountDownLatch(1);

	private Lateness(int count) {
		this.lateness = new long[count];
		this.waiting = new AtomicInteger(count);
	}

	static Map<String, Double> measure(Peer peer, int count, double seconds) throws InterruptedException {
		return new Lateness(count).measure(peer, seconds, 0);
	}

	/** Meanwhile, eight threads schedule and cancel timers as fast as they can. */
	static Map<String, Double> measureBehindCallers(Peer peer, int count, double seconds) throws InterruptedException {
		return new Lateness(count).measure(peer, seconds, HOT_CALLERS);
	}

	private Map<String, Double> measure(Peer peer, double seconds, int callers) throws InterruptedException {
		long span = (long) (seconds * TimeUnit.SECONDS.toNanos(1));
		try (TimerPeer timers = peer.start()) {
			long[] dues = new Random(42).longs(this.lateness.length, 0, span).toArray();
			long start = System.nanoTime() + Experiment.leadNanos(dues.length);
			for (int i = 0; i < dues.length; i++) {
				long due = start + dues[i];
				timers.schedule(new Probe(i, due), due - System.nanoTime());
			}
			System.gc();
			for (int i = 0; i < callers; i++) {
				startHotCaller(timers, start + span);
			}
			TimeUnit.NANOSECONDS.sleep(start - System.nanoTime());
			long cpu = ProcessCpu.nanos();
			this.done.await();
			cpu = ProcessCpu.nanos() - cpu;
			Arrays.sort(this.lateness);
			long early = Arrays.stream(this.lateness).filter((late) -> late < 0).count();
			return Map.of("early", (double) early, "p50", micros(0.5), "p99", micros(0.99), "p999", micros(0.999),
					"max", micros(1), "cpu", cpu / 1e6);
		}
	}

	private static void startHotCaller(TimerPeer timers, long end) {
		Thread thread = new Thread(() -> {
			// A peer that is behind would never catch up with callers that go on.
			while (System.nanoTime() - end < 0) {
				for (int i = 0; i < CALLS; i++) {
					timers.cancel(timers.schedule(PeerTask.NO_OP, FAR));
				}
			}
		}, "hot-caller");
		thread.setDaemon(true);
		thread.start();
	}

	private double micros(double quantile) {
		return Quantiles.of(this.lateness, quantile) / 1e3;
	}

	private final class Probe extends PeerTask {

		private final int index;

		private final long due;

		Probe(int index, long due) {
			this.index = index;
			this.due = due;
		}

		@Override
		public void run() {
			Lateness.this.lateness[this.index] = System.nanoTime() - this.due;
			if (Lateness.this.waiting.decrementAndGet() == 0) {
				Lateness.this.done.countDown();
			}
		}

	}

}
