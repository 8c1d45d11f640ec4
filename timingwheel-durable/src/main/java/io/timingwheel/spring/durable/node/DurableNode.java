package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.node.StoreAvailability.Caller;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.ListQuery.Page;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * This application as one of the nodes that run the tasks of a store. Starts, pauses and
 * stops the steps that a task goes through. Thread-safe.
 */
public final class DurableNode implements StoreNode, DurableTaskAdmin {

	private static final Log logger = LogFactory.getLog(DurableNode.class);

	private static final Comparator<StoredTask> BY_TIME = Comparator
		.comparingLong((StoredTask task) -> task.position().time())
		.thenComparing(StoredTask::id);

	/** What a store gives at most, and so a call. */
	private static final int MAX_LIMIT = 5000;

	/** How long interrupted bodies and the last settlements may take. */
	private static final Duration GRACE = Duration.ofSeconds(5);

	private final NodeParts parts;

	private final Settler settler;

	private final Poller poller;

	private final Housekeeping housekeeping;

	private volatile boolean stopped;

	private boolean started;

	public DurableNode(DelayedTaskStore store, Settings settings, DurableHandlers handlers, TimingWheel wheel,
			Services services, NodeLoop.Factory loops) {
		this.parts = new NodeParts(store, settings, handlers, wheel, services, loops);
		this.settler = new Settler(this.parts);
		// Its loops keep it.
		new LeaseKeeper(this.parts);
		Names names = new Names(this.parts);
		Beginner beginner = new Beginner(this.parts, names, new Runner(this.parts, this.settler), this.settler);
		this.poller = new Poller(this.parts, names, beginner, this.settler);
		this.housekeeping = new Housekeeping(this.parts);
	}

	/** Begins to claim tasks. A second call does nothing. */
	public synchronized void start() {
		if (!this.started && !this.stopped) {
			this.started = true;
			this.parts.loops.forEach(NodeLoop::start);
		}
	}

	/**
	 * Tells the node of a stored or moved task that it would find too late by polling.
	 * @param millis until it is due
	 */
	public void expect(String name, long millis) {
		if (this.parts.handlers.find(name) != null && isClaiming() && !this.parts.policies.isPaused(name)) {
			this.poller.expect(millis);
		}
	}

	@Override
	public boolean isClaiming() {
		return this.parts.held.open;
	}

	@Override
	public void pause() {
		this.parts.held.open = false;
		this.parts.availability.idle(Caller.CLAIM);
		giveBack((name) -> true);
	}

	private void giveBack(Predicate<String> names) {
		this.settler.giveBack(names);
		this.parts.factory.flush();
	}

	@Override
	public void resume() {
		this.parts.held.open = !this.stopped;
		this.parts.wake();
	}

	@Override
	public void setPaused(String name, boolean paused) {
		TaskLimits.checkName(name);
		List<String> names = this.parts.handlers.allNames(name);
		names.forEach((each) -> this.parts.store.setPaused(each, paused));
		this.parts.policies.set(names, paused);
		if (paused) {
			giveBack(names::contains);
		}
		this.parts.wake();
	}

	@Override
	public boolean isPaused(String name) {
		return this.parts.policies.isPaused(this.parts.handlers.canonicalName(name));
	}

	@Override
	public boolean isPausedByPolicy(String name) {
		return this.parts.policies.isPausedByPolicy(name);
	}

	/** Whether tasks that are due may have to wait, as far as this node knows. */
	public boolean mayHoldBack(String name) {
		return this.parts.policies.mayHoldBack(name);
	}

	@Override
	public int inFlight() {
		return this.parts.held.runs.size();
	}

	@Override
	public String storeName() {
		return AopUtils.getTargetClass(this.parts.store).getSimpleName();
	}

	@Override
	public @Nullable Outage outage() {
		return this.parts.availability.outage();
	}

	@Override
	public Duration reportInterval() {
		return this.housekeeping.reportInterval();
	}

	@Override
	public Figures figures() {
		NodeParts parts = this.parts;
		return new Figures(parts.claims.sum(), parts.claimed.sum(), parts.retried.sum(), parts.released.sum(),
				parts.refused.sum(), parts.lostLeases.sum(), parts.expiredDead.sum(), parts.store.droppedDead());
	}

	@Override
	public List<Reported> nodes() {
		String thisNode = this.parts.settings.nodeId();
		List<NodeState.Reported> reported = (outage() != null) ? List.of() : this.parts.store.nodes();
		return reported.stream()
			.map((node) -> new Reported(node.state().nodeId(), node.state().nodeId().equals(thisNode),
					node.state().activity() == Activity.CLAIMING, node.state().inFlight(), node.age()))
			.toList();
	}

