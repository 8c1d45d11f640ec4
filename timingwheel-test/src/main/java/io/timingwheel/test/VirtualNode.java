package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.durable.admin.OperatedTasks;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;

/**
 * The node of an application, its store and its durable methods.
 */
record VirtualNode(VirtualLoops loops, StoreFaults faults, DurableNode node, DelayedTaskStore store,
		OperatedTasks tasks) implements DurableParts {

	private static final int SOME = 100;

	/**
	 * Finds the node of an application.
	 */
	static @Nullable DurableParts find(BeanFactory beans) {
		DurableNode node = beans.getBeanProvider(DurableNode.class).getIfAvailable();
		return (node == null) ? null
				: new VirtualNode(beans.getBean(VirtualLoops.class), beans.getBean(StoreFaults.class), node,
						beans.getBean(DelayedTaskStore.class), beans.getBean(OperatedTasks.class));
	}

	@Override
	public void rouse() {
		this.loops.rouse();
	}

	@Override
	public @Nullable Duration nextTurn() {
		return this.loops.nextRound();
	}

	/**
	 * Reads only the first tasks of a name at first, since there may be many.
	 */
	@Override
	public boolean hasUnfinishedOnce() {
		return this.store.counts(List.of()).entrySet().stream().anyMatch((entry) -> {
			String name = entry.getKey();
			boolean starts = this.node.isClaiming() && methodName(name) != null && !this.node.isPaused(name);
			return entry.getValue().running() > 0 || (entry.getValue().pending() > 0 && starts
					&& (hasPendingOnce(name, SOME) || hasPendingOnce(name, Integer.MAX_VALUE)));
		});
	}

	private boolean hasPendingOnce(String name, int limit) {
		return this.node.pages()
			.first(name, Order.PENDING, null, limit)
			.stream()
			.anyMatch((task) -> task.schedule() == null);
	}

	@Override
	public @Nullable Throwable storeError() {
		StoreNode.Outage outage = this.node.outage();
		return (outage != null) ? outage.error() : null;
	}

	@Override
	public boolean isClaiming() {
		return this.node.isClaiming();
	}

	/**
	 * The node has to know of the end of the pauses at once.
	 */
	@Override
	public void deleteAll() {
		this.tasks.handlers().names().forEach((name) -> this.node.setPaused(name, false));
		this.store.testing().deleteAll();
		this.faults.reset();
	}

	@Override
	public void beginAnew(boolean claiming) {
		if (claiming) {
			this.node.resume();
		}
		this.tasks.tasks().storeSchedules();
	}

	@Override
	public Set<String> storedNames() {
		return this.tasks.counts().all().keySet();
	}

	@Override
	public List<PendingTask> pending(String name) {
		return this.node.pages()
			.first(name, Order.PENDING, null, Integer.MAX_VALUE)
			.stream()
			.map((task) -> new PendingTask(task.id(), task.name(), task.key(), Instant.ofEpochMilli(task.dueAt()),
					true))
			.toList();
	}

	@Override
	public Set<String> methodNames() {
		return this.tasks.handlers().names();
	}

	@Override
	public @Nullable String methodName(String nameOrAlias) {
		DurableHandler handler = this.tasks.handlers().find(nameOrAlias);
		return (handler != null) ? handler.name() : null;
	}

}
