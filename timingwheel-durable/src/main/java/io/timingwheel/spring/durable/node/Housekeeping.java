package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Looks after the declared schedules, reports the state of the node, and deletes what has
 * been dead for too long. What fails is tried again later.
 */
final class Housekeeping {

	private static final Log logger = LogFactory.getLog(Housekeeping.class);

	/** The time between two reports, unless the node polls less often. */
	private static final Duration HEARTBEAT = Duration.ofSeconds(5);

	/** The time between two looks for lost schedules. */
	private static final long SCHEDULES_NANOS = TimeUnit.SECONDS.toNanos(30);

	/** The same until all schedules are stored. */
	private static final long NOT_STORED_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** The time between two looks for tasks that have been dead for too long. */
	private static final long DEAD_NANOS = TimeUnit.MINUTES.toNanos(1);

	/** The same while there are such tasks. */
	private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final NodeParts parts;

	private final NodeLoop loop;

	/** What there is to do, which gives the nanoseconds until the next time, and when. */
	private final Map<LongSupplier, Long> chores = new LinkedHashMap<>();

	Housekeeping(NodeParts parts) {
		this.parts = parts;
		this.loop = parts.loop("timing-wheel-housekeeping", this::round);
		long now = parts.nanoTime();
		this.chores.put(this::lookAfterSchedules, now);
		this.chores.put(this::report, now);
		this.chores.put(this::deleteDead, now + DEAD_NANOS);
	}

	private void round() {
		this.chores.replaceAll((chore, dueAt) -> (this.parts.nanoTime() - dueAt >= 0)
				? chore.getAsLong() + this.parts.nanoTime() : dueAt);
		long now = this.parts.nanoTime();
		this.loop.sleep(this.chores.values().stream().mapToLong((dueAt) -> dueAt - now).min().orElseThrow());
	}

	private long lookAfterSchedules() {
		return this.parts.services.schedules().getAsBoolean() ? SCHEDULES_NANOS : NOT_STORED_NANOS;
	}

	private long report() {
		heartbeat(this.parts.held.open ? Activity.CLAIMING : Activity.PAUSED);
		return TimeUnit.NANOSECONDS.convert(reportInterval());
	}

	Duration reportInterval() {
		Duration poll = this.parts.settings.pollInterval();
		return (poll.compareTo(HEARTBEAT) > 0) ? poll : HEARTBEAT;
	}

	void heartbeat(Activity activity) {
		int inFlight = this.parts.held.runs.size();
		try {
			this.parts.store.heartbeat(new NodeState(this.parts.settings.nodeId(), activity, inFlight));
		}
		catch (RuntimeException ex) {
			logger.debug("This node could not report its state, and tries again later", ex);
		}
	}

	private long deleteDead() {
		Duration retention = this.parts.settings.deadRetention();
		int deleted = 0;
		try {
			deleted = (retention != null) ? this.parts.store.discardOlder(retention, DelayedTaskStore.MAX_STEP) : 0;
		}
		catch (RuntimeException ex) {
			logger.debug("This node could not delete dead tasks, and tries again later", ex);
		}
		this.parts.expiredDead.add(deleted);
		return (deleted > 0) ? STEP_NANOS : DEAD_NANOS;
	}

}