	/** Reads a page of the tasks under all names of a method. */
	public Page list(ListQuery query) {
		int limit = Math.min(query.limit(), MAX_LIMIT);
		List<Page> pages = this.parts.handlers.allNames(query.name())
			.stream()
			.map((name) -> this.parts.store.list(new ListQuery(name, query.order(), query.after(), limit)))
			.toList();
		if (pages.size() == 1) {
			return pages.get(0);
		}
		List<StoredTask> tasks = pages.stream()
			.flatMap((page) -> page.tasks().stream())
			.sorted((query.order() == Order.PENDING) ? BY_TIME : BY_TIME.reversed())
			.toList();
		return new Page(tasks.subList(0, Math.min(limit, tasks.size())),
				tasks.size() > limit || pages.stream().anyMatch(Page::more));
	}

	@Override
	public List<StoredTask> findDead(String name, int limit) {
		return list(new ListQuery(name, Order.DEAD_LATEST_FIRST, null, limit)).tasks();
	}

	@Override
	public Requeue requeueDead(String id) {
		return requeueDead(List.of(id)).get(0);
	}

	public List<Requeue> requeueDead(List<String> ids) {
		List<Requeue> results = this.parts.store.requeue(ids);
		if (results.contains(Requeue.REQUEUED)) {
			this.parts.wake();
		}
		return results;
	}

	@Override
	public boolean deleteDead(String id) {
		return this.parts.store.discard(List.of(id)) > 0;
	}

	/** Ends the claims of this node for good. */
	public void stopClaiming() {
		this.stopped = true;
		this.parts.held.open = false;
	}

	/**
	 * Ends the claims, gives back what has not started, and waits for the bodies that
	 * run. Interrupts those that take longer than the period, and gives their tasks back.
	 * @throws InterruptedException if the thread is interrupted; other nodes run the
	 * tasks that are not settled when their leases have ended
	 */
	public synchronized void shutdown(Duration period) throws InterruptedException {
		stopClaiming();
		if (!this.started) {
			return;
		}
		this.started = false;
		Set<Run> held = this.parts.held.runs;
		try {
			this.poller.loop.stop(GRACE);
			giveBack((name) -> true);
			if (!RunningBodies.await(() -> held.stream().noneMatch(Run::delaysShutdown), period)) {
				long cut = held.stream().filter(Run::cutOff).count();
				logger.warn("Interrupted %d durable tasks that were still running after %s".formatted(cut,
						DurationFormatterUtils.print(period, DurationFormat.Style.COMPOSITE)));
				RunningBodies.await(() -> held.stream().noneMatch(Run::delaysShutdown), GRACE);
			}
			// A body that has just ended may not have reached the settler yet.
			if (!RunningBodies.await(() -> held.stream().allMatch(Run::isRunning), GRACE)) {
				logger.warn(("%d durable tasks could not be settled in the store: other nodes run them once their"
						+ " leases have ended")
					.formatted(held.stream().filter((run) -> !run.isRunning()).count()));
			}
		}
		finally {
			for (NodeLoop loop : this.parts.loops) {
				loop.stop(GRACE);
			}
		}
		if (outage() == null) {
			this.housekeeping.heartbeat(Activity.ENDED);
		}
	}

	/**
	 * What a node needs of the application.
	 *
	 * @param handOvers keeps executors from blocking
	 * @param schedules looks after the declared schedules from time to time; {@code
	 * false} if some are not stored yet, so that it is called again soon
	 */
	public record Services(Function<String, TaskRecorder> recorders, TaskPolicies policies, RunningBodies bodies,
			HandOverExecutors handOvers, TaskExecution.@Nullable Interceptor interceptor, BooleanSupplier schedules) {

	}

	/**
	 * The settings of a node, already checked.
	 *
	 * @param batchSize how many tasks of a name that are due later a claim takes at most
	 * @param maxInFlight how many tasks the node holds at most, waiting and running
	 * @param deadRetention {@code null} for ever
	 */
	public record Settings(String nodeId, Duration lease, Duration lookAhead, Duration pollInterval, int batchSize,
			int maxInFlight, int maxAttempts, int maxLostDeliveries, BackoffSettings backoff, long maxPayloadBytes,
			@Nullable Duration deadRetention) {

		/** Larger requests would lock their tasks for too long. */
		private static final int MAX_BATCHES = 8;

		/**
		 * How long this node trusts a lease, by its own monotonic clock: from before the
		 * request until a tenth of the lease before its end.
		 */
		long trustedNanos() {
			return this.lease.toNanos() / 10 * 9;
		}

		/** Leaves half of the node's room for the next request. */
		int maxRequest() {
			if (this.batchSize == 1) {
				return 1;
			}
			return Math.max(1, Math.min(MAX_BATCHES * this.batchSize, this.maxInFlight / 2));
		}

	}

}
