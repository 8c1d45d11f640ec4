package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * This application as one of the nodes that run the tasks of a store. Starts, pauses and
 * stops the parts that a task goes through.
 *
 * <ol>
 * <li>{@link TaskPoller} claims tasks, and {@link TaskIntake} accepts them.</li>
 * <li>A task waits on the wheel until it is due.</li>
 * <li>{@link TaskBeginner} begins the tasks that are due, many with one request.</li>
 * <li>{@link TaskRunner} runs the body of a task on its executor.</li>
 * <li>{@link TaskSettler} settles the tasks whose bodies have ended, many with one
 * request.</li>
 * </ol>
 *
 * <p>
 * {@link LeaseKeeper} renews the leases of the tasks that have begun and are not settled.
 * {@link DeadTaskRetention} deletes dead tasks at the end of their retention.
 */
final class DurableNode {

	private static final Log logger = LogFactory.getLog(DurableNode.class);

	/**
	 * How long interrupted bodies may take to end, and how long the store may take to
	 * settle the remaining tasks.
	 */
	private static final Duration GRACE = Duration.ofSeconds(5);

	private final NodeTurns turns;

	private final StoreAvailability availability;

	private final NodeFigures figures = new NodeFigures();

	private final InFlight inFlight;

	private final PausedNames pausedNames;

	private final NamePolicies policies;

	private final TaskSettler settler;

	private final TaskBeginner beginner;

	private final TaskIntake intake;

	private final NodeReports reports;

	private final TaskPoller poller;

	private final LeaseKeeper leases;

	private final DeadTaskRetention retention;

	private volatile boolean started;

	DurableNode(DelayedTaskStore store, DurableSettings settings, DurableHandlerRegistry handlers, PayloadCodec codec,
			TimingWheel wheel, StoreClock clock, DelayedTaskRegistry tasks, HandOverExecutors handOvers,
			@Nullable TaskExecutionInterceptor interceptor, NodeTurns turns) {
		this.turns = turns;
		this.availability = new StoreAvailability(store::partialOutage, store::isRefusal);
		this.inFlight = new InFlight(settings.maxInFlight(), this.figures, turns);
		this.pausedNames = new PausedNames(turns, store, settings.pollInterval());
		NamePolicies policies = new NamePolicies(tasks.policies(), handlers, this.pausedNames);
		this.policies = policies;
		UnreadableTasks unreadable = new UnreadableTasks(turns);
		this.settler = new TaskSettler(turns, store, settings, wheel, tasks, this.inFlight, unreadable, this.figures,
				this.availability, this::wakePoller);
		TaskRunner runner = new TaskRunner(turns, settings, codec, wheel, tasks, handOvers, interceptor, this.inFlight,
				this.settler);
		this.beginner = new TaskBeginner(turns, store, settings, wheel, this.inFlight, runner, this.settler,
				this.availability);
		Lanes lanes = new Lanes(handlers, this.inFlight, policies, this.beginner::add, this::wakePoller, turns);
		LookAhead lookAhead = new LookAhead(settings.lookAhead(), turns.nanoTime());
		this.intake = new TaskIntake(turns, settings, handlers, wheel, this.inFlight, lanes, lookAhead, this.beginner,
				runner, this.settler, unreadable, policies, () -> this.started && isClaiming(), this::wakePoller);
		this.reports = new NodeReports(turns, store, settings.nodeId(), this.inFlight);
		this.poller = new TaskPoller(turns, store, settings, handlers, clock, this.inFlight, lanes, this.intake,
				lookAhead, this.pausedNames, unreadable, this.figures, this.availability, this.reports);
		this.leases = new LeaseKeeper(turns, store, settings, this.inFlight, this.availability);
		this.retention = new DeadTaskRetention(store, settings.deadRetention(), this.figures);
		turns.onWork(this::lookAgain);
	}

