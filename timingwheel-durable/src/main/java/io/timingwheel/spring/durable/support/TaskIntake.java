package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

import io.timingwheel.DirectTask;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.LeasedTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Takes leased tasks and puts them on the wheel until they are due. The tasks come from a
 * claim, or from a thread that has stored or moved them. Thread-safe.
 */
final class TaskIntake {

	private static final Log logger = LogFactory.getLog(TaskIntake.class);

	private static final long NEVER = Long.MAX_VALUE;

	private final NodeTurns turns;

	private final DurableSettings settings;

	private final DurableHandlerRegistry handlers;

	private final TimingWheel wheel;

	private final InFlight inFlight;

	private final Lanes lanes;

	private final LookAhead lookAhead;

	private final TaskBeginner beginner;

	private final TaskRunner runner;

	private final TaskSettler settler;

	private final UnreadableTasks unreadable;

	private final NamePolicies policies;

	private final BooleanSupplier claiming;

	private final Runnable onDue;

	/** When {@link #onDue} is called next for a task of a limited name. */
	private final AtomicLong expectedAt = new AtomicLong(NEVER);

	private volatile boolean closed;

	/**
	 * Creates an open intake.
	 * @param turns the turns of the node
	 * @param settings the settings of the node
	 * @param handlers the handlers of the node
	 * @param wheel where tasks wait
	 * @param inFlight limits and holds the tasks
	 * @param lanes limits the tasks of each name
	 * @param lookAhead how long before their due time the node leases tasks
	 * @param beginner begins tasks that are due
	 * @param runner runs tasks that began with their claim
	 * @param settler takes the tasks that the node cannot run
	 * @param unreadable the tasks that the node leaves to other nodes
	 * @param policies what keeps the node from starting tasks
	 * @param claiming tells whether the node claims tasks now
	 * @param onDue makes the node claim tasks now
	 */
	TaskIntake(NodeTurns turns, DurableSettings settings, DurableHandlerRegistry handlers, TimingWheel wheel,
			InFlight inFlight, Lanes lanes, LookAhead lookAhead, TaskBeginner beginner, TaskRunner runner,
			TaskSettler settler, UnreadableTasks unreadable, NamePolicies policies, BooleanSupplier claiming,
			Runnable onDue) {
		this.turns = turns;
		this.settings = settings;
		this.handlers = handlers;
		this.wheel = wheel;
		this.inFlight = inFlight;
		this.lanes = lanes;
		this.lookAhead = lookAhead;
		this.beginner = beginner;
		this.runner = runner;
		this.settler = settler;
		this.unreadable = unreadable;
		this.policies = policies;
		this.claiming = claiming;
		this.onDue = onDue;
	}

	/**
	 * Offers to lease a task with the request that stores or moves it.
	 * @return the offer, with room reserved for the task; {@code null} if the task is
	 * left to the poller
	 */
	@Nullable LeaseOffer offer(String name, DueTime due) {
		DurableHandler handler = this.handlers.find(name);
		if (this.turns.isVirtual()) {
			return null;
		}
		if (handler == null || !this.claiming.getAsBoolean() || this.inFlight.refusalNanos() > 0) {
			return null;
		}
		if (this.policies.isPaused(handler, name) || this.policies.limits(handler) != null) {
			return null;
		}
		Duration lookAhead = this.lookAhead.current();
		if (!due.absolute() && due.millis() > lookAhead.toMillis()) {
			return null;
		}
		Lane lane = this.lanes.of(handler);
		if (lane.hasBacklog() || lane.room() == 0) {
			return null;
		}
		// A quarter of the room stays for tasks that are in the store already.
		if (this.inFlight.reserve(this.settings.maxInFlight() / 4 + 1, 1) == 0) {
			return null;
		}
		return new LeaseOffer(this.settings.nodeId(), lookAhead, this.settings.lease());
	}

	/**
	 * Gives back the room of offers that the store did not use.
	 */
	void withdrawOffers(int count) {
		this.inFlight.free(count);
	}

