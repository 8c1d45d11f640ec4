package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.Settlement.Acknowledge;
import io.timingwheel.spring.durable.store.Settlement.Release;
import io.timingwheel.spring.durable.store.Settlement.Repeat;
import io.timingwheel.spring.durable.store.Settlement.Retry;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.internal.TaskLog;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Settles tasks in the store, and removes them from this node once the store has replied.
 */
final class Settler extends Batcher {

	private static final Log logger = LogFactory.getLog(Settler.class);

	private static final @Nullable Object[] NO_ARGUMENTS = {};

	private final TaskLog failures = new TaskLog(logger);

	private final TaskLog deaths = new TaskLog(logger);

	Settler(NodeParts parts) {
		super(parts, "timing-wheel-settlements", Caller.SETTLE);
	}

	/**
	 * Retries a task, or gives it up after the last attempt. A run of a schedule is tried
	 * again only before the next run, which nobody knows of an unknown schedule. Another
	 * node may run what this one could not even begin, so all nodes have to poll first.
	 */
	void failed(Run run, Throwable error) {
		String text = TaskLimits.error(UserErrors.describe(error));
		TaskPolicies policies = this.parts.services.policies();
		int maxAttempts = policies.of(run.name()).maxAttempts(this.parts.settings.maxAttempts());
		int attempt = run.task.attempt();
		Duration delay = policies.backoff(run.name(), this.parts.settings.backoff()).after(attempt);
		Duration polls = this.parts.settings.pollInterval().multipliedBy(2);
		if (run.arguments == null && delay.compareTo(polls) < 0) {
			delay = polls;
		}
		boolean again = attempt < maxAttempts && delay.toMillis() < millisTo(run, run.end(text));
		if (again || run.hasUnknownSchedule()) {
			this.failures.warn("Attempt %d of %d of the durable task %s failed; the next one comes in %d ms: %s"
				.formatted(attempt, maxAttempts, run, delay.toMillis(), text));
			UserErrors.log(logger::debug, "The error of the failed attempt", error);
			settle(run, new Retry(run.task.ref(), Math.min(attempt + 1, maxAttempts), delay, text));
			return;
		}
		giveUp(run, text);
		run.handler.handleError(error, Objects.requireNonNullElse(run.arguments, NO_ARGUMENTS));
	}

	void giveUp(Run run, String reason) {
		this.deaths
			.error(((run.task.schedule() != null) ? "A run of the recurring task %s is given up in attempt %d: %s"
					: "The durable task %s is dead after attempt %d: %s")
				.formatted(run, run.task.attempt(), reason));
		settle(run, run.end(reason));
	}

	/** Does nothing if the body has started. */
	void giveBack(Run run) {
		if (run.withdraw()) {
			release(run, false);
		}
	}

	void giveBack(Predicate<String> names) {
		this.parts.held.runs.stream().filter((run) -> names.test(run.task.name())).forEach(this::giveBack);
	}

	void release(Run run, boolean started) {
		this.parts.released.increment();
		settle(run, new Release(run.task.ref(), started));
	}

	void settle(Run run, Settlement settlement) {
		run.settlement = settlement;
		add(run);
	}

	@Override
	List<Reply> request(List<Run> batch) {
		return this.parts.store.settle(batch.stream().map(Run::settlement).toList());
	}

	@Override
	void replied(Run run, Reply reply) {
		if (reply == Reply.BUSY) {
			return;
		}
		count(run, reply);
		this.parts.held.remove(run);
		if (millisTo(run, run.settlement()) < this.parts.settings.pollInterval().toMillis()) {
			this.parts.wake();
		}
	}

	private void count(Run run, Reply reply) {
		TaskRecorder recorder = this.parts.recorder(run);
		Settlement settlement = run.settlement();
		boolean refused = reply == Reply.REFUSED;
		if (refused && !(settlement instanceof Release release && !release.started())) {
			this.parts.lostLeases.increment();
		}
		if (reply == Reply.SUPERSEDED) {
			recorder.count(TaskOutcome.SUPERSEDED);
		}
		if (settlement instanceof Retry && reply == Reply.DONE) {
			this.parts.retried.increment();
		}
		if (settlement instanceof Acknowledge || (settlement instanceof Repeat repeat && repeat.error() == null)) {
			if (refused) {
				recorder.abandoned();
			}
			else {
				recorder.ended(run.expired ? TaskOutcome.EXPIRED : TaskOutcome.COMPLETED);
			}
		}
	}

	/** The time until a settled task is due again. */
	private static long millisTo(Run run, Settlement settlement) {
		DueTime due = (settlement instanceof Repeat repeat) ? repeat.next()
				: (settlement instanceof Retry retry) ? DueTime.after(retry.delay()) : null;
		if (due == null) {
			return Long.MAX_VALUE;
		}
		long now = run.storeTime().toEpochMilli();
		return due.resolve(now) - now;
	}

}
