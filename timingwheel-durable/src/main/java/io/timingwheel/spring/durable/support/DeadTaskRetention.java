package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.DelayedTaskStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the tasks that have been dead for longer than the retention, by the clock of
 * the store, in small steps. Each node does this from time to time, with random pauses,
 * so that the nodes do not all do it at once.
 */
final class DeadTaskRetention {

	private static final Log logger = LogFactory.getLog(DeadTaskRetention.class);

	/** How many rounds there are in a retention, so that no task stays much longer. */
	private static final int ROUNDS_PER_RETENTION = 20;

	private static final long MIN_PAUSE = TimeUnit.SECONDS.toNanos(1);

	private static final long MAX_PAUSE = TimeUnit.MINUTES.toNanos(10);

	private static final long PAUSE_BETWEEN_STEPS = TimeUnit.MILLISECONDS.toNanos(100);

	private final DelayedTaskStore store;

	private final @Nullable Duration retention;

	private final NodeFigures figures;

	private final StoreThread thread = new StoreThread("timing-wheel-retention", this::round);

	/**
	 * Creates an object that has not started.
	 * @param store the store
	 * @param retention how long dead tasks stay, {@code null} for ever
	 * @param figures counts the deleted tasks
	 */
	DeadTaskRetention(DelayedTaskStore store, @Nullable Duration retention, NodeFigures figures) {
		this.store = store;
		this.retention = retention;
		this.figures = figures;
	}

	void start() {
		if (this.retention != null) {
			this.thread.start();
		}
	}

	void stop() {
		this.thread.stop();
	}

	void join(Duration period) throws InterruptedException {
		this.thread.join(period);
	}

	private void round() {
		Duration retention = this.retention;
		if (retention == null) {
			this.thread.stop();
			return;
		}
		long part = TimeUnit.NANOSECONDS.convert(retention) / ROUNDS_PER_RETENTION;
		this.thread.sleep(random(Math.min(Math.max(part, MIN_PAUSE), MAX_PAUSE)));
		try {
			deleteOlder(retention);
		}
		catch (RuntimeException ex) {
			logger.debug("Dead tasks could not be deleted; the next round tries again", ex);
		}
	}

	private void deleteOlder(Duration retention) {
		int deleted = -1;
		long sum = 0;
		while (deleted != 0 && !this.thread.isStopped()) {
			deleted = this.store.discardOlder(retention, DelayedTaskStore.MAX_STEP);
			this.figures.addExpiredDead(deleted);
			sum += deleted;
			if (deleted != 0) {
				this.thread.sleep(random(PAUSE_BETWEEN_STEPS));
			}
		}
		if (sum > 0 && logger.isDebugEnabled()) {
			logger.debug("Deleted %d tasks that had been dead for longer than %s".formatted(sum, retention));
		}
	}

	/**
	 * A random time between half and one and a half times the given time.
	 */
	private static long random(long nanos) {
		return ThreadLocalRandom.current().nextLong(nanos / 2, nanos * 3 / 2);
	}

}
