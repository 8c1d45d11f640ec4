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
 * Looks after the declared schedules, reports the state of the node, and deletes what has
 * been dead for too long. A part that fails is tried again later.
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

	private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final NodeParts parts;

	private final Held held;

	private final BooleanSupplier schedules;

	private final NodeLoop loop;

	private long schedulesAt;

	private long reportAt;

	private long deletionAt;

	Housekeeping(NodeParts parts, Held held, BooleanSupplier schedules) {
		this.parts = parts;
		this.held = held;
		this.schedules = schedules;
		this.loop = parts.loops().loop("timing-wheel-housekeeping", this::round);
		this.schedulesAt = parts.nanoTime();
		this.reportAt = this.schedulesAt;
		this.deletionAt = this.schedulesAt + retentionPause();
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
			boolean stored = attempt("look after the declared schedules", this.schedules);
			this.schedulesAt = this.parts.nanoTime() + (stored ? SCHEDULES_NANOS : RETRY_NANOS);
		}
		if (isDue(this.reportAt)) {
			heartbeat(this.held.isOpen() ? Activity.CLAIMING : Activity.PAUSED);
			this.reportAt = this.parts.nanoTime() + TimeUnit.NANOSECONDS.convert(reportInterval());
		}
		if (isDue(this.deletionAt)) {
			this.deletionAt = this.parts.nanoTime() + (deleteSomeDead() ? random(STEP_NANOS) : retentionPause());
		}
		long now = this.parts.nanoTime();
		this.loop.sleep(Math.min(Math.min(this.schedulesAt - now, this.reportAt - now), this.deletionAt - now));
	}

	private boolean isDue(long time) {
		return !this.loop.isStopped() && this.parts.nanoTime() - time >= 0;
	}

	void heartbeat(Activity activity) {
		attempt("report the state of this node", () -> {
			this.parts.store().heartbeat(new NodeState(this.parts.settings().nodeId(), activity, this.held.size()));
			return true;
		});
	}

	/** Gives {@code false} if the next deletion can wait. */
	private boolean deleteSomeDead() {
		Duration retention = this.parts.settings().deadRetention();
		return retention != null && attempt("delete dead tasks", () -> {
			int deleted = this.parts.store().discardOlder(retention, DelayedTaskStore.MAX_STEP);
			this.parts.count(Figure.EXPIRED_DEAD, deleted);
			return deleted > 0;
		});
	}

	/** Random, so that the nodes do not all look at once. */
	private long retentionPause() {
		Duration retention = this.parts.settings().deadRetention();
		long part = (retention != null) ? TimeUnit.NANOSECONDS.convert(retention) / ROUNDS_PER_RETENTION : MAX_PAUSE;
		return random(Math.min(Math.max(part, MIN_PAUSE), MAX_PAUSE));
	}

	/** Between half and one and a half times the given time. */
	private static long random(long nanos) {
		return ThreadLocalRandom.current().nextLong(nanos / 2, nanos * 3 / 2);
	}

	private static boolean attempt(String what, BooleanSupplier action) {
		try {
			return action.getAsBoolean();
		}
		catch (RuntimeException ex) {
			logger.debug("This node could not " + what + ", and tries again later", ex);
			return false;
		}
	}

}