	synchronized void start() {
		if (!this.started) {
			this.started = true;
			this.beginner.start();
			this.settler.start();
			this.leases.start();
			this.poller.start();
			this.retention.start();
		}
	}

	private void wakePoller() {
		this.poller.wake();
	}

	/**
	 * Looks at the store and at the leases again, after this node has changed something.
	 */
	private void lookAgain() {
		this.poller.wake();
		if (!this.inFlight.isEmpty()) {
			this.leases.wake();
		}
	}

	/**
	 * Tells this node that a task was stored that is due before the node would poll.
	 */
	void dueSoon() {
		this.poller.wake();
	}

	/**
	 * Tells this node that a task was stored or moved, if the node polls only on request.
	 */
	void changed() {
		if (this.turns.isVirtual()) {
			this.poller.wake();
		}
	}

	/**
	 * The intake. Threads that store or move tasks give it the tasks that are due soon.
	 */
	TaskIntake intake() {
		return this.intake;
	}

	StoreAvailability availability() {
		return this.availability;
	}

	NodeFigures figures() {
		return this.figures;
	}

	int inFlight() {
		return this.inFlight.size();
	}

	boolean isClaiming() {
		return this.poller.isActive();
	}

	void pause() {
		this.poller.pause();
		this.availability.idle(StoreAvailability.Caller.CLAIM);
		this.intake.giveBackWaiting();
		this.turns.flush();
	}

	void resume() {
		this.poller.resume();
	}

	/**
	 * Pauses or resumes names for all nodes.
	 */
	void setPaused(List<String> names, boolean paused) {
		names.forEach((name) -> this.pausedNames.set(name, paused));
		if (paused) {
			this.intake.giveBackWaiting(Set.copyOf(names));
			this.turns.flush();
		}
		this.poller.wake();
	}

	boolean isPaused(String name) {
		return this.policies.isPaused(name);
	}

	boolean isPausedByPolicy(String name) {
		return this.policies.isPausedByPolicy(name);
	}

	boolean mayHoldBack(String name) {
		return this.policies.mayHoldBack(name);
	}

	void stopClaiming() {
		this.poller.stop();
	}

	/**
	 * Gives back the tasks whose bodies have not begun, and waits for the bodies that
	 * run. Interrupts the bodies that take longer, and gives their tasks back.
	 * @param period how long to wait at most
	 */
	synchronized void shutdown(Duration period) throws InterruptedException {
		this.intake.close();
		stopClaiming();
		this.retention.stop();
		if (!this.started) {
			return;
		}
		try {
			this.poller.join(GRACE);
			this.intake.giveBackWaiting();
			this.turns.flush();
			if (!await(this::isIdle, period)) {
				long cut = this.inFlight.runs().stream().filter(DurableRun::cutOff).count();
				logger.warn("Interrupted %d durable tasks that were still running after %s".formatted(cut,
						DurationFormatterUtils.print(period, DurationFormat.Style.COMPOSITE)));
				await(this::isIdle, GRACE);
			}
			if (!await(this::isSettled, GRACE)) {
				logger.warn(("%d durable tasks could not be settled in the store: other nodes run them once their"
						+ " leases have ended")
					.formatted(this.inFlight.size()));
			}
		}
		finally {
			this.beginner.stop();
			this.leases.stop();
			this.settler.stop();
		}
		if (this.availability.error() == null) {
			this.reports.end();
		}
		this.beginner.join(GRACE);
		this.leases.join(GRACE);
		this.settler.join(GRACE);
		this.retention.join(GRACE);
	}

	private boolean isIdle() {
		return this.inFlight.runs().stream().noneMatch(DurableRun::delaysShutdown);
	}

	/**
	 * Whether the store knows of the end of all bodies. A body that has just ended may
	 * not have reached the settler yet.
	 */
	private boolean isSettled() {
		return this.settler.isEmpty() && this.inFlight.runs().stream().allMatch(DurableRun::isRunning);
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

}
