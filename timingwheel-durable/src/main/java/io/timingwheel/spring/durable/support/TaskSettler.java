package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;
import io.timingwheel.spring.durable.support.TaskSettler.Settlement;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Settles tasks: acknowledges, retries, buries or releases them in the store, and removes
 * them from this node once the store has replied.
 */
final class TaskSettler extends Batcher<Settlement> {

	private static final Log logger = LogFactory.getLog(TaskSettler.class);

	private final TaskLog failures = new TaskLog(logger);

	private final TaskLog deaths = new TaskLog(logger);

	private final DelayedTaskStore store;

	private final DurableSettings settings;

	private final DelayedTaskRegistry tasks;

	private final InFlight inFlight;

	private final UnreadableTasks unreadable;

	private final NodeFigures figures;

	/** Called when the next run of a recurring task comes before the next poll. */
	private final Runnable onSoon;

	TaskSettler(NodeTurns turns, DelayedTaskStore store, DurableSettings settings, TimingWheel wheel,
			DelayedTaskRegistry tasks, InFlight inFlight, UnreadableTasks unreadable, NodeFigures figures,
			StoreAvailability availability, Runnable onSoon) {
		super(turns, "timing-wheel-settlements", ClaimSize.max(settings), wheel, availability, Caller.SETTLE);
		this.store = store;
		this.settings = settings;
		this.tasks = tasks;
		this.inFlight = inFlight;
		this.unreadable = unreadable;
		this.figures = figures;
		this.onSoon = onSoon;
	}

	/**
	 * Acknowledges a task whose body has returned.
	 */
	void completed(DurableRun run) {
		add(Settlement.ended(run, Kind.COMPLETED));
	}

	/**
	 * Ends a task that was acknowledged in the transaction of its body.
	 * @param reply the reply of the store
	 */
	void acknowledged(DurableRun run, Reply reply) {
		settled(Settlement.ended(run, Kind.COMPLETED), reply);
	}

	/**
	 * Acknowledges a task that was too late to start.
	 */
	void expired(DurableRun run) {
		add(Settlement.ended(run, Kind.EXPIRED));
	}

