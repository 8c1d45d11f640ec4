package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

import io.timingwheel.DirectTask;
import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;

/**
 * Begins tasks when they are due: the store decides whether this node still has them.
 * Thread-safe.
 */
final class Beginner extends Batcher {

	private final Runner runner;

	private final Settler settler;

	/** How long the node trusts the leases of the present request. */
	private LeaseKeeper.Term term = LeaseKeeper.Term.NONE;

	Beginner(NodeParts parts, Held held, Runner runner, Settler settler) {
		super(parts, held, "timing-wheel-begins", Caller.BEGIN);
		this.runner = runner;
		this.settler = settler;
	}

	/**
	 * Lets a task wait on the wheel until it is due. The timer of a task that is
	 * withdrawn meanwhile has no effect.
	 */
	void beginWhenDue(Run run) {
		try {
			this.parts.wheel().scheduleAt((DirectTask) () -> add(run), run.dueNanos);
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full or stopped.
			this.held.wheelIsFull();
			this.settler.giveBack(run);
		}
	}

	/**
	 * A task does not begin while too many tasks of its name wait for a thread. If that
	 * takes too long, other nodes may start it earlier.
	 */
	@Override
	boolean admits(Run run) {
		if (run.admit()) {
			return true;
		}
		if (run.hasWaitedLong(this.parts.nanoTime())) {
			this.settler.giveBack(run);
			run.window.hasRoomOrTells();
		}
		return false;
	}

	@Override
	List<Reply> request(List<Run> batch) {
		Duration lease = this.parts.settings().lease();
		this.term = new LeaseKeeper.Term(this.parts.nanoTime(), lease.toNanos());
		try {
			return this.parts.store().begin(batch.stream().map(Run::ref).toList(), lease);
		}
		catch (Throwable ex) {
			batch.forEach(Run::waitAgain);
			throw ex;
		}
	}

	@Override
	void replied(Run run, Reply reply) {
		if (reply == Reply.DONE) {
			this.runner.submit(run, this.term);
		}
		else if (reply == Reply.BUSY) {
			run.waitAgain();
		}
		else {
			this.parts.count(Figure.REFUSED_BEGINS, 1);
			this.held.drop(run);
		}
	}

}
