package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Runs the bodies of tasks that have begun, and settles each task with what its body did.
 * Thread-safe.
 */
final class TaskRunner {

	private static final Log logger = LogFactory.getLog(TaskRunner.class);

	/** A run is missed if it is late by more leases than a failed node can cost. */
	private static final int MISSED_LEASES = 2;

	/** For this time after a refusal, an executor gets tasks only through the wheel. */
	private static final long REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final NodeTurns turns;

	private final PayloadCodec codec;

	private final TimingWheel wheel;

	private final DelayedTaskRegistry tasks;

	private final HandOverExecutors handOvers;

	private final @Nullable TaskExecutionInterceptor interceptor;

	private final InFlight inFlight;

	private final TaskSettler settler;

	private final Duration missedAfter;

	/** When each executor has last refused a task that had begun. */
	private final Map<Executor, Long> refusedNanos = new ConcurrentHashMap<>();

	TaskRunner(NodeTurns turns, DurableSettings settings, PayloadCodec codec, TimingWheel wheel,
			DelayedTaskRegistry tasks, HandOverExecutors handOvers, @Nullable TaskExecutionInterceptor interceptor,
			InFlight inFlight, TaskSettler settler) {
		this.turns = turns;
		this.codec = codec;
		this.wheel = wheel;
		this.tasks = tasks;
		this.handOvers = handOvers;
		this.interceptor = interceptor;
		this.inFlight = inFlight;
		this.settler = settler;
		this.missedAfter = settings.lease().multipliedBy(MISSED_LEASES);
	}

	/**
	 * The time by the clock of the wheel.
	 */
	long nanoTime() {
		return this.wheel.timeSource().nanoTime();
	}

	/**
	 * Hands a task to its executor, after the store has begun the task.
	 * @param term how long the node trusts the lease
	 */
	void submit(DurableRun run, LeaseTerm term) {
		if (!run.begin(term) || givesBack(run) || expires(run)) {
			return;
		}
		try {
			// The executor may be a lazy bean that cannot be created now.
			Executor executor = this.handOvers.resolve(run::executor, (error) -> fail(run, error));
			if (executor != null && !offer(run, executor)) {
				// The wheel tries again until the executor takes the task.
				this.wheel.schedule(run, 0, TimeUnit.NANOSECONDS);
			}
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full, or there is no thread or no memory for the executor.
			this.inFlight.refused();
			this.settler.giveBack(run);
		}
	}

	/**
	 * Ends a task that is too late to start, so that it does not wait for its executor.
	 * @return whether the task has expired
	 */
	private boolean expires(DurableRun run) {
		long now = nanoTime();
		if (!run.isExpired(now, this.missedAfter)) {
			return false;
		}
		if (run.start(now)) {
			run.end();
			this.settler.expired(run);
		}
		return true;
	}

	/**
	 * Offers a task to its executor.
	 * @return {@code false} if the executor refuses the task, or there is no thread
	 */
	private boolean offer(DurableRun run, Executor executor) {
		if (isRefusing(executor)) {
			return false;
		}
		try {
			handOver(run, executor, run);
			return true;
		}
		catch (Throwable ex) {
			this.refusedNanos.put(executor, nanoTime());
			return false;
		}
	}

	/**
	 * Gives a task back during a pause.
	 * @return whether there is a pause
	 */
	private boolean givesBack(DurableRun run) {
		if (!this.handOvers.isPaused()) {
			return false;
		}
		this.settler.giveBack(run);
		return true;
	}

	/**
	 * Whether an executor has refused a task a moment ago. The wheel then has tasks that
	 * wait for this executor, and lets further tasks wait behind them.
	 */
	private boolean isRefusing(Executor executor) {
		Long refused = this.refusedNanos.get(executor);
		return refused != null && nanoTime() - refused < REFUSAL_NANOS;
	}

	/**
	 * Hands a task over to its executor, or gives the task back during a pause.
	 * @param command what the executor has to run
	 * @return whether the executor was called
	 */
	boolean handOver(DurableRun run, Executor executor, Runnable command) {
		if (givesBack(run)) {
			return false;
		}
		this.handOvers.handOver(executor, command, (error) -> fail(run, error));
		return true;
	}

