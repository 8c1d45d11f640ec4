package io.timingwheel.benchmarks.experiment;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.benchmarks.peer.Peer;
import io.timingwheel.benchmarks.peer.PeerTask;
import io.timingwheel.benchmarks.peer.TimerPeer;

/** Many timers that are due at one instant, and another one 50 ms after them. */
final class Burst {

	private static final long UNRELATED = TimeUnit.MILLISECONDS.toNanos(50);

	private final CountDownLatch done = new CountDownLatch(2);

	private volatile long lastAt;

	private volatile long unrelatedAt;

	private Burst() {
	}

	static Map<String, Double> measure(Peer peer, int count, double seconds) throws InterruptedException {
		return new Burst().measure(peer, count);
	}

	private Map<String, Double> measure(Peer peer, int count) throws InterruptedException {
		AtomicInteger waiting = new AtomicInteger(count);
		PeerTask task = PeerTask.of(() -> {
			if (waiting.decrementAndGet() == 0) {
				this.lastAt = System.nanoTime();
				this.done.countDown();
			}
		});
		PeerTask unrelated = PeerTask.of(() -> {
			this.unrelatedAt = System.nanoTime();
			this.done.countDown();
		});
		try (TimerPeer timers = peer.start()) {
			long due = System.nanoTime() + Experiment.leadNanos(count);
			for (int i = 0; i < count; i++) {
				timers.schedule(task, due - System.nanoTime());
			}
			timers.schedule(unrelated, due + UNRELATED - System.nanoTime());
			System.gc();
			this.done.await();
			return Map.of("last", (this.lastAt - due) / 1e6, "unrelated", (this.unrelatedAt - due - UNRELATED) / 1e6);
		}
	}

}
