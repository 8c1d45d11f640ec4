package io.timingwheel.benchmarks.experiment;

import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.timingwheel.benchmarks.peer.Peer;
import io.timingwheel.benchmarks.peer.PeerTask;
import io.timingwheel.benchmarks.peer.TimerPeer;

/**
 * The processor time that a peer uses while nothing is due, above what the same JVM used
 * before the peer was started.
 */
final class Idle {

	private static final long HOUR = TimeUnit.HOURS.toNanos(1);

	private Idle() {
	}

	static Map<String, Double> measure(Peer peer, int count, double seconds) throws InterruptedException {
		double bare = millisPerSecond(seconds);
		try (TimerPeer timers = peer.start()) {
			for (int i = 0; i < count; i++) {
				timers.schedule(PeerTask.NO_OP, HOUR + TimeUnit.MILLISECONDS.toNanos(i));
			}
			timers.settle();
			return Map.of("cpu", Math.max(0, millisPerSecond(seconds) - bare));
		}
	}

	private static double millisPerSecond(double seconds) throws InterruptedException {
		System.gc();
		// The compiler and the collector become idle meanwhile.
		Thread.sleep((long) (seconds * 200));
		ThreadTimes before = ThreadTimes.read();
		Thread.sleep((long) (seconds * 1000));
		return ThreadTimes.read().nanosSince(before) / 1e6 / seconds;
	}

}
