package io.timingwheel.test;

import java.util.Set;
import java.util.stream.Stream;

import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

/**
 * The node of an application, its store and its durable methods. The types of durable
 * tasks stay in here, since their module is optional.
 */
record VirtualNode(StoredTasks stored, DelayedTaskStore store, DurableTasks tasks, DurableHandlers handlers,
		VirtualLoops loops) {

	/** How many tasks of a name are read at first, since there may be many. */
	private static final int SOME = 100;

	Stream<PendingTask> pending(String name) {
		return this.stored.pending(name, null, Integer.MAX_VALUE)
			.stream()
			.map((task) -> new PendingTask(task.id(), task.name(), task.key(), task.dueAt(), true));
	}

	/** Whether a task that runs once is running, or pending and may start. */
	boolean hasUnfinishedOnce() {
		StoreNode node = this.stored.node();
		return this.stored.counts().all().entrySet().stream().anyMatch((entry) -> {
			String name = entry.getKey();
			boolean starts = node.isClaiming() && this.stored.owns(name) && !node.isPaused(name);
			return entry.getValue().running() > 0 || (entry.getValue().pending() > 0 && starts
					&& (hasPendingOnce(name, SOME) || hasPendingOnce(name, Integer.MAX_VALUE)));
		});
	}

	private boolean hasPendingOnce(String name, int limit) {
		return this.stored.pending(name, null, limit).stream().anyMatch((task) -> task.schedule() == null);
	}

	void deleteAll() {
		// The node has to know of the end of the pauses at once.
		methodNames().forEach((name) -> this.stored.node().setPaused(name, false));
		this.store.testing().deleteAll();
	}

	/** Stores the declared schedules, and claims again if a test has paused the node. */
	void beginAnew() {
		this.stored.node().resume();
		this.tasks.schedules().store();
	}

	Set<String> methodNames() {
		return this.handlers.names();
	}

	/** Finds a durable method, maybe by an earlier name. */
	@Nullable String methodName(String name) {
		DurableHandler handler = this.handlers.find(name);
		return (handler != null) ? handler.name() : null;
	}

}
