package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.support.StoreAvailability.Caller;

/**
 * Begins tasks that are due: the store has the last word.
 */
final class TaskBegins {

	private final DurableNode node;

	private final Batcher<DurableRun> batcher;

	TaskBegins(DurableNode node) {
		this.node = node;
		this.batcher = new Batcher<>("timing-wheel-begins", this::begin, node.settings().batchSize(), node.wheel(),
				node.availability(), Caller.BEGIN);
	}

	void start() {
		this.batcher.start();
	}

	void add(DurableRun run) {
		this.batcher.add(run);
	}

	void stop() {
		this.batcher.stop();
	}

	void join(Duration period) throws InterruptedException {
		this.batcher.join(period);
	}

	private void begin(List<DurableRun> runs) {
		runs.removeIf((run) -> !run.isWaiting());
		if (runs.isEmpty()) {
			return;
		}
		LeaseTerm term = LeaseTerm.of(this.node.settings().lease());
		List<Reply> replies = this.node.store()
			.begin(runs.stream().map(DurableRun::ref).toList(), this.node.settings().lease());
		List<DurableRun> busy = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			DurableRun run = runs.get(i);
			switch (replies.get(i)) {
				case DONE -> this.node.begun(run, term);
				case REFUSED, SUPERSEDED -> this.node.refused(run);
				case BUSY -> busy.add(run);
			}
		}
		runs.retainAll(busy);
	}

}
