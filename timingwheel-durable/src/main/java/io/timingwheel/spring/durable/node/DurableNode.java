package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * This application as one of the nodes that run the tasks of a store. Starts, pauses and
 * stops the steps that a task goes through. Thread-safe.
 *
 * @since 0.1
 */
public final class DurableNode {

	private static final Log logger = LogFactory.getLog(DurableNode.class);

	/**
	 * How long interrupted bodies may take to end, and how long the store may take to
	 * settle the remaining tasks.
	 */
	private static final Duration GRACE = Duration.ofSeconds(5);

	private final NodeParts parts;

	private final Held held;

	private final NamePolicies policies;

	private final Settler settler;

	private final LeaseKeeper leases;

	private final Beginner beginner;

	private final Intake intake;

	private final Poller poller;

	private final Housekeeping housekeeping;

	private volatile boolean stopped;

	private boolean started;

	/**
	 * Creates a node that has not started.
	 */
	public DurableNode(DelayedTaskStore store, NodeSettings settings, DurableHandlers handlers, TimingWheel wheel,
			Services services, NodeLoop.Factory loops) {
		this.parts = NodeParts.of(store, settings, wheel, loops, services);
		this.policies = new NamePolicies(handlers, services.policies());
		this.held = new Held(this.parts.settings().maxInFlight(), this.parts::nanoTime, this::wake);
		this.settler = new Settler(this.parts, this.held);
		this.leases = new LeaseKeeper(this.parts, this.held);
		Runner runner = new Runner(this.parts, this.held, this.leases, this.settler);
		this.beginner = new Beginner(this.parts, this.held, runner, this.settler);
		Names names = new Names(this.parts.settings(), handlers, this.policies,
				() -> new NameWindow(this.parts::nanoTime, this::wake));
		this.intake = new Intake(settings.maxLostDeliveries(), names, this.held, this.beginner, runner, this.settler);
		this.poller = new Poller(this.parts, names, this.held, this.intake);
		this.housekeeping = new Housekeeping(this.parts, this.held, services.schedules());
	}

	/**
	 * Begins to claim tasks. A second call does nothing.
	 */
	public synchronized void start() {
		if (!this.started && !this.stopped) {
			this.started = true;
			loops().forEach(NodeLoop::start);
		}
	}

	private List<NodeLoop> loops() {
		return List.of(this.beginner.loop(), this.settler.loop(), this.leases.loop(), this.poller.loop(),
				this.housekeeping.loop());
	}

	/**
	 * Makes the node look at the store now. The store may have tasks that the node did
	 * not know of.
	 */
	public void wake() {
		this.poller.loop().wake();
	}

	/**
	 * Tells the node that a task was stored or moved, and that this is certain. The node
	 * claims the task in time if it would poll too late.
	 * @param dueAt when the task is due, in milliseconds since the epoch
	 * @param now the time by the store's clock, in milliseconds since the epoch
	 */
	public void expect(String name, long dueAt, long now) {
		DurableHandler handler = this.policies.handlers().find(name);
		if (handler != null && isClaiming() && !this.policies.isPaused(name)) {
			this.poller.expect(dueAt - now, this.policies.limits(handler) != null);
		}
	}

	/**
	 * Tells whether the node claims tasks.
	 * @return {@code false} during a pause, and when the node ends
	 */
	public boolean isClaiming() {
		return this.held.isOpen();
	}

	/**
	 * Ends the claims, and gives back the tasks whose bodies have not started.
	 */
	public void pause() {
		this.held.setOpen(false);
		this.parts.availability().idle(Caller.CLAIM);
		this.intake.giveBack((name) -> true);
		this.parts.loops().flush();
	}

	/**
	 * Ends a pause.
	 */
	public void resume() {
		this.held.setOpen(!this.stopped);
		wake();
	}

	/**
	 * Pauses or resumes a name, and the earlier names of its handler, for all nodes.
	 */
	public void setPaused(String name, boolean paused) {
		TaskLimits.checkName(name);
		List<String> names = this.policies.handlers().allNames(name);
		names.forEach((each) -> this.parts.store().setPaused(each, paused));
		this.policies.set(names, paused);
		if (paused) {
			this.intake.giveBack(names::contains);
			this.parts.loops().flush();
		}
		wake();
	}

	/**
	 * Tells whether no task of a name starts, as far as this node knows.
	 */
	public boolean isPaused(String name) {
		return this.policies.isPaused(this.policies.handlers().canonicalName(name));
	}

	/**
	 * Tells whether the policy of a name pauses it on this node. {@link #setPaused} does
	 * not end this pause.
	 */
	public boolean isPausedByPolicy(String name) {
		return this.policies.isPausedByPolicy(name);
	}

	/**
	 * Tells whether tasks of a name that are due may have to wait, as far as this node
	 * knows.
	 */
	public boolean mayHoldBack(String name) {
		return this.policies.mayHoldBack(name);
	}