	/**
	 * Retries a task whose body has thrown, or buries it after the last attempt. A run of
	 * a schedule is retried only before the next run, and given up instead of buried.
	 */
	void failed(DurableRun run, Throwable error) {
		int attempt = run.attempt();
		int maxAttempts = this.tasks.policies().of(run.name()).maxAttempts(this.settings.maxAttempts());
		String text = limited(UserErrors.describe(error));
		NextRun next = run.nextRun(text);
		Duration delay = (attempt < maxAttempts) ? delay(run, error) : null;
		if (delay != null && (next == null || delay.toMillis() < run.millisTo(next))) {
			this.failures.warn("Attempt %d of %d of the durable task %s failed; the next one comes in %d ms: %s"
				.formatted(attempt, maxAttempts, run, delay.toMillis(), text));
			UserErrors.log(logger::debug, "The error of the failed attempt", error);
			add(new Settlement(run, Kind.FAILED, new Retry(run.ref(), attempt + 1, delay, text), null, null));
			return;
		}
		this.deaths.error(((next != null) ? "A run of the recurring task %s has failed after %d attempts: %s"
				: "The durable task %s is dead after %d attempts: %s")
			.formatted(run, attempt, text));
		add(Settlement.givenUp(run, text, next));
		@Nullable Object[] arguments = run.arguments();
		try {
			run.handler().handleError(error, (arguments != null) ? arguments : new Object[0]);
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn, "The exception handler of the task " + run + " threw an exception itself", ex);
		}
	}

	/**
	 * How long a failed task waits for the next attempt. The next attempt at a task that
	 * this node cannot read is not due before all other nodes have polled.
	 */
	private Duration delay(DurableRun run, Throwable error) {
		Duration delay = this.tasks.policies().backoff(run.name(), this.settings.backoff()).after(run.attempt());
		if (error instanceof UndecodablePayloadException) {
			Duration polls = this.settings.pollInterval().multipliedBy(2);
			delay = (delay.compareTo(polls) < 0) ? polls : delay;
			this.unreadable.leave(run.id(), delay);
		}
		return delay;
	}

	/**
	 * Buries a task whose body cannot run.
	 */
	void bury(DurableRun run, String reason) {
		this.deaths.error((run.isRecurring() ? "A run of the recurring task %s is given up: %s"
				: "The durable task %s is dead: %s")
			.formatted(run, reason));
		String text = limited(reason);
		add(Settlement.givenUp(run, text, run.nextRun(text)));
	}

	/**
	 * Releases a task whose body has not begun; does nothing if the body has begun.
	 */
	void giveBack(DurableRun run) {
		if (run.withdraw()) {
			add(Settlement.of(run, Kind.GIVEN_BACK));
		}
	}

	/**
	 * Releases a task that other nodes are to try first.
	 */
	void leave(DurableRun run) {
		if (run.withdraw()) {
			add(Settlement.of(run, Kind.LEFT));
		}
	}

	/**
	 * Releases a task whose body was interrupted by the shutdown of this node.
	 */
	void cutOff(DurableRun run) {
		add(Settlement.of(run, Kind.CUT_OFF));
	}

	@Override
	void send(List<Settlement> batch) {
		Map<Request, List<Settlement>> byRequest = new EnumMap<>(Request.class);
		for (Settlement settlement : batch) {
			byRequest.computeIfAbsent(settlement.request(), (request) -> new ArrayList<>()).add(settlement);
		}
		byRequest.forEach((request, settlements) -> send(request, settlements, batch));
	}

	/**
	 * Sends settlements of one request. Removes from the batch the settlements that need
	 * not be sent again.
	 */
	private void send(Request request, List<Settlement> settlements, List<Settlement> batch) {
		List<Reply> replies = switch (request) {
			case REPEAT -> this.store.repeat(each(settlements, (one) -> Objects.requireNonNull(one.next())));
			case ACKNOWLEDGE -> this.store.acknowledge(each(settlements, Settlement::ref));
			case RETRY -> this.store.retry(each(settlements, (one) -> Objects.requireNonNull(one.retry())));
			case BURY -> this.store.bury(each(settlements, (one) -> Objects.requireNonNull(one.burial())));
			case RELEASE -> this.store.release(each(settlements, Settlement::ref));
			case RELEASE_UNSTARTED -> this.store.releaseUnstarted(each(settlements, Settlement::ref));
		};
		Set<Settlement> done = Collections.newSetFromMap(new IdentityHashMap<>());
		try {
			for (int i = 0; i < replies.size(); i++) {
				if (replies.get(i) != Reply.BUSY) {
					done.add(settlements.get(i));
					settled(settlements.get(i), replies.get(i));
				}
			}
		}
		finally {
			batch.removeAll(done);
		}
	}

	private static <P> List<P> each(List<Settlement> settlements, Function<Settlement, P> part) {
		List<P> parts = new ArrayList<>(settlements.size());
		for (Settlement settlement : settlements) {
			parts.add(part.apply(settlement));
		}
		return parts;
	}

	private void settled(Settlement settlement, Reply reply) {
		TaskRecorder recorder = this.tasks.recorder(settlement.run().name());
		boolean refused = reply == Reply.REFUSED;
		switch (settlement.kind()) {
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
			case FAILED -> {
				if (reply == Reply.DONE) {
					this.figures.addRetried();
				}
			}
			case DEAD -> {
				// The store counts dead tasks.
			}
			case GIVEN_BACK -> {
				this.figures.addReleased();
				settlement.run().lane().gaveBack();
			}
			case LEFT -> this.figures.addReleased();
			case CUT_OFF -> {
				recorder.abandoned();
				this.figures.addReleased();
			}
		}
		if (reply == Reply.SUPERSEDED) {
			recorder.count(TaskOutcome.SUPERSEDED);
		}
		if (refused && settlement.kind() != Kind.GIVEN_BACK && settlement.kind() != Kind.LEFT) {
			this.figures.addLost();
		}
		this.inFlight.remove(settlement.run());
		NextRun next = settlement.next();
		if (next != null && settlement.run().millisTo(next) < this.settings.pollInterval().toMillis()) {
			this.onSoon.run();
		}
	}

	/**
	 * Changes a text to one that stores take.
	 */
	private static String limited(String text) {
		return StorableText.clean(text, DelayedTaskStore.MAX_ERROR_LENGTH);
	}

	/**
	 * The store may refuse the text of an error: its database may not know a character.
	 */
	@Override
	@Nullable Settlement refused(Settlement item) {
		return item.inAscii();
	}

	/**
	 * What happened to a task on this node.
	 */
	private enum Kind {

		COMPLETED(Request.ACKNOWLEDGE), EXPIRED(Request.ACKNOWLEDGE), FAILED(Request.RETRY), DEAD(Request.BURY),
		GIVEN_BACK(Request.RELEASE_UNSTARTED), LEFT(Request.RELEASE_UNSTARTED), CUT_OFF(Request.RELEASE);

		/** What the store is asked to do, unless a recurring task has a next run. */
		private final Request request;

		Kind(Request request) {
			this.request = request;
		}

	}

	/**
	 * What the store is asked to do with a task, in the order of the requests of a batch.
	 */
	private enum Request {

		REPEAT, ACKNOWLEDGE, RETRY, BURY, RELEASE, RELEASE_UNSTARTED

	}

	/**
	 * The end of a task on this node, to be sent to the store.
	 *
	 * @param run the task
	 * @param kind what happened to it
	 * @param retry the next attempt, if the task has failed
	 * @param burial the reason, if the task is dead
	 * @param next the next run, if this run of a recurring task has ended
	 */
	record Settlement(DurableRun run, Kind kind, @Nullable Retry retry, @Nullable Burial burial,
			@Nullable NextRun next) {

		static Settlement of(DurableRun run, Kind kind) {
			return new Settlement(run, kind, null, null, null);
		}

		static Settlement ended(DurableRun run, Kind kind) {
			return new Settlement(run, kind, null, null, run.nextRun(null));
		}

		/**
		 * The end of a task that is not tried again.
		 * @param next the next run of a recurring task
		 */
		static Settlement givenUp(DurableRun run, String reason, @Nullable NextRun next) {
			return new Settlement(run, Kind.DEAD, null, (next == null) ? new Burial(run.ref(), reason) : null, next);
		}

		/**
		 * The same with its text in ASCII.
		 * @return {@code null} if it has no other text
		 */
		@Nullable Settlement inAscii() {
			String text = (this.retry != null) ? this.retry.error()
					: (this.burial != null) ? this.burial.reason() : (this.next != null) ? this.next.error() : null;
			String ascii = (text != null) ? StorableText.ascii(text, DelayedTaskStore.MAX_ERROR_LENGTH) : null;
			if (ascii == null || ascii.equals(text)) {
				return null;
			}
			return new Settlement(this.run, this.kind,
					(this.retry != null) ? new Retry(this.retry.task(), this.retry.attempt(), this.retry.delay(), ascii)
							: null,
					(this.burial != null) ? new Burial(this.burial.task(), ascii) : null, (this.next != null)
							? new NextRun(this.next.task(), this.next.schedule(), this.next.due(), ascii) : null);
		}

		TaskRef ref() {
			return this.run.ref();
		}

		Request request() {
			return (this.next != null) ? Request.REPEAT : this.kind.request;
		}

	}

}
