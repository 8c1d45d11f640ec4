package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.node.Settler.End;
import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.internal.TaskLog;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Settles tasks in the store, and removes them from this node once the store has replied.
 * Thread-safe.
 */
final class Settler {

	private static final Log logger = LogFactory.getLog(Settler.class);

	private final TaskLog failures = new TaskLog(logger);

	private final TaskLog deaths = new TaskLog(logger);

	private final NodeParts parts;

	private final Held held;

	private final Runnable wakePoller;

	private final Batcher<End> batcher;

	/**
	 * Creates a settler that has not started.
	 * @param parts the parts of the node
	 * @param held the tasks of the node
	 * @param wakePoller makes the poller look at what the node has made scheduled
	 */
	Settler(NodeParts parts, Held held, Runnable wakePoller) {
		this.parts = parts;
		this.held = held;
		this.wakePoller = wakePoller;
		this.batcher = new Batcher<>(parts, "timing-wheel-settlements", Caller.SETTLE, this::send, End::inAscii);
	}

	Batcher<End> batcher() {
		return this.batcher;
	}

	/**
	 * Ends a task whose body has returned.
	 */
	void completed(Run run) {
		add(run, Kind.COMPLETED, run.done());
	}

	/**
	 * Ends a task that was settled in the transaction of its body.
	 * @param reply the reply of the store
	 */
	void completedInTransaction(Run run, Reply reply) {
		settled(new End(run, Kind.COMPLETED, run.done()), reply);
	}

	/**
	 * Ends a task that was too late to start.
	 */
	void expired(Run run) {
		add(run, Kind.EXPIRED, run.done());
	}

