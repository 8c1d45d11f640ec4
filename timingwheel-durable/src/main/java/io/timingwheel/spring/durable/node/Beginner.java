package io.timingwheel.spring.durable.node;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Accepts the tasks that the poller has claimed, and begins them when they are due: the
 * store decides whether this node still has them.
 */
final class Beginner extends Batcher {

	private static final Log logger = LogFactory.getLog(Beginner.class);

	/** The pause between two looks for a place of a window. */
	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final Names names;

	private final Runner runner;

	private final Settler settler;

	/** Of the leases of the latest request. */
	private long trustedUntil;

	Beginner(NodeParts parts, Names names, Runner runner, Settler settler) {
		super(parts, "timing-wheel-begins", Caller.BEGIN);
		this.names = names;
		this.runner = runner;
		this.settler = settler;
	}

	/** The node's clock is {@code ahead} of the store's by so many nanoseconds. */
	void accept(LeasedTask task, long trustedUntil, long ahead) {
		DurableHandler handler = this.parts.handlers.find(task.name());
		if (handler == null) {
			// The lease brings the task back.
			return;
		}
		Run run = new Run(task, handler, this.names.window(task.name()), this.parts::nanoTime,
				ahead + TimeUnit.MILLISECONDS.toNanos(task.dueAt()));
		// A task of a limited name is leased before it begins only if it has expired.
		run.expired = !task.begun() && !task.suspect() && handler.method().expireAfter() != null
				&& this.parts.policies.limits(task.name()) != null;
		this.parts.held.add(run);
		try {
			accept(run, trustedUntil);
		}
		catch (Throwable ex) {
			giveBackAfter(ex, run);
		}
	}

	/** Without memory, this can fail too, and must not harm the tasks that come next. */
	private void giveBackAfter(Throwable error, Run run) {
		try {
			this.settler.giveBack(run);
			UserErrors.log(logger::error, "The durable task %s could not be accepted, and is given back".formatted(run),
					error);
		}
		catch (Throwable ex) {
			this.parts.held.forget(run, ex);
		}
	}

	private void accept(Run run, long trustedUntil) {
		LeasedTask task = run.task;
		if (!this.parts.held.open || this.parts.policies.isPaused(task.name())) {
			// The node or the name was paused during the claim.
			this.settler.giveBack(run);
		}
		else if (task.lost() > this.parts.settings.maxLostDeliveries() && !run.hasUnknownSchedule()) {
			// The first loss does not count: others may have ended the node.
			run.withdraw();
			this.settler.giveUp(run,
					"Nodes ended %d times while they were running the task (timingwheel.store.max-lost-deliveries)"
						.formatted(task.lost()));
		}
		else if (task.begun()) {
			run.window.enter(true);
			this.runner.submit(run, trustedUntil);
		}
		// The timer of a task that is withdrawn meanwhile has no effect.
		else if (!this.parts.runLater(() -> add(run), run.dueNanos - this.parts.nanoTime())) {
			// The wheel is full or stopped.
			this.parts.held.block();
			this.settler.giveBack(run);
		}
	}

	/**
	 * A task does not begin while too many tasks of its name wait for a thread. A task
	 * that is late is given back: other nodes may start it earlier. What expires needs no
	 * thread, and a node has one suspect only.
	 */
	@Override
	boolean admits(Run run) {
		if (!run.isWaiting()) {
			return false;
		}
		if (run.window.enter(run.expired || run.task.suspect())) {
			return true;
		}
		if (this.parts.nanoTime() - run.dueNanos > Names.Window.LATE_NANOS) {
			this.settler.giveBack(run);
		}
		else {
			addLater(run, RETRY_NANOS);
		}
		return false;
	}

	@Override
	List<Reply> request(List<Run> batch) {
		this.trustedUntil = this.parts.nanoTime() + this.parts.settings.trustedNanos();
		return this.parts.store.begin(batch.stream().map((run) -> run.task.ref()).toList(),
				this.parts.settings.lease());
	}

	@Override
	void replied(Run run, Reply reply) {
		if (reply == Reply.DONE) {
			this.runner.submit(run, this.trustedUntil);
			return;
		}
		run.window.leave();
		if (reply != Reply.BUSY) {
			this.parts.refused.increment();
			this.parts.held.drop(run);
		}
	}

}
