package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;

/**
 * Begins tasks that are due: the store decides whether this node still has them.
 */
final class TaskBeginner extends Batcher<DurableRun> {

	private final DelayedTaskStore store;

	private final Duration lease;

	private final InFlight inFlight;

	private final TaskRunner runner;

	TaskBeginner(DelayedTaskStore store, DurableSettings settings, TimingWheel wheel, InFlight inFlight,
			TaskRunner runner, StoreAvailability availability) {
		super("timing-wheel-begins", settings.batchSize(), wheel, availability, Caller.BEGIN);
		this.store = store;
		this.lease = settings.lease();
		this.inFlight = inFlight;
		this.runner = runner;
	}

	@Override
	void send(List<DurableRun> runs) {
		runs.removeIf((run) -> !run.isWaiting());
		if (runs.isEmpty()) {
			return;
		}
		LeaseTerm term = LeaseTerm.of(this.lease);
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