	/**
	 * Retries a task whose body has thrown, or gives it up after the last attempt. A run
	 * of a schedule is tried again only before the next run. A task whose schedule this
	 * release does not know is never given up, since nobody knows its next run.
	 * @param unreadable whether another release may read the task
	 */
	void failed(Run run, Throwable error, boolean unreadable) {
		String text = TaskLimits.error(UserErrors.describe(error));
		TaskPolicies policies = this.parts.services().policies();
		int maxAttempts = policies.of(run.name()).maxAttempts(this.parts.settings().maxAttempts());
		int attempt = run.attempt();
		boolean foreign = run.unknownSchedule() != null;
		Duration delay = policies.backoff(run.name(), this.parts.settings().backoff()).after(attempt);
		if (unreadable || foreign) {
			delay = longer(delay);
		}
		Settlement end = run.givenUp(text);
		if (foreign || (attempt < maxAttempts && delay.toMillis() < millisTo(run, end))) {
			this.failures.warn("Attempt %d of %d of the durable task %s failed; the next one comes in %d ms: %s"
				.formatted(attempt, maxAttempts, run, delay.toMillis(), text));
			UserErrors.log(logger::debug, "The error of the failed attempt", error);
			add(run, Kind.FAILED, new Settlement.Retry(run.ref(), Math.min(attempt + 1, maxAttempts), delay, text));
			return;
		}
		this.deaths.error((run.isRecurring() ? "A run of the recurring task %s has failed after %d attempts: %s"
				: "The durable task %s is dead after %d attempts: %s")
			.formatted(run, attempt, text));
		add(run, Kind.DEAD, end);
		try {
			run.handler().handleError(error, run.arguments());
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn, "The exception handler of the task " + run + " threw an exception itself", ex);
		}
	}

	/**
	 * Makes the next attempt at a task that this node cannot read so late that all other
	 * nodes have polled before.
	 */
	private Duration longer(Duration delay) {
		Duration polls = this.parts.settings().pollInterval().multipliedBy(2);
		return (delay.compareTo(polls) < 0) ? polls : delay;
	}

	/**
	 * Gives up a task whose body cannot run.
	 */
	void bury(Run run, String reason) {
		this.deaths.error((run.isRecurring() ? "A run of the recurring task %s is given up: %s"
				: "The durable task %s is dead: %s")
			.formatted(run, reason));
		add(run, Kind.DEAD, run.givenUp(reason));
	}

	/**
	 * Releases a task whose body has not started; does nothing if the body has started.
	 */
	void giveBack(Run run) {
		if (run.withdraw()) {
			add(run, Kind.GIVEN_BACK, new Settlement.Release(run.ref(), false));
		}
	}

	/**
	 * Releases a task whose body was interrupted by the shutdown of this node.
	 */
	void cutOff(Run run) {
		add(run, Kind.CUT_OFF, new Settlement.Release(run.ref(), true));
	}

	private void add(Run run, Kind kind, Settlement settlement) {
		this.batcher.add(new End(run, kind, settlement));
	}

	private void send(List<End> batch) {
		List<End> sent = List.copyOf(batch);
		List<Reply> replies = this.parts.store().settle(sent.stream().map(End::settlement).toList());
		Set<End> done = Collections.newSetFromMap(new IdentityHashMap<>());
		try {
			for (int i = 0; i < sent.size(); i++) {
				if (replies.get(i) != Reply.BUSY) {
					done.add(sent.get(i));
					settled(sent.get(i), replies.get(i));
				}
			}
		}
		finally {
			batch.removeAll(done);
		}
	}

	private void settled(End end, Reply reply) {
		Run run = end.run();
		count(end.kind(), reply, this.parts.recorder(run));
		this.held.remove(run);
		if (end.kind() != Kind.GIVEN_BACK
				&& millisTo(run, end.settlement()) < this.parts.settings().pollInterval().toMillis()) {
			this.wakePoller.run();
		}
	}

	private void count(Kind kind, Reply reply, TaskRecorder recorder) {
		boolean refused = reply == Reply.REFUSED;
		switch (kind) {
			case COMPLETED -> {
				if (refused) {
					recorder.abandoned();
				}
				else {
					recorder.ended(TaskOutcome.COMPLETED);
				}
			}
			case EXPIRED -> {
				if (!refused) {
					recorder.count(TaskOutcome.EXPIRED);
				}
			}
			case FAILED -> this.parts.count(Figure.RETRIED, (reply == Reply.DONE) ? 1 : 0);
			case GIVEN_BACK -> this.parts.count(Figure.RELEASED, 1);
			case CUT_OFF -> {
				recorder.abandoned();
				this.parts.count(Figure.RELEASED, 1);
			}
			case DEAD -> {
				// The store counts dead tasks.
			}
		}
		if (reply == Reply.SUPERSEDED) {
			recorder.count(TaskOutcome.SUPERSEDED);
		}
		if (refused && kind != Kind.GIVEN_BACK) {
			this.parts.count(Figure.LOST_LEASES, 1);
		}
	}

	/**
	 * The time until a settled task is due again, in milliseconds.
	 */
	private static long millisTo(Run run, Settlement settlement) {
		DueTime due = (settlement instanceof Settlement.Repeat repeat) ? repeat.next()
				: (settlement instanceof Settlement.Retry retry) ? DueTime.after(retry.delay()) : null;
		long now = run.storeTime().toEpochMilli();
		return (due != null) ? due.resolve(now) - now : Long.MAX_VALUE;
	}

	/**
	 * What happened to a task on this node.
	 */
	private enum Kind {

		COMPLETED, EXPIRED, FAILED, DEAD, GIVEN_BACK, CUT_OFF

	}

	/**
	 * The end of a task on this node.
	 *
	 * @param run the task
	 * @param kind what happened to it
	 * @param settlement what the store is told
	 */
	record End(Run run, Kind kind, Settlement settlement) {

		/**
		 * The same with its text in ASCII. The store may have refused the text of an
		 * error: its database may not know a character.
		 * @return this object if it has no other text
		 */
		End inAscii() {
			Settlement ascii = this.settlement;
			if (ascii instanceof Settlement.Retry it) {
				ascii = new Settlement.Retry(it.task(), it.attempt(), it.delay(), ascii(it.error()));
			}
			else if (ascii instanceof Settlement.Bury it) {
				ascii = new Settlement.Bury(it.task(), ascii(it.reason()));
			}
			else if (ascii instanceof Settlement.Repeat it && it.error() != null) {
				ascii = new Settlement.Repeat(it.task(), it.schedule(), it.next(), ascii(it.error()));
			}
			return ascii.equals(this.settlement) ? this : new End(this.run, this.kind, ascii);
		}

		private static String ascii(String text) {
			return TaskLimits.asciiError(text);
		}

	}

}
