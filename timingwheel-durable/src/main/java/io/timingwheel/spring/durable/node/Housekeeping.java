package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.NodeState;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * What a node does from time to time: it looks after the declared schedules, reports its
 * state, and deletes the tasks that have been dead for longer than the retention. Nothing
 * else depends on it: if a part fails, it is tried again later.
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

	private final List<Chore> chores;

	Housekeeping(NodeParts parts, Held held, BooleanSupplier schedules) {
		this.parts = parts;
		this.held = held;
		this.schedules = schedules;
		this.loop = parts.loops().loop("timing-wheel-housekeeping", this::round);
		this.chores = List.of(new Chore(0, this::lookAfterSchedules), new Chore(0, this::report),
				new Chore(retentionPause(), this::deleteSomeDead));
	}

	NodeLoop loop() {
		return this.loop;
	}

	Duration reportInterval() {
		Duration poll = this.parts.settings().pollInterval();
		return (poll.compareTo(HEARTBEAT) > 0) ? poll : HEARTBEAT;
	}

	private void round() {
		long pause = Long.MAX_VALUE;
		for (Chore chore : this.chores) {
			pause = Math.min(pause, chore.doIfDue());
		}
		this.loop.sleep(pause);
	}

	private long lookAfterSchedules() {
		return attempt("look after the declared schedules", this.schedules) ? SCHEDULES_NANOS : RETRY_NANOS;
	}

	private long report() {
		heartbeat(this.held.isOpen() ? Activity.CLAIMING : Activity.PAUSED);
		return TimeUnit.NANOSECONDS.convert(reportInterval());
	}

	/**
	 * Tells the store what this node does, so that operators see all nodes.
	 */
	void heartbeat(Activity activity) {
		attempt("report the state of this node", () -> {
			this.parts.store().heartbeat(new NodeState(this.parts.settings().nodeId(), activity, this.held.size()));
			return true;
		});
	}

	private long deleteSomeDead() {
		Duration retention = this.parts.settings().deadRetention();
		boolean more = retention != null && attempt("delete dead tasks", () -> {
			int deleted = this.parts.store().discardOlder(retention, DelayedTaskStore.MAX_STEP);
			this.parts.count(Figure.EXPIRED_DEAD, deleted);
			return deleted > 0;
		});
		return more ? random(PAUSE_BETWEEN_STEPS) : retentionPause();
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

	private static boolean attempt(String what, BooleanSupplier action) {
		try {
			return action.getAsBoolean();
		}
		catch (RuntimeException ex) {
			logger.debug("This node could not " + what + ", and tries again later", ex);
			return false;
		}
	}

	/**
	 * Something to do from time to time.
	 */
	private final class Chore {

		private final LongSupplier action;

		private long dueAt;

		/**
		 * Creates a chore whose action gives the nanoseconds until it is due again.
		 */
		Chore(long pause, LongSupplier action) {
			this.dueAt = Housekeeping.this.parts.nanoTime() + pause;
			this.action = action;
		}

		/**
		 * Does what is due, and gives the nanoseconds until it is due again.
		 */
		long doIfDue() {
			if (!Housekeeping.this.loop.isStopped() && Housekeeping.this.parts.nanoTime() - this.dueAt >= 0) {
				long pause = this.action.getAsLong();
				this.dueAt = Housekeeping.this.parts.nanoTime() + pause;
			}
			return this.dueAt - Housekeeping.this.parts.nanoTime();
		}

	}

}
