package io.timingwheel.benchmarks.experiment;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.timingwheel.benchmarks.peer.Peer;
import io.timingwheel.benchmarks.peer.PeerTask;
import io.timingwheel.benchmarks.peer.TimerPeer;

/**
 * Measures the bytes that a pending timer retains if all timers share one task, and the
 * bytes that are left directly after its cancellation. The caller keeps no handles.
 */
final class Footprint {

	private static final long HOUR = TimeUnit.HOURS.toNanos(1);

	private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();

	private Footprint() {
	}

	static Map<String, Double> measure(Peer peer, int count, double seconds) throws InterruptedException {
		double pending;
		try (TimerPeer timers = warmedUp(peer)) {
			long empty = usedBytes();
			for (int i = 0; i < count; i++) {
				timers.schedule(PeerTask.NO_OP, delay(i));
			}
			timers.settle();
			pending = usedBytes() - empty;
		}
		double cancelled;
		try (TimerPeer timers = warmedUp(peer)) {
			long empty = usedBytes();
			scheduleAndCancel(timers, count);
			cancelled = usedBytes() - empty;
		}
		return Map.of("pending", pending / count, "cancelled", Math.max(0, cancelled / count));
	}

	/** Starts the peer and has it allocate what it needs once. */
	private static TimerPeer warmedUp(Peer peer) throws InterruptedException {
		TimerPeer timers = peer.start();
		timers.cancel(timers.schedule(PeerTask.NO_OP, HOUR));
		timers.settle();
		return timers;
	}

	private static void scheduleAndCancel(TimerPeer timers, int count) throws InterruptedException {
		Object[] handles = new Object[count];
		for (int i = 0; i < count; i++) {
			handles[i] = timers.schedule(PeerTask.NO_OP, delay(i));
		}
		timers.settle();
		for (Object timer : handles) {
			timers.cancel(timer);
		}
	}

	private static long delay(int i) {
		return HOUR + TimeUnit.MILLISECONDS.toNanos(i);
	}

	private static long usedBytes() {
		System.gc();
		System.gc();
		return MEMORY.getHeapMemoryUsage().getUsed();
	}

}
