package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

import io.timingwheel.DirectTask;
import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;

/**
 * Begins tasks when they are due: the store decides whether this node still has them. A
 * task that could not start soon waits in the queue of its window. If it waits there too
 * long, the store gets it back. Thread-safe.
 */
final class Beginner {

	private final NodeParts parts;

	private final Held held;

	private final Runner runner;

	private final Settler settler;

	private final Batcher<Run> batcher;

	Beginner(NodeParts parts, Held held, Runner runner, Settler settler) {
		this.parts = parts;
		this.held = held;
		this.runner = runner;
		this.settler = settler;
		this.batcher = new Batcher<>(parts, "timing-wheel-begins", Caller.BEGIN, this::send, (run) -> run);
	}

	Batcher<Run> batcher() {
		return this.batcher;
	}

	/**
	 * Lets a task wait on the wheel until it is due.
	 */
	void beginWhenDue(Run run) {
		try {
			run.waitsFor(this.parts.wheel().scheduleAt((DirectTask) () -> this.batcher.add(run), run.dueNanos()));
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full or stopped.
			this.held.wheelIsFull();
			this.settler.giveBack(run);
		}
	}

	private void send(List<Run> runs) {
		runs.removeIf((run) -> !run.isWaiting() || mustWait(run));
		List<Run> tried = List.copyOf(runs);
		try {
			if (!runs.isEmpty()) {
				begin(runs);
			}
		}
		finally {
			tried.forEach((run) -> run.window().triedToBegin());
		}
	}

	/**
	 * Lets a task wait in the queue of its window if too many tasks wait for a thread
	 * already.
	 */
	private boolean mustWait(Run run) {
		if (run.window().tryBegin(run)) {
			return false;
		}
		if (!this.parts.runLater(() -> giveBack(run), NameWindow.LATE_NANOS)) {
			giveBack(run);
		}
		return true;
	}

	private void giveBack(Run run) {
		if (run.window().removeQueued(run)) {
			this.settler.giveBack(run);
			this.held.expectRoom();
		}
	}

	private void begin(List<Run> runs) {
		Duration lease = this.parts.settings().lease();
		LeaseKeeper.Term term = new LeaseKeeper.Term(this.parts.nanoTime(), lease.toNanos());
		List<Reply> replies = this.parts.store().begin(runs.stream().map(Run::ref).toList(), lease);
		List<Run> busy = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			Run run = runs.get(i);
			switch (replies.get(i)) {
				case DONE -> this.runner.submit(run, term);
				case BUSY -> busy.add(run);
				case REFUSED, SUPERSEDED -> {
					run.withdraw();
					this.parts.count(Figure.REFUSED_BEGINS, 1);
					this.held.remove(run);
				}
			}
		}
		runs.retainAll(busy);
	}

}
