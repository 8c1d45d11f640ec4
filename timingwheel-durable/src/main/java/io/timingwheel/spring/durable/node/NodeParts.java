package io.timingwheel.spring.durable.node;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;

import io.timingwheel.DirectTask;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.node.DurableNode.Services;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.internal.TaskRecorder;

/** What all steps of a node have in common. Thread-safe. */
record NodeParts(DelayedTaskStore store, NodeSettings settings, TimingWheel wheel, NodeLoop.Factory loops,
		Services services, StoreAvailability availability, Map<Figure, LongAdder> figures) {

	static NodeParts of(DelayedTaskStore store, NodeSettings settings, TimingWheel wheel, NodeLoop.Factory loops,
			Services services) {
		Map<Figure, LongAdder> figures = new EnumMap<>(Figure.class);
		for (Figure figure : Figure.values()) {
			figures.put(figure, new LongAdder());
		}
		return new NodeParts(store, loops.settings(settings), wheel, loops, services,
				new StoreAvailability(store::partialOutage, store::isRefusal), figures);
	}

	void count(Figure figure, long number) {
		Objects.requireNonNull(this.figures.get(figure)).add(number);
	}

	TaskRecorder recorder(Run run) {
		return this.services.recorders().apply(run.name());
	}

	long nanoTime() {
		return this.wheel.nanoTime();
	}

	/** As {@link #runAt}, some time from now. */
	boolean runLater(DirectTask action, long nanos) {
		return runAt(action, nanoTime() + nanos);
	}

	/** Runs an action on the wheel; {@code false} if the wheel is full or stopped. */
	boolean runAt(DirectTask action, long time) {
		try {
			this.wheel.scheduleAt(action, time);
			return true;
		}
		catch (RejectedExecutionException ex) {
			return false;
		}
	}

}
