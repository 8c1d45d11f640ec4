package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

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
import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
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

	private final ClaimRounds claims;

	private final PendingEntries pending;

	private final DeadEntries dead;

	private final PausedNames pausedNames;

	private final ReportedNodes nodes;

	private final Places places;

	private final RedisLimitedClaims limitedClaims;

	private final DueForecasts forecasts;

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
		this.enqueueing = new Enqueueing(this.partitions, this.writes, severalClocks, this::giveBack);
		this.claims = new ClaimRounds(this.outages, options.partitions(), severalClocks);
		this.places = new Places(this.partitions, this.outages);
		this.limitedClaims = new RedisLimitedClaims(this.outages, options.partitions(), this.claims, this.places);
		this.pausedNames = new PausedNames(this.connection, this.outages, options.namespace());
		this.nodes = new ReportedNodes(this.connection, this.outages, options.namespace(), this::now);
		this.pending = new PendingEntries(this.partitions, this.scripts);
		this.forecasts = new DueForecasts(this.partitions, this.scripts);
		this.dead = new DeadEntries(this.partitions, this.scripts, this.outages, options.maxDead());
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
	public Claimed claim(ClaimRequest request) {
		return request.startLimits().isEmpty() ? this.claims.claim(request) : this.limitedClaims.claim(request);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return lease(tasks, Script.BEGIN, lease);
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return lease(tasks, Script.RENEW, lease);
	}

	@Override
	public List<Reply> acknowledge(List<TaskRef> tasks) {
		return ended(tasks, settle(tasks, batch(Script.ACKNOWLEDGE)));
	}

	@Override
	public List<Reply> repeat(List<NextRun> runs) {
		TaskBatch batch = batch(Script.REPEAT);
		for (NextRun run : runs) {
			DueTime due = run.due();
			batch.add(run.task(), run.schedule(), (due != null) ? due.millis() : 0, (due != null) ? due.absolute() : "",
					(run.error() != null) ? run.error() : "");
		}
		return ended(runs.stream().map(NextRun::task).toList(), batch.settle(this.outages));
	}

	@Override
	public List<Reply> retry(List<Retry> retries) {
		TaskBatch batch = batch(Script.RETRY);
		retries.forEach((retry) -> batch.add(retry.task(), retry.attempt(), retry.delay(), retry.error()));
		return ended(retries.stream().map(Retry::task).toList(), batch.settle(this.outages));
	}

	@Override
	public List<Reply> release(List<TaskRef> tasks) {
		return ended(tasks, settle(tasks, batch(Script.RELEASE)));
	}

	@Override
	public List<Reply> bury(List<Burial> burials) {
		return ended(burials.stream().map(Burial::task).toList(), this.dead.bury(burials));
	}

	private TaskBatch batch(Script script, Object... head) {
		return new TaskBatch(this.partitions, script, head);
	}

	/**
	 * Begins or renews tasks. The leases of those that have places end with the leases of
	 * their places, which are renewed first.
	 */
	private List<Reply> lease(List<TaskRef> tasks, Script script, Duration lease) {
		Set<TaskRef> limited = tasks.stream().filter(this.places::isHeld).collect(Collectors.toSet());
		if (limited.isEmpty()) {
			return settle(tasks, batch(script, lease));
		}
		Map<TaskRef, Reply> replies = new HashMap<>();
		this.places.keep(List.copyOf(limited), lease).forEach((end, kept) -> {
			List<Reply> ofEnd = settle(kept, batch(script, RedisLimitedClaims.until(end)));
			for (int i = 0; i < kept.size(); i++) {
				replies.put(kept.get(i), ofEnd.get(i));
			}
		});
		List<TaskRef> others = tasks.stream().filter((task) -> !limited.contains(task)).toList();
		List<Reply> ofOthers = settle(others, batch(script, lease));
		for (int i = 0; i < others.size(); i++) {
			replies.put(others.get(i), ofOthers.get(i));
		}
		return tasks.stream()
			.map((task) -> replies.getOrDefault(task, this.places.isHeld(task) ? Reply.BUSY : Reply.REFUSED))
			.toList();
	}

	/**
	 * Gives back the places of the tasks that this node no longer has.
	 */
	private List<Reply> ended(List<TaskRef> tasks, List<Reply> replies) {
		List<TaskRef> ended = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			if (replies.get(i) != Reply.BUSY && this.places.isHeld(tasks.get(i))) {
				ended.add(tasks.get(i));
			}
		}
		this.places.ended(ended);
		return replies;
	}

	private List<Reply> settle(List<TaskRef> tasks, TaskBatch batch) {
		tasks.forEach(batch::add);
		return batch.settle(this.outages);
	}

	/**
	 * Ends the leases of tasks that the caller cannot put on its wheel, because the
	 * caller gets an exception instead of the tasks. Other nodes can then claim the tasks
	 * at once.
	 */
	private void giveBack(List<TaskRef> leased) {
		try {
			release(leased);
		}
		catch (RuntimeException ex) {
			// Other nodes claim the tasks when the leases end
		}
	}

	@Override
	public boolean cancel(TaskId taskId) {
		return cancel(call(Script.CANCEL, taskId));
	}

	@Override
	public boolean cancel(String id) {
		return cancel(call(Script.CANCEL, id));
	}

	private boolean cancel(@Nullable Call call) {
		return call != null && this.writes.run(List.of(call), (reply) -> reply.flag(0), (reply) -> {
		}).get(0).flag(0);
	}

	@Override
	public @Nullable Rescheduled reschedule(TaskId taskId, DueTime due, @Nullable LeaseOffer lease) {
		return reschedule(call(Script.RESCHEDULE, taskId), due, lease);
	}

	@Override
	public @Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease) {
		return reschedule(call(Script.RESCHEDULE, id), due, lease);
	}

	private @Nullable Rescheduled reschedule(@Nullable Call call, DueTime due, @Nullable LeaseOffer lease) {
		if (call == null) {
			return null;
		}
		call.with(due.millis(), due.absolute()).withLease(lease);
		return rescheduled(this.writes.run(List.of(call), (reply) -> !reply.isAbsent(), (reply) -> {
			Rescheduled moved = rescheduled(reply);
			if (moved != null && moved.leased()) {
				giveBack(List.of(moved.task().ref()));
			}
		}).get(0));
	}

	private static @Nullable Rescheduled rescheduled(ScriptReply reply) {
		return reply.isAbsent() ? null : new Rescheduled(reply.list(2).leasedTask(), reply.number(0), reply.flag(1));
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
	public Optional<StoredTask> find(TaskId taskId) {
		return find(call(Script.FIND, taskId));
	}

	@Override
	public Optional<StoredTask> find(String id) {
		return find(call(Script.FIND, id));
	}

	private Optional<StoredTask> find(@Nullable Call call) {
		if (call == null) {
			return Optional.empty();
		}
		ScriptReply reply = this.scripts.run(call);
		return reply.isAbsent() ? Optional.empty() : Optional.of(reply.storedTask());
	}

	@Override
	public List<StoredTask> pending(PendingQuery query) {
		return this.pending.read(query);
	}

	@Override
	public List<StoredTask> dead(String name, int limit) {
		List<ScriptReply> tasks = new ArrayList<>();
		for (ScriptReply reply : everywhere(Script.LIST, name, limit)) {
			for (int i = 0; i < reply.size(); i++) {
				tasks.add(reply.list(i));
			}
		}
		return tasks.stream()
			.sorted(Comparator.comparingLong((task) -> -task.number(8)))
			.limit(limit)
			.map(ScriptReply::storedTask)
			.toList();
	}

	@Override
	public DeadTasks dead(DeadQuery query) {
		return this.dead.read(query);
	}

	@Override
	public Map<String, StoredCounts> counts() {
		return readCounts();
	}

	@Override
	public Map<String, StoredCounts> counts(Collection<String> names) {
		return names.isEmpty() ? Map.of() : readCounts(Set.copyOf(names).toArray());
	}

	private Map<String, StoredCounts> readCounts(Object... names) {
		Map<String, StoredCounts> counts = new TreeMap<>();
		for (ScriptReply reply : everywhere(Script.COUNTS, names)) {
			for (int i = 0; i < reply.size(); i += 5) {
				StoredCounts count = new StoredCounts(reply.number(i + 1), reply.number(i + 2), reply.number(i + 3),
						reply.number(i + 4));
				counts.merge(reply.text(i), count, StoredCounts::plus);
			}
		}
		counts.values().removeIf(StoredCounts.NONE::equals);
		return counts;
	}

	@Override
	public Forecast forecast(ForecastQuery query) {
		return this.forecasts.read(query);
	}

	private List<ScriptReply> everywhere(Script script, Object... arguments) {
		List<Call> calls = new ArrayList<>();
		for (int partition = 0; partition < this.partitions.count(); partition++) {
			calls.add(script.on(partition, arguments));
		}
		return this.scripts.run(calls);
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
		new Requirements(this.connection, this.options).check();
	}

	@Override
	public @Nullable PartialOutage partialOutage() {
		return this.outages.partial();
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
		List<Call> calls = new ArrayList<>();
		for (int partition = 0; partition < this.partitions.count(); partition++) {
			calls.add(Script.DELETE_ALL.on(partition).withKeys(this.partitions.limitKeys(partition, "")));
		}
		for (ScriptReply reply : this.scripts.run(calls)) {
			RuntimeException failure = reply.failure();
			if (failure != null) {
				throw failure;
			}
		}
	}

	/**
	 * Closes the connections of the store, not those of the application.
	 */
	@Override
	public void close() {
		this.writes.close();
		this.connection.close();
	}

	private Call call(Script script, TaskId taskId) {
		byte[] holder = Partitions.holderField(taskId);
		return script.on(this.partitions.of(holder), "key", holder);
	}

	/**
	 * A call about a task, {@code null} if no task of this store can have the id.
	 */
	private @Nullable Call call(Script script, String id) {
		StoredId stored = this.partitions.locate(id);
		return (stored != null) ? script.on(stored.partition(), "id", stored.id()) : null;
	}

}