	/**
	 * Accepts a leased task. The caller has reserved room for the task.
	 * @param task the task
	 * @param term how long the node trusts the lease, if the task has begun
	 * @param ahead by how many nanoseconds the wheel's clock is ahead of the store's
	 */
	void accept(LeasedTask task, LeaseTerm term, long ahead) {
		DurableHandler handler = this.handlers.find(task.name());
		if (handler == null) {
			// The node claims only names that have a handler.
			this.inFlight.free(1);
			return;
		}
		long dueNanos = ahead + TimeUnit.MILLISECONDS.toNanos(task.dueAt());
		DurableRun run = new DurableRun(task, handler, this.runner, this.lanes.of(handler), dueNanos);
		if (!task.begun() && !task.suspect() && handler.expireAfter() != null
				&& this.policies.limits(handler) != null) {
			// A task of a limited name is leased before it begins only if it has expired.
			run.setExpired();
		}
		this.inFlight.add(run);
		try {
			accept(run, term);
		}
		catch (Throwable ex) {
			// For example, this release does not know the schedule. Another claim finds
			// the task when its lease has ended.
			logger.error("The durable task %s could not be accepted".formatted(run), ex);
			run.withdraw();
			this.inFlight.remove(run);
		}
	}

	private void accept(DurableRun run, LeaseTerm term) {
		LeasedTask task = run.task();
		RecurringRun recurring = run.recurring();
		if (recurring != null) {
			recurring.checkSchedule();
		}
		if (this.closed || !this.claiming.getAsBoolean() || isPaused(run)) {
			// The node or the name may have been paused since the task was leased.
			this.settler.giveBack(run);
		}
		else if (task.lostDeliveries() >= this.settings.maxLostDeliveries()) {
			run.withdraw();
			this.settler.bury(run,
					"Nodes ended %d times while they were running the task (timingwheel.store.max-lost-deliveries)"
						.formatted(task.lostDeliveries()));
		}
		else if (this.unreadable.isLeft(task.id(), task.begun())) {
			this.settler.leave(run);
		}
		else if (task.begun()) {
			this.runner.submit(run, term);
		}
		else {
			putOnWheel(run);
		}
	}

	private boolean isPaused(DurableRun run) {
		return this.policies.isPaused(run.handler(), run.task().name());
	}

	/**
	 * Tells whether this node runs the tasks of a name, and the name has limits over all
	 * nodes.
	 */
	boolean isLimited(String name) {
		DurableHandler handler = this.handlers.find(name);
		return handler != null && this.policies.limits(handler) != null;
	}

	/**
	 * Makes the node claim tasks when a task of a limited name is due. No node leases
	 * such a task before it is due.
	 * @param dueAt when the task is due, in milliseconds since the epoch
	 * @param ahead by how many nanoseconds the wheel's clock is ahead of the store's
	 */
	void expect(long dueAt, long ahead) {
		if (this.turns.isVirtual()) {
			return;
		}
		long dueNanos = ahead + TimeUnit.MILLISECONDS.toNanos(dueAt);
		long delay = dueNanos - this.wheel.timeSource().nanoTime();
		if (delay <= 0) {
			this.onDue.run();
		}
		else if (delay < this.settings.pollInterval().toNanos()) {
			wakeAt(dueNanos, delay);
		}
	}

	private void wakeAt(long dueNanos, long delay) {
		long expected;
		do {
			expected = this.expectedAt.get();
			if (expected != NEVER && expected - dueNanos <= 0) {
				// The claim at that time sees this task.
				return;
			}
		}
		while (!this.expectedAt.compareAndSet(expected, dueNanos));
		try {
			this.wheel.schedule((DirectTask) () -> {
				this.expectedAt.compareAndSet(dueNanos, NEVER);
				this.onDue.run();
			}, delay, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full. The next poll finds the task.
			this.expectedAt.compareAndSet(dueNanos, NEVER);
		}
	}

	private void putOnWheel(DurableRun run) {
		try {
			run.waitsFor(this.wheel.schedule((DirectTask) () -> this.beginner.add(run),
					run.delayNanos(this.wheel.timeSource().nanoTime()), TimeUnit.NANOSECONDS));
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full or stopped.
			this.inFlight.refused();
			this.settler.giveBack(run);
		}
	}

	/**
	 * Gives back all tasks whose bodies have not begun.
	 */
	void giveBackWaiting() {
		this.inFlight.runs().forEach(this.settler::giveBack);
	}

	/**
	 * Gives back the tasks of some names whose bodies have not begun.
	 */
	void giveBackWaiting(Set<String> names) {
		if (!names.isEmpty()) {
			this.inFlight.runs()
				.stream()
				.filter((run) -> names.contains(run.task().name()))
				.forEach(this.settler::giveBack);
		}
	}

	/**
	 * Gives back all tasks that are accepted from now on.
	 */
	void close() {
		this.closed = true;
	}

}
