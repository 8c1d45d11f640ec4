package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.support.Settlement.Kind;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;
import io.timingwheel.spring.task.support.TaskOutcome;
import io.timingwheel.spring.task.support.TaskRecorder;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Tells the store what has become of the tasks of this node.
 */
final class Settlements {

	private static final Log logger = LogFactory.getLog(Settlements.class);

	private static final Set<Kind> ACKNOWLEDGED = EnumSet.of(Kind.COMPLETED, Kind.EXPIRED);

	private static final Set<Kind> RELEASED = EnumSet.of(Kind.RELEASED, Kind.CUT_OFF);

	private final DurableNode node;

	private final Batcher<Settlement> batcher;

	Settlements(DurableNode node) {
		this.node = node;
		this.batcher = new Batcher<>("timing-wheel-settlements", this::settle, 4 * node.settings().batchSize(),
				node.wheel(), node.availability(), Caller.SETTLE);
	}

	void start() {
		this.batcher.start();
	}

	void stop() {
		this.batcher.stop();
	}

	void join(Duration period) throws InterruptedException {
		this.batcher.join(period);
	}

	boolean awaitEmpty(Duration period) throws InterruptedException {
		return this.batcher.awaitEmpty(period);
	}

	void completed(DurableRun run) {
		this.batcher.add(Settlement.of(run, Kind.COMPLETED));
	}

	/**
	 * The task was too late to be started.
	 */
	void expired(DurableRun run) {
		this.batcher.add(Settlement.of(run, Kind.EXPIRED));
	}

	/**
	 * The task is given back.
	 * @param cutOff whether its body had begun
	 */
	void release(DurableRun run, boolean cutOff) {
		this.batcher.add(Settlement.of(run, cutOff ? Kind.CUT_OFF : Kind.RELEASED));
	}

	/**
	 * The task is given up without having run.
	 */
	void bury(DurableRun run, String reason) {
		logger.error("The durable task %s is dead: %s".formatted(run, reason));
		this.batcher.add(new Settlement(run, Kind.DEAD, null, new Burial(run.ref(), limited(reason))));
	}

	/**
	 * The body has thrown: the task is tried again, or given up.
	 */
	void failed(DurableRun run, Throwable error, @Nullable Object @Nullable [] arguments) {
		this.node.recorder(run.handler()).ended(TaskOutcome.FAILED);
		DurableSettings settings = this.node.settings();
		int attempt = run.attempt();
		String text = limited(describe(error));
		if (attempt < settings.maxAttempts()) {
			Duration delay = settings.backoff().after(attempt);
			logger.warn("Attempt %d of %d of the durable task %s failed, the next one comes in %d ms: %s"
				.formatted(attempt, settings.maxAttempts(), run, delay.toMillis(), text));
			logger.debug("Failed attempt", error);
			this.batcher.add(new Settlement(run, Kind.RETRY, new Retry(run.ref(), attempt + 1, delay, text), null));
			return;
		}
		logger.error("The durable task %s is dead after %d attempts".formatted(run, attempt));
		this.batcher.add(new Settlement(run, Kind.DEAD, null, new Burial(run.ref(), text)));
		try {
			run.handler().handleError(error, (arguments != null) ? arguments : new Object[0]);
		}
		catch (Throwable ex) {
			logger.warn("The exception handler for the task " + run + " threw an exception itself", ex);
		}
	}

	private void settle(List<Settlement> batch) {
		say(batch, ACKNOWLEDGED, Settlement::ref, this.node.store()::acknowledge);
		say(batch, EnumSet.of(Kind.RETRY), (settlement) -> Objects.requireNonNull(settlement.retry()),
				this.node.store()::retry);
		say(batch, EnumSet.of(Kind.DEAD), (settlement) -> Objects.requireNonNull(settlement.burial()),
				this.node.store()::bury);
		say(batch, RELEASED, Settlement::ref, this.node.store()::release);
	}

	/**
	 * Says the settlements of some kinds, and takes those that need not be said again out
	 * of the batch.
	 */
	private <W> void say(List<Settlement> batch, Set<Kind> kinds, Function<Settlement, W> word,
			Function<List<W>, List<Reply>> store) {
		List<Settlement> said = batch.stream().filter((settlement) -> kinds.contains(settlement.kind())).toList();
		if (said.isEmpty()) {
			return;
		}
		List<Reply> replies = store.apply(said.stream().map(word).toList());
		Set<Settlement> done = new HashSet<>();
		try {
			for (int i = 0; i < said.size(); i++) {
				if (replies.get(i) != Reply.BUSY) {
					done.add(said.get(i));
					settled(said.get(i), replies.get(i));
				}
			}
		}
		finally {
			batch.removeAll(done);
		}
	}

	private void settled(Settlement settlement, Reply reply) {
		DurableRun run = settlement.run();
		TaskRecorder recorder = this.node.recorder(run.handler());
		boolean told = reply != Reply.REFUSED;
		switch (settlement.kind()) {
			case COMPLETED -> {
				if (told) {
					recorder.ended(TaskOutcome.COMPLETED);
				}
				else {
					recorder.abandoned();
				}
			}
			case CUT_OFF -> recorder.abandoned();
			case EXPIRED -> {
				if (told) {
					recorder.count(TaskOutcome.EXPIRED);
				}
			}
			case RETRY -> {
				if (reply == Reply.DONE) {
					this.node.figures().addRetried();
				}
			}
			case DEAD, RELEASED -> {
				// Counted by the store, or as released.
			}
		}
		if (reply == Reply.SUPERSEDED) {
			recorder.count(TaskOutcome.SUPERSEDED);
		}
		this.node.settled(run, settlement.kind(), reply);
	}

	/**
	 * An exception of a user may fail to describe itself.
	 */
	private static String describe(Throwable error) {
		try {
			return error.toString();
		}
		catch (RuntimeException ex) {
			return error.getClass().getName();
		}
	}

	/**
	 * Fits an error into its column; a database may refuse a NUL.
	 */
	private static String limited(String text) {
		String clean = text.replace('\0', ' ');
		return (clean.length() <= DelayedTaskStore.MAX_ERROR_LENGTH) ? clean
				: clean.substring(0, DelayedTaskStore.MAX_ERROR_LENGTH);
	}

}
