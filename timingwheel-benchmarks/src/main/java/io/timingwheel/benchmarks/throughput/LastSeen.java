package io.timingwheel.benchmarks.throughput;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Keeps the time of the last heartbeat of each key, and scans all keys once a second. */
final class LastSeen implements Heartbeats {

	private final Map<Long, Long> lastSeen = new ConcurrentHashMap<>();

	private final ScheduledExecutorService scanner = Executors.newSingleThreadScheduledExecutor();

	LastSeen() {
		this.scanner.scheduleAtFixedRate(this::scan, 1, 1, TimeUnit.SECONDS);
	}

	private void scan() {
		long oldest = System.nanoTime() - Delays.LONGEST;
		this.lastSeen.values().removeIf((time) -> time - oldest < 0);
	}

	@Override
	public void beat(Long key) {
		this.lastSeen.put(key, System.nanoTime());
	}

	@Override
	public void close() {
		this.scanner.shutdownNow();
	}

}
