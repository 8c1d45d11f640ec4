package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.NodeState;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * What a node does from time to time: it reports its state, looks after the declared
 * schedules, and deletes the tasks that have been dead for longer than the retention. If
 * a part fails, the next round follows at the usual time.
 */
final class Housekeeping {

	private static final Log logger = LogFactory.getLog(Housekeeping.class);

	/** The time between two reports, unless the node polls less often. */
	private static final Duration HEARTBEAT = Duration.ofSeconds(5);

	/** The time between two looks for lost schedules. */
	private static final long SCHEDULES_NANOS = TimeUnit.SECONDS.toNanos(30);

	/** The time between two attempts to store the schedules at the start. */
	private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** How many rounds there are in a retention, so that no task stays much longer. */
	private static final int ROUNDS_PER_RETENTION = 20;

	private static final long MIN_PAUSE = TimeUnit.SECONDS.toNanos(1);

	private static final long MAX_PAUSE = TimeUnit.MINUTES.toNanos(10);

	private static final long PAUSE_BETWEEN_STEPS = TimeUnit.MILLISECONDS.toNanos(100);

	private final NodeParts parts;

	private final Held held;

	private final BooleanSupplier schedules;

	private final NodeLoop loop;

	private long heartbeatAt;

	private long schedulesAt;

	private long retentionAt;

	/**
	 * Creates an object that has not started.
	 * @param parts the parts of the node
	 * @param held the tasks of the node
	 * @param schedules stores the declared schedules that are not stored yet, or else
	 * those that the store has lost; {@code false} if some are not stored yet
	 */
	Housekeeping(NodeParts parts, Held held, BooleanSupplier schedules) {
		this.parts = parts;
		this.held = held;
		this.schedules = schedules;
		this.loop = parts.loops().loop("timing-wheel-housekeeping", this::round);
		this.heartbeatAt = parts.nanoTime();
		this.schedulesAt = this.heartbeatAt;
		this.retentionAt = this.heartbeatAt + retentionPause();
	}

	NodeLoop loop() {
		return this.loop;
	}

	Duration reportInterval() {
		Duration poll = this.parts.settings().pollInterval();
		return (poll.compareTo(HEARTBEAT) > 0) ? poll : HEARTBEAT;
	}

	private void round() {
		if (isDue(this.schedulesAt)) {
			this.schedulesAt = this.parts.nanoTime() + (lookAfterSchedules() ? SCHEDULES_NANOS : RETRY_NANOS);
		}
		if (isDue(this.heartbeatAt)) {
			heartbeat(this.held.isOpen() ? Activity.CLAIMING : Activity.PAUSED);
			this.heartbeatAt = this.parts.nanoTime() + TimeUnit.NANOSECONDS.convert(reportInterval());
		}
		if (isDue(this.retentionAt)) {
			this.retentionAt = this.parts.nanoTime()
					+ (deleteSomeDead() ? random(PAUSE_BETWEEN_STEPS) : retentionPause());
		}
		long now = this.parts.nanoTime();
		long next = Math.min(this.heartbeatAt - now, Math.min(this.schedulesAt - now, this.retentionAt - now));
		this.loop.sleep(next);
	}

	private boolean isDue(long time) {
		return !this.loop.isStopped() && this.parts.nanoTime() - time >= 0;
	}

	private boolean lookAfterSchedules() {
		try {
			return this.schedules.getAsBoolean();
		}
		catch (RuntimeException ex) {
			logger.debug("The declared schedules could not be looked after; the next round follows", ex);
			return false;
		}
	}

	/**
	 * Tells the store what this node does, so that operators see all nodes. Nothing
	 * depends on it.
	 */
	void heartbeat(Activity activity) {
		try {
			this.parts.store().heartbeat(new NodeState(this.parts.settings().nodeId(), activity, this.held.size()));
		}
		catch (RuntimeException ex) {
			logger.debug("The state of this node could not be reported; the next report follows", ex);
		}
	}

	/**
	 * Deletes some of the tasks that have been dead for longer than the retention.
	 * @return whether there may be more
	 */
	private boolean deleteSomeDead() {
		Duration retention = this.parts.settings().deadRetention();
		if (retention == null) {
			return false;
		}
		try {
			int deleted = this.parts.store().discardOlder(retention, DelayedTaskStore.MAX_STEP);
			this.parts.count(Figure.EXPIRED_DEAD, deleted);
			return deleted > 0;
		}
		catch (RuntimeException ex) {
			logger.debug("Dead tasks could not be deleted; the next round tries again", ex);
			return false;
		}
	}

	/**
	 * The time between two looks for dead tasks. It is random, so that the nodes do not
	 * all look at once.
	 */
	private long retentionPause() {
		Duration retention = this.parts.settings().deadRetention();
		long part = (retention != null) ? TimeUnit.NANOSECONDS.convert(retention) / ROUNDS_PER_RETENTION : MAX_PAUSE;
		return random(Math.min(Math.max(part, MIN_PAUSE), MAX_PAUSE));
	}

	/**
	 * A random time between half and one and a half times the given time.
	 */
	private static long random(long nanos) {
		return ThreadLocalRandom.current().nextLong(nanos / 2, nanos * 3 / 2);
	}

}
