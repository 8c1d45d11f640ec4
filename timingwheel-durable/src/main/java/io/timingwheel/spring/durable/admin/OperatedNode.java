package io.timingwheel.spring.durable.admin;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.StoredTask;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;

/**
 * This node and the dead tasks, as operators and applications know them. Thread-safe.
 *
 * @param store the store
 * @param node the node
 * @param nodeId its id
 * @param pages reads dead tasks
 * @param dead requeues and deletes dead tasks
 * @since 0.1
 */
public record OperatedNode(DelayedTaskStore store, DurableNode node, String nodeId, TaskPages pages,
		DeadTasks dead) implements StoreNode, DurableTaskAdmin {

	@Override
	public String storeName() {
		return AopUtils.getTargetClass(this.store).getSimpleName();
	}

	@Override
	public void pause() {
		this.node.pause();
	}

	@Override
	public void resume() {
		this.node.resume();
	}

	@Override
	public boolean isClaiming() {
		return this.node.isClaiming();
	}

	@Override
	public void setPaused(String name, boolean paused) {
		this.node.setPaused(name, paused);
	}

	@Override
	public boolean isPaused(String name) {
		return this.node.isPaused(name);
	}

	@Override
	public boolean isPausedByPolicy(String name) {
		return this.node.isPausedByPolicy(name);
	}

	@Override
	public List<StoredTask> findDead(String name, int limit) {
		return this.pages.first(name, Order.DEAD_LATEST_FIRST, null, limit);
	}

	@Override
	public Requeue requeueDead(String id) {
		return this.dead.requeue(id);
	}

	@Override
	public boolean deleteDead(String id) {
		return this.dead.delete(id);
	}

	@Override
	public int inFlight() {
		return this.node.inFlight();
	}

	@Override
	public Figures figures() {
		return new Figures(this.node.figure(Figure.CLAIMS), this.node.figure(Figure.CLAIMED),
				this.node.figure(Figure.RETRIED), this.node.figure(Figure.RELEASED),
				this.node.figure(Figure.REFUSED_BEGINS), this.node.figure(Figure.LOST_LEASES),
				this.node.figure(Figure.EXPIRED_DEAD), this.store.droppedDead());
	}

	@Override
	public @Nullable Outage outage() {
		DurableNode.Outage outage = this.node.outage();
		return (outage != null) ? new Outage(outage.error(), outage.since(), outage.missingParts()) : null;
	}

	@Override
	public List<Reported> nodes() {
		if (this.node.outage() != null) {
			return List.of();
		}
		return this.store.nodes()
			.stream()
			.map((node) -> new Reported(node.state().nodeId(), node.state().nodeId().equals(this.nodeId),
					node.state().activity() == Activity.CLAIMING, node.state().inFlight(), node.age()))
			.toList();
	}

	@Override
	public Duration reportInterval() {
		return this.node.reportInterval();
	}

}