	/**
	 * Ends an attempt with an exception that came before the body.
	 */
	private void fail(DurableRun run, Throwable error) {
		if (run.start(nanoTime())) {
			TaskRecorder recorder = this.tasks.recorder(run.name());
			recorder.begun();
			ended(run, recorder, error);
		}
	}

	/**
	 * Runs a task on the current thread, which is one of its executor's.
	 */
	void run(DurableRun run) {
		if (run.term().isOver(this.turns)) {
			// The machine may have been suspended.
			this.inFlight.loseLease(run);
			return;
		}
		if (givesBack(run) || !run.start(nanoTime())) {
			return;
		}
		Throwable error = null;
		try {
			run.setArguments(decode(run));
			if (run.isExpired(nanoTime(), this.missedAfter)) {
				run.end();
				this.settler.expired(run);
				return;
			}
		}
		catch (Throwable ex) {
			error = ex;
		}
		TaskRecorder recorder = this.tasks.recorder(run.name());
		recorder.begun();
		DeliveryFaults faults = this.turns.faults();
		if (error == null && faults != null) {
			if (faults.crashesAfter(run.name())) {
				crash(run, recorder, faults);
				return;
			}
			error = faults.deliversTwice() ? deliver(run) : null;
		}
		if (error == null) {
			error = invoke(run);
		}
		ended(run, recorder, error);
	}

	/**
	 * Runs a body, and forgets the task as if this node had ended. The lease brings the
	 * task back.
	 */
	private void crash(DurableRun run, TaskRecorder recorder, DeliveryFaults faults) {
		Throwable error = deliver(run);
		if (error != null) {
			faults.failed(run.name(), error);
		}
		run.end();
		recorder.abandoned();
		this.inFlight.remove(run);
	}

	/**
	 * Runs a body whose end gets lost.
	 * @return what the body has thrown
	 */
	private @Nullable Throwable deliver(DurableRun run) {
		run.loseEnd(true);
		Throwable error = invoke(run);
		run.loseEnd(false);
		return (error instanceof LostEndException) ? null : error;
	}

	private @Nullable Object[] decode(DurableRun run) throws UndecodablePayloadException {
		String payload = run.task().payload();
		if (payload == null) {
			throw new UndecodablePayloadException(
					"The payload is larger than timingwheel.store.max-payload-size of this node");
		}
		return this.codec.decode(run.handler(), payload);
	}

	private @Nullable Throwable invoke(DurableRun run) {
		RunningBodies bodies = this.tasks.runningBodies();
		bodies.enter();
		try {
			TaskExecution.run(run, this.interceptor, null);
			return null;
		}
		catch (Throwable ex) {
			return ex;
		}
		finally {
			bodies.leave();
		}
	}

	/**
	 * Settles a task whose body has ended. If this fails, the node forgets the task, and
	 * the task comes back when its lease has ended.
	 */
	private void ended(DurableRun run, TaskRecorder recorder, @Nullable Throwable error) {
		// Before anything else, so that no interrupt hits what this thread runs next.
		DurableRun.Interruption interruption = run.end();
		try {
			DeliveryFaults faults = this.turns.faults();
			if (faults != null && error != null) {
				faults.failed(run.name(), error);
			}
			run.recordTimes(recorder, this::nanoTime);
			settle(run, recorder, error, interruption);
		}
		catch (Throwable ex) {
			this.inFlight.remove(run);
			UserErrors.log(logger::error,
					"The durable task %s could not be settled: it runs again when its lease has ended".formatted(run),
					ex);
		}
	}

	private void settle(DurableRun run, TaskRecorder recorder, @Nullable Throwable error,
			DurableRun.Interruption interruption) {
		Reply reply = run.reply();
		if (reply != null) {
			this.settler.acknowledged(run, reply);
		}
		else if (interruption == DurableRun.Interruption.LEASE_LOST) {
			recorder.abandoned();
		}
		else if (error == null) {
			this.settler.completed(run);
		}
		else if (interruption == DurableRun.Interruption.SHUTDOWN) {
			this.settler.cutOff(run);
		}
		else {
			recorder.ended(TaskOutcome.FAILED);
			this.settler.failed(run, error);
		}
	}

}
