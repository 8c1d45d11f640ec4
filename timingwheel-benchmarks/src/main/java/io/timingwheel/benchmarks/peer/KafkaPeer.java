package io.timingwheel.benchmarks.peer;

import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.TimerTask;

/**
 * Kafka's purgatory timer: hierarchical wheels whose buckets wait in a delay queue. A
 * thread advances the timer as the reaper of the broker does.
 */
final class KafkaPeer implements TimerPeer {

	private static final long REAPER_TIMEOUT_MILLIS = 200;

	private static final long NANOS_PER_MILLI = 1_000_000;

	private final SystemTimer timer = new SystemTimer("kafka");

	private final Thread reaper = new Thread(this::reap, "kafka-reaper");

	private volatile boolean closed;

	KafkaPeer() {
		this.reaper.setDaemon(true);
		this.reaper.start();
	}

	private void reap() {
		try {
			while (!this.closed) {
				this.timer.advanceClock(REAPER_TIMEOUT_MILLIS);
			}
		}
		catch (InterruptedException ex) {
			// Closed.
		}
	}

	@Override
	public Object schedule(PeerTask task, long delayNanos) {
		Task timer = new Task(task, wholeMillis(delayNanos));
		this.timer.add(timer);
		return timer;
	}

	/**
	 * Rounds a delay up to whole milliseconds, which Kafka takes. Rounded down, the delay
	 * would make the timers of Kafka fire early.
	 */
	static long wholeMillis(long nanos) {
		return Math.floorDiv(nanos + NANOS_PER_MILLI - 1, NANOS_PER_MILLI);
	}

	@Override
	public void cancel(Object timer) {
		((Task) timer).cancel();
	}

	@Override
	public void close() {
		this.closed = true;
		this.reaper.interrupt();
		this.timer.close();
	}

	/** A task of Kafka has its own delay, so each timer needs a task of its own. */
	private static final class Task extends TimerTask {

		private final PeerTask task;

		Task(PeerTask task, long delayMillis) {
			super(delayMillis);
			this.task = task;
		}

		@Override
		public void run() {
			this.task.run();
		}

	}

}
