package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.durable.admin.TaskCounts;
import io.timingwheel.spring.durable.admin.TaskPages;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;

/**
 * The node of an application, its store and its durable methods.
 */
final class VirtualNode implements DurableParts {

	private final VirtualLoops loops;

	private final StoreFaults faults;

	private final DurableNode node;

	private final DelayedTaskStore store;

	private final DurableTasks tasks;

	private final DurableHandlers handlers;

	private final TaskCounts counts;

	private final TaskPages pages;

	private VirtualNode(DurableNode node, BeanFactory beans) {
		this.loops = beans.getBean(VirtualLoops.class);
		this.faults = beans.getBean(StoreFaults.class);
		this.node = node;
		this.store = beans.getBean(DelayedTaskStore.class);
		this.tasks = beans.getBean(DurableTasks.class);
		this.handlers = beans.getBean(DurableHandlers.class);
		this.counts = beans.getBean(TaskCounts.class);
		this.pages = beans.getBean(TaskPages.class);
	}

	/**
	 * Finds the node of an application.
	 * @return the node, {@code null} without a store
	 */
	static @Nullable DurableParts find(BeanFactory beans) {
		DurableNode node = beans.getBeanProvider(DurableNode.class).getIfAvailable();
		return (node != null) ? new VirtualNode(node, beans) : null;
	}

	@Override
	public void rouse() {
		this.loops.rouse();
	}

	@Override
	public @Nullable Duration nextTurn() {
		return this.loops.wheel().snapshot().nextExpiry();
	}

	@Override
	public boolean hasUnfinishedOnce() {
		return this.counts.hasUnfinishedOnce();
	}

	@Override
	public @Nullable Throwable storeError() {
		return this.node.storeError().orElse(null);
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
		this.node.setPaused(this.handlers.names(), false);
		this.store.testing().deleteAll();
		this.faults.reset();
	}

	@Override
	public void beginAnew(boolean claiming) {
		if (claiming) {
			this.node.resume();
		}
		this.tasks.storeSchedules();
	}

	@Override
	public Set<String> storedNames() {
		return this.counts.all().keySet();
	}

	@Override
	public List<PendingTask> pending(String name) {
		return this.pages.first(name, Order.PENDING, null, Integer.MAX_VALUE)
			.stream()
			.map((task) -> new PendingTask(task.id(), task.name(), task.key(), Instant.ofEpochMilli(task.dueAt()),
					true))
			.toList();
	}

	@Override
	public Set<String> methodNames() {
		return this.handlers.names();
	}

	@Override
	public @Nullable String methodName(String nameOrAlias) {
		DurableHandler handler = this.handlers.find(nameOrAlias);
		return (handler != null) ? handler.name() : null;
	}

}
