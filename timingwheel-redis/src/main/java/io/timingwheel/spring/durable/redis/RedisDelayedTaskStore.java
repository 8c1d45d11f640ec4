package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTasks;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Forecast;
import io.timingwheel.spring.durable.ForecastQuery;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.NodeState;
import io.timingwheel.spring.durable.PartialOutage;
import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.ReportedNode;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Keeps durable tasks in Redis 6.2 or newer: standalone, behind Sentinel, or a Cluster.
 * The package description shows the keys and the transitions. The store takes part in no
 * transaction. Thread-safe.
 *
 * <p>
 * On a Cluster an unreachable server affects only its own partitions: a claim gives the
 * tasks of the other partitions, the reply for a task of such a partition is
 * {@link Reply#BUSY}, and {@link #partialOutage()} names the server.
 *
 * <p>
 * The clocks of the primaries of a Cluster must agree as well as a time service keeps
 * them. A task may be late by the difference of two clocks. A task may also be early by
 * this difference, but never by more than one millisecond plus the duration of the
 * request that stored, moved or claimed the task.
 *
 * <p>
 * If Redis cannot be reached or fails, the methods usually throw a
 * {@link org.springframework.dao.DataAccessException}.
 *
 * @since 0.1
 */
public final class RedisDelayedTaskStore implements DelayedTaskStore, AutoCloseable {

	private final RedisStoreOptions options;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final ScriptRunner scripts;

	private final PartitionOutages outages;

	private final ReplicatedWrites writes;

	private final Enqueueing enqueueing;

	private final TaskClaims claims;

	private final RedisLimitedClaims limitedClaims;

	private final LeasedEntries leased;

	private final PendingEntries pending;

	private final DeadEntries dead;

	private final TaskCounts counts;

	private final DueForecasts forecasts;

	private final PausedNames pausedNames;

	private final ReportedNodes nodes;

	/**
	 * Creates a store and opens its own connection.
	 * @param connectionFactory the initialized factory of the application, which gives
	 * the address of Redis; the store does not close the factory
	 * @param options how to use Redis
	 */
	public RedisDelayedTaskStore(LettuceConnectionFactory connectionFactory, RedisStoreOptions options) {
		this(connectionFactory, options, StoreConnection.MAX_TIMEOUT);
	}

	/**
	 * Creates a store whose calls may wait for longer, for tests on a machine that may
	 * stall.
	 */
	RedisDelayedTaskStore(LettuceConnectionFactory connectionFactory, RedisStoreOptions options, Duration maxTimeout) {
		this.options = options;
		this.connection = new StoreConnection(connectionFactory, maxTimeout);
		this.partitions = new Partitions(options.namespace(), options.partitions());
		this.scripts = new ScriptRunner(this.connection, this.partitions);
		this.outages = new PartitionOutages(this.scripts, this.connection, this.partitions);
		this.writes = new ReplicatedWrites(this.scripts, this.connection, this.partitions, options);
		boolean severalClocks = this.connection.isCluster();
		Places places = new Places(this.partitions, this.outages);
		this.dead = new DeadEntries(this.partitions, this.scripts, this.outages, options.maxDead());
		this.leased = new LeasedEntries(this.partitions, this.outages, places, this.dead);
		this.enqueueing = new Enqueueing(this.partitions, this.writes, severalClocks, this.leased::giveBack);
		this.pending = new PendingEntries(this.partitions, this.scripts, this.writes, this.leased::giveBack);
		this.claims = new TaskClaims(this.outages, options.partitions(), severalClocks);
		this.limitedClaims = new RedisLimitedClaims(this.outages, options.partitions(), this.claims, places);
		this.counts = new TaskCounts(this.partitions, this.scripts);
		this.forecasts = new DueForecasts(this.partitions, this.scripts);
		this.pausedNames = new PausedNames(this.connection, this.outages, options.namespace());
		this.nodes = new ReportedNodes(this.connection, this.outages, options.namespace(), this::now);
	}

	/**
	 * Stores tasks in calls of up to 500 tasks of one partition. Each call stores all its
	 * tasks or none. If a call fails, the calls on other partitions have stored their
	 * tasks.
	 */
	@Override
	public List<Enqueued> enqueueAll(List<NewTask> tasks) {
		return this.enqueueing.enqueue(tasks);
	}

	@Override
	public Object sharedRequest(NewTask task) {
		return this.enqueueing.sharedRequest(task);
	}

	@Override
	public List<Enqueued> enqueueShared(List<NewTask> tasks) {
		return this.enqueueing.enqueueShared(tasks);
	}

	@Override
	public Enqueued recur(NewSchedule schedule) {
		return this.enqueueing.recur(schedule);
	}

	@Override
	public boolean restore(NewSchedule schedule) {
		return this.enqueueing.restore(schedule);
	}

	@Override
	public Claimed claim(ClaimRequest request) {
		return request.startLimits().isEmpty() ? this.claims.claim(request) : this.limitedClaims.claim(request);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return this.leased.begin(tasks, lease);
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return this.leased.renew(tasks, lease);
	}

	@Override
	public List<Reply> acknowledge(List<TaskRef> tasks) {
		return this.leased.acknowledge(tasks);
	}

	@Override
	public List<Reply> repeat(List<NextRun> runs) {
		return this.leased.repeat(runs);
	}

	@Override
	public List<Reply> retry(List<Retry> retries) {
		return this.leased.retry(retries);
	}

	@Override
	public List<Reply> release(List<TaskRef> tasks) {
		return this.leased.release(tasks, true);
	}

	@Override
	public List<Reply> releaseUnstarted(List<TaskRef> tasks) {
		return this.leased.release(tasks, false);
	}

	@Override
	public List<Reply> bury(List<Burial> burials) {
		return this.leased.bury(burials);
	}

	@Override
	public boolean cancel(TaskId taskId, Kind kind) {
		return this.pending.cancel(taskId, kind);
	}

	@Override
	public boolean cancel(String id) {
		return this.pending.cancel(id);
	}

	@Override
	public @Nullable Rescheduled reschedule(TaskId taskId, Kind kind, DueTime due, @Nullable LeaseOffer lease) {
		return this.pending.reschedule(taskId, kind, due, lease);
	}

	@Override
	public @Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease) {
		return this.pending.reschedule(id, due, lease);
	}

	@Override
	public List<Requeue> requeueAll(List<String> ids) {
		return this.dead.requeue(ids);
	}

	@Override
	public int discardAll(List<String> ids) {
		return this.dead.discard(ids);
	}

	@Override
	public int discardOlder(Duration age, int limit) {
		return this.dead.discardOlder(age, limit);
	}

	@Override
	public long droppedDead() {
		return this.dead.dropped();
	}

	@Override
	public Optional<StoredTask> find(TaskId taskId, Kind kind) {
		return this.pending.find(taskId, kind);
	}

	@Override
	public Optional<StoredTask> find(String id) {
		return this.pending.find(id);
	}

	@Override
	public List<StoredTask> pending(PendingQuery query) {
		return this.pending.read(query);
	}

	@Override
	public List<StoredTask> dead(String name, int limit) {
		return this.dead.latest(name, limit);
	}

	@Override
	public DeadTasks dead(DeadQuery query) {
		return this.dead.read(query);
	}

	@Override
	public Map<String, StoredCounts> counts() {
		return this.counts.read();
	}

	@Override
	public Map<String, StoredCounts> counts(Collection<String> names) {
		return names.isEmpty() ? Map.of() : this.counts.read(Set.copyOf(names).toArray());
	}

	@Override
	public Forecast forecast(ForecastQuery query) {
		return this.forecasts.read(query);
	}

	@Override
	public void setPaused(String name, boolean paused) {
		this.pausedNames.set(name, paused);
	}

	@Override
	public Set<String> pausedNames() {
		return this.pausedNames.read();
	}

	@Override
	public void report(NodeState state) {
		this.nodes.report(state);
	}

	@Override
	public void forget(String nodeId) {
		this.nodes.forget(nodeId);
	}

	@Override
	public List<ReportedNode> nodes() {
		return this.nodes.read();
	}

	@Override
	public void check() {
		Requirements requirements = new Requirements(this.connection, this.scripts, this.partitions, this.options);
		requirements.check();
		this.pausedNames.restoreIfLost(requirements);
	}

	@Override
	public @Nullable PartialOutage partialOutage() {
		return this.outages.partial();
	}

	@Override
	public boolean isRefusal(Throwable error) {
		return RedisErrors.isRefusal(error);
	}

	@Override
	public boolean joinsTransaction() {
		return false;
	}

	@Override
	public long now() {
		return this.scripts.run(Script.NOW.on(0)).number(0);
	}

	@Override
	public void setClockOffset(Duration offset) {
		this.scripts.setClockOffset(offset);
	}

	@Override
	public void setClock(@Nullable LongSupplier millis) {
		this.scripts.setClock(millis);
	}

	@Override
	public void deleteAll() {
		this.pausedNames.deleteAll();
		this.scripts
			.run(Script.DELETE_ALL.onEach(this.partitions.count())
				.stream()
				.map((call) -> call.withKeys(this.partitions.limitKeys(call.partition(), "")))
				.toList())
			.forEach(ScriptReply::check);
	}

	/**
	 * Closes the connections of the store, not those of the application.
	 */
	@Override
	public void close() {
		this.writes.close();
		this.connection.close();
	}

}
