package io.timingwheel.spring.faults;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Makes a small request to the store again and again, and notes when the machine had no
 * time for it. The requests are none of those that a test measures, so their time shows
 * how busy the machine is, and not how good the measured requests are.
 */
final class StallProbe implements AutoCloseable {

	private static final long PAUSE_MILLIS = 10;

	/** A pause and a request that take longer than this are a stall. */
	private static final long STALL_MILLIS = 50;

	private final List<Stall> stalls = new CopyOnWriteArrayList<>();

	private final Thread thread;

	private volatile boolean closed;

	/**
	 * Starts a probe.
	 * @param request sends the request
	 */
	StallProbe(Runnable request) {
		this.thread = new Thread(() -> probe(request), "stall-probe");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	private void probe(Runnable request) {
		long from = System.currentTimeMillis();
		while (!this.closed) {
			try {
				Thread.sleep(PAUSE_MILLIS);
			}
			catch (InterruptedException ex) {
				return;
			}
			request.run();
			long to = System.currentTimeMillis();
			if (to - from > STALL_MILLIS) {
				this.stalls.add(new Stall(from, to));
			}
			from = to;
		}
	}

	/**
	 * How much of a time consists of stalls, in milliseconds.
	 */
	long stalledMillis(long from, long to) {
		return this.stalls.stream()
			.mapToLong((stall) -> Math.max(0, Math.min(to, stall.to()) - Math.max(from, stall.from())))
			.sum();
	}

	@Override
	public void close() throws InterruptedException {
		this.closed = true;
		this.thread.join();
	}

	private record Stall(long from, long to) {

	}

}