	/**
	 * How many tasks this node holds, waiting and running.
	 */
	public int inFlight() {
		return this.held.size();
	}

	/**
	 * What this node has done since its start.
	 */
	public long figure(Figure figure) {
		return Objects.requireNonNull(this.parts.figures().get(figure)).sum();
	}

	/**
	 * What of the store does not answer this node.
	 * @return the outage, {@code null} if the whole store answers
	 */
	public @Nullable Outage outage() {
		return this.parts.availability().outage();
	}

	/**
	 * How often this node reports its state.
	 */
	public Duration reportInterval() {
		return this.housekeeping.reportInterval();
	}

	/**
	 * Ends the claims of this node for good.
	 */
	public void stopClaiming() {
		this.stopped = true;
		this.held.setOpen(false);
		this.poller.loop().stop();
	}

	/**
	 * Ends the claims, gives back the tasks whose bodies have not started, and waits for
	 * the bodies that run. Interrupts the bodies that take longer, and gives their tasks
	 * back.
	 * @param period how long to wait at most
	 * @throws InterruptedException if the thread is interrupted; other nodes run the
	 * tasks that are not settled when their leases have ended
	 */
	public synchronized void shutdown(Duration period) throws InterruptedException {
		stopClaiming();
		this.housekeeping.loop().stop();
		if (!this.started) {
			return;
		}
		try {
			this.poller.loop().join(GRACE);
			this.intake.giveBack((name) -> true);
			this.parts.loops().flush();
			if (!await(this::isIdle, period)) {
				long cut = this.held.runs().stream().filter(Run::cutOff).count();
				logger.warn("Interrupted %d durable tasks that were still running after %s".formatted(cut,
						DurationFormatterUtils.print(period, DurationFormat.Style.COMPOSITE)));
				await(this::isIdle, GRACE);
			}
			if (!await(this::isSettled, GRACE)) {
				logger.warn(("%d durable tasks could not be settled in the store: other nodes run them once their"
						+ " leases have ended")
					.formatted(this.held.size()));
			}
		}
		finally {
			loops().forEach(NodeLoop::stop);
		}
		for (NodeLoop loop : loops()) {
			loop.join(GRACE);
		}
		if (outage() == null) {
			this.housekeeping.heartbeat(Activity.ENDED);
		}
		this.started = false;
	}

	private boolean isIdle() {
		return this.held.runs().stream().noneMatch(Run::delaysShutdown);
	}

	/**
	 * Whether the store knows of the end of all bodies. A body that has just ended may
	 * not have reached the settler yet.
	 */
	private boolean isSettled() {
		return this.held.runs().stream().allMatch(Run::isRunning);
	}

	private static boolean await(BooleanSupplier condition, Duration period) throws InterruptedException {
		long end = System.nanoTime() + period.toNanos();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - end > 0) {
				return false;
			}
			TimeUnit.MILLISECONDS.sleep(5);
		}
		return true;
	}

	/**
	 * What a node needs of the application.
	 *
	 * @param recorders gives the recorder of a name
	 * @param policies the policies of the names
	 * @param bodies the threads that run bodies
	 * @param handOvers keeps executors from blocking
	 * @param interceptor runs around every body; {@code null} for none
	 * @param schedules looks after the declared schedules: stores those that are not
	 * stored yet, or else those that the store has lost. Gives {@code false} if some are
	 * not stored yet, and is then called again soon. Called at the start of the node and
	 * then from time to time
	 * @since 0.1
	 */
	public record Services(Function<String, TaskRecorder> recorders, TaskPolicies policies, RunningBodies bodies,
			HandOverExecutors handOvers, @Nullable TaskExecutionInterceptor interceptor, BooleanSupplier schedules) {

	}

	/**
	 * The store, or parts of it, do not answer a node.
	 *
	 * @param error the latest error
	 * @param since since when, by the node's clock
	 * @param missingParts the parts that do not answer while others do, empty if none of
	 * the store answers
	 * @since 0.1
	 */
	public record Outage(Throwable error, @Nullable Instant since, Set<String> missingParts) {

	}

	/**
	 * A figure of a node.
	 *
	 * @since 0.1
	 */
	public enum Figure {

		/** The claims that the store has answered, with tasks or without. */
		CLAIMS,

		/** The tasks that the node has claimed. */
		CLAIMED,

		/** The leases that have ended before their tasks were settled. */
		LOST_LEASES,

		/**
		 * The tasks that the store did not begin when they were due, since they were
		 * cancelled, replaced, moved, or claimed by another node.
		 */
		REFUSED_BEGINS,

		/** The failures of tasks that led to another attempt. */
		RETRIED,

		/** The tasks that the node has given back. */
		RELEASED,

		/** The dead tasks that the node has deleted at the end of their retention. */
		EXPIRED_DEAD

	}

}
