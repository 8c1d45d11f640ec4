package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.function.Supplier;

import io.timingwheel.spring.task.internal.TaskLog;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Runs the bodies of tasks that have begun. Thread-safe. */
final class Runner {

	private final TaskLog givenBack = new TaskLog(LogFactory.getLog(Runner.class));

	private final NodeParts parts;

	private final Settler settler;

	Runner(NodeParts parts, Settler settler) {
		this.parts = parts;
		this.settler = settler;
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
		catch (Throwable ex) {
			// The executor is a lazy bean, and there is no thread or no memory for it.
			this.parts.held.block();
			this.settler.giveBack(run);
			this.givenBack.warn("The durable task %s has no executor now, and is given back: %s".formatted(run,
					UserErrors.describe(ex)));
		}
	}

	/**
	 * A task that is too late ends without its body. A run is missed if it is late by
	 * more leases than a failed node can cost.
	 */
	private @Nullable Throwable invoke(Run run) {
		Duration lease = this.parts.settings.lease();
		run.expired = run.isTooLate(lease.plus(lease));
		if (run.expired) {
			return null;
		}
		try {
			run.readArguments();
			this.parts.services.bodies().run(run.execution(), run::proceed, this.parts.services.interceptor());
			return null;
		}
		catch (Throwable ex) {
			return ex;
		}
	}

	/**
	 * @param body gives the error of the attempt, also one that came before the body
	 */
	private void attempt(Run run, Supplier<@Nullable Throwable> body) {
		if (!run.start(this.parts.nanoTime())) {
			// A renewal that is under way must not keep a task that nobody runs.
			this.parts.held.lose(run);
			return;
		}
		TaskRecorder recorder = this.parts.recorder(run);
		recorder.begun();
		Throwable error = body.get();
		// Before anything else, so that no interrupt hits what this thread runs next.
		boolean held = run.end();
		try {
			if (!run.expired) {
				recorder.executed(run.lateness().toNanos(), run.startedNanos, this.parts::nanoTime);
			}
			if (run.reply != null) {
				this.settler.replied(run, run.reply);
			}
			else if (!held) {
				recorder.abandoned();
			}
			else if (error == null) {
				this.settler.settle(run, run.end(null));
			}
			else if (run.interrupted) {
				recorder.abandoned();
				this.settler.release(run, true);
			}
			else {
				recorder.ended(TaskOutcome.FAILED);
				this.settler.failed(run, error);
			}
		}
		catch (Throwable ex) {
			this.parts.held.forget(run, ex);
		}
	}

}
