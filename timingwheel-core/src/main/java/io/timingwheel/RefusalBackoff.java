package io.timingwheel;

import java.util.concurrent.TimeUnit;

/**
 * Determines how long to wait before a refused task is handed over again. The wait is 10
 * ms at first. It doubles, up to 1 s, after each turn of the driver with refusals and no
 * accepted task. Only the driver uses this class.
 */
final class RefusalBackoff {

	private static final System.Logger LOGGER = System.getLogger(TimingWheel.class.getName());

	private static final long MIN = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long MAX = TimeUnit.SECONDS.toNanos(1);

	private static final long SILENCE = TimeUnit.MINUTES.toNanos(1);

	private long silentUntil = System.nanoTime();

	private long delay = MIN;

	private boolean accepted;

	private boolean refused;

	void accepted() {
		this.accepted = true;
	}

	/**
	 * Records a refusal, and logs a warning at most once a minute.
	 * @return the nanoseconds to wait
	 */
	long refused(Throwable reason) {
		long now = System.nanoTime();
		if (now - this.silentUntil >= 0) {
			this.silentUntil = now + SILENCE;
			warn(reason);
		}
		this.refused = true;
		return this.delay;
	}

	private static void warn(Throwable reason) {
		try {
			LOGGER.log(System.Logger.Level.WARNING,
					"An executor has refused a task of the timing wheel. The task stays pending and is handed over again later",
					reason);
		}
		catch (Throwable ex) {
			// The timer must not be lost because logging fails.
		}
	}

	/**
	 * Adapts the delay after a turn of the driver.
	 */
	void turnEnded() {
		if (this.accepted) {
			this.delay = MIN;
		}
		else if (this.refused) {
			this.delay = Math.min(2 * this.delay, MAX);
		}
		this.accepted = false;
		this.refused = false;
	}

}
