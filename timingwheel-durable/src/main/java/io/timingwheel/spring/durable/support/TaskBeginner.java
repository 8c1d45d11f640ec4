package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.DirectTask;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;

/**
 * Begins tasks that are due: the store decides whether this node still has them. A task
 * that could not start soon waits in the queue of its lane. If the task waits there too
 * long, the store gets it back.
 */
final class TaskBeginner extends Batcher<DurableRun> {

	private final DelayedTaskStore store;

	private final NodeTurns turns;

	private final Duration lease;

	private final InFlight inFlight;

	private final TaskRunner runner;

	private final TaskSettler settler;

	private final TimingWheel wheel;

	TaskBeginner(NodeTurns turns, DelayedTaskStore store, DurableSettings settings, TimingWheel wheel,
			InFlight inFlight, TaskRunner runner, TaskSettler settler, StoreAvailability availability) {
		super(turns, "timing-wheel-begins", ClaimSize.max(settings), wheel, availability, Caller.BEGIN);
		this.turns = turns;
		this.store = store;
		this.lease = settings.lease();
		this.inFlight = inFlight;
		this.runner = runner;
		this.settler = settler;
		this.wheel = wheel;
	}

	@Override
	void send(List<DurableRun> runs) {
		runs.removeIf((run) -> !run.isWaiting() || mustWait(run));
		if (runs.isEmpty()) {
			return;
		}
		List<DurableRun> tried = List.copyOf(runs);
		try {
			begin(runs);
		}
		finally {
			tried.forEach((run) -> run.lane().triedToBegin());
		}
	}

	/**
	 * Lets a task wait in its lane if too many tasks of its name wait for a thread
	 * already.
	 */
	private boolean mustWait(DurableRun run) {
		if (run.lane().tryBegin(run)) {
			return false;
		}
		try {
			this.wheel.schedule((DirectTask) () -> giveBack(run), Lane.MAX_WAIT_NANOS, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full.
			giveBack(run);
		}
		return true;
	}

	private void giveBack(DurableRun run) {
		if (run.lane().removeQueued(run)) {
			this.settler.giveBack(run);
		}
	}

	private void begin(List<DurableRun> runs) {
		LeaseTerm term = LeaseTerm.of(this.turns, this.lease);
		List<Reply> replies = this.store.begin(runs.stream().map(DurableRun::ref).toList(), this.lease);
		List<DurableRun> busy = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			DurableRun run = runs.get(i);
			switch (replies.get(i)) {
				case DONE -> this.runner.submit(run, term);
				case REFUSED, SUPERSEDED -> this.inFlight.removeRefused(run);
				case BUSY -> busy.add(run);
			}
		}
		runs.retainAll(busy);
	}

}
