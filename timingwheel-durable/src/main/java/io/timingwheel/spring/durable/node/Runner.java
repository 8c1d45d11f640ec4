package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Runs the bodies of tasks that have begun. Thread-safe. */
final class Runner {

	private static final Log logger = LogFactory.getLog(Runner.class);

	/** A run is missed if it is late by more leases than a failed node can cost. */
	private static final int MISSED_LEASES = 2;

	private final NodeParts parts;

	private final LeaseKeeper leases;

	private final Settler settler;

	private final Duration missedAfter;

	Runner(NodeParts parts, LeaseKeeper leases, Settler settler) {
		this.parts = parts;
		this.leases = leases;
		this.settler = settler;
		this.missedAfter = parts.settings.lease().multipliedBy(MISSED_LEASES);
	}

	/** The task has a place of its window. */
	void submit(Run run, long trustedUntil) {
		if (!run.begin(trustedUntil, this.parts.nanoTime())) {
			return;
		}
		try {
			this.parts.services.handOvers()
				.handOverOrKeep(run.handler.method().executor(), () -> attempt(run, () -> invoke(run)),
						(error) -> attempt(run, () -> error));
		}
		catch (RejectedExecutionException ex) {
			// The executor is a lazy bean, and there is no thread or no memory for it.
			this.parts.held.block();
			this.settler.giveBack(run);
		}
	}

	/** A task that is too late ends without its body. */
	private @Nullable Throwable invoke(Run run) {
		run.expired = run.isTooLate(this.missedAfter);
		if (run.expired) {
			return null;
		}
		try {
			run.readArguments();
			this.parts.services.bodies().run(run, run::proceed, this.parts.services.interceptor(), null);
			return null;
		}
		catch (Throwable ex) {
			return ex;
		}
	}

	/**
	 * If the end fails, the node forgets the task, which comes back after its lease.
	 * @param body gives the error of the attempt, also one that came before the body
	 */
	private void attempt(Run run, Supplier<@Nullable Throwable> body) {
		if (!run.start(this.parts.nanoTime())) {
			// A renewal that is under way must not keep a task that nobody runs.
			this.leases.lose(run);
			return;
		}
		TaskRecorder recorder = this.parts.recorder(run);
		recorder.begun();
		Throwable error = body.get();
		// Before anything else, so that no interrupt hits what this thread runs next.
		boolean held = run.end();
		try {
			if (!run.expired) {
				recorder.executed(run.latenessNanos(), run.startedNanos, this.parts::nanoTime);
			}
			if (run.reply != null) {
				this.settler.replied(run, run.reply);
			}
			else if (!held) {
				recorder.abandoned();
			}
			else if (error == null) {
				this.settler.done(run);
			}
			else if (run.interrupted) {
				this.settler.cutOff(run);
			}
			else {
				recorder.ended(TaskOutcome.FAILED);
				this.settler.failed(run, error);
			}
		}
		catch (Throwable ex) {
			this.parts.held.remove(run);
			UserErrors.log(logger::error,
					"The durable task %s could not be settled: it runs again when its lease has ended".formatted(run),
					ex);
		}
	}

}
