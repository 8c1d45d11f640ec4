package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.redis.TaskBatch.Answer;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Keeps durable tasks in Redis 6.2 or newer: standalone, behind Sentinel, or a Cluster.
 * Takes part in no transaction. Thread-safe.
 *
 * <p>
 * On a Cluster an unreachable server affects only its own partitions: a claim gives the
 * tasks of the other partitions, the reply for a task of such a partition is
 * {@link Reply#BUSY}, operators read what the others have, and {@link #partialOutage()}
 * names the server.
 *
 * <p>
 * The clocks of the primaries must agree as well as a time service keeps them. A task may
 * be late by the difference of two clocks, and early by it, but never by more than one
 * millisecond plus the duration of the request that stored, moved or claimed it.
 *
 * <p>
 * If Redis cannot be reached or fails, the methods usually throw a
 * {@link org.springframework.dao.DataAccessException}.
 *
 * @since 0.1
 */
public final class RedisDelayedTaskStore implements DelayedTaskStore, AutoCloseable {

	private static final Requeue[] REQUEUES = { Requeue.REQUEUED, Requeue.NOT_DEAD, Requeue.KEY_PENDING };

	private final RedisStoreOptions options;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final Scripts scripts;

	private final PartitionOutages outages;

	private final ReplicatedWrites writes;

	private final Enqueueing enqueueing;

	private final Claims claims;

	private final LeasedTasks leased;

	private final Reads reads;

	/**
	 * Creates a store and opens its own connection.
	 * @param connectionFactory the initialized factory of the application, which gives
	 * the address of Redis; the store does not close the factory
	 */
	public RedisDelayedTaskStore(LettuceConnectionFactory connectionFactory, RedisStoreOptions options) {
		this(connectionFactory, options, StoreConnection.MAX_TIMEOUT);
	}

	/** For tests: calls may wait for longer. */
	RedisDelayedTaskStore(LettuceConnectionFactory connectionFactory, RedisStoreOptions options, Duration maxTimeout) {
		this.options = options;
		this.connection = new StoreConnection(connectionFactory, maxTimeout);
		this.partitions = new Partitions(options.namespace(), options.partitions());
		this.scripts = new Scripts(this.connection, this.partitions);
		this.outages = new PartitionOutages(this.scripts, this.connection, this.partitions);
		this.writes = new ReplicatedWrites(this.scripts, this.connection, this.partitions, options);
		boolean severalClocks = this.connection.isCluster();
		this.enqueueing = new Enqueueing(this.partitions, this.writes, severalClocks);
		this.claims = new Claims(this.outages, this.partitions, severalClocks);
		this.leased = new LeasedTasks(this.partitions, this.outages, options.maxDead());
		this.reads = new Reads(this.partitions, this.outages);
	}

	/** Each call of up to 500 tasks of one partition stores all of them or none. */
	@Override
	public List<Enqueued> enqueue(List<NewTask> tasks) {
		return this.enqueueing.enqueue(tasks);
	}

	@Override
	public Enqueued recur(NewSchedule schedule) {
		return this.enqueueing.recur(schedule);
	}

	@Override
	public boolean cancel(Target target) {
		Call call = call(Script.CANCEL, target);
		return call != null && this.writes.run(List.of(call), (reply) -> reply.flag(0)).get(0).flag(0);
	}

	@Override
	public @Nullable Moved move(Target target, DueTime due) {
		Call call = call(Script.MOVE, target);
		if (call == null) {
			return null;
		}
		call.with(due.millis(), due.absolute());
		ScriptReply reply = this.writes.run(List.of(call), (moved) -> !moved.isAbsent()).get(0);
		return reply.isAbsent() ? null : new Moved(reply.publicId(0), reply.text(1), reply.number(2), reply.number(3));
	}

	@Override
	public Optional<StoredTask> find(Target target) {
		Call call = call(Script.FIND, target);
		if (call == null) {
			return Optional.empty();
		}
		ScriptReply reply = this.outages.run(List.of(call)).get(0);
		return reply.isAbsent() ? Optional.empty() : Optional.of(reply.storedTask());
	}

	/** A call about a task, {@code null} if no task of this store can be the target. */
	private @Nullable Call call(Script script, Target target) {
		if (target instanceof Target.ByKey byKey) {
			TaskId task = byKey.taskId();
			String kind = byKey.kind().name().toLowerCase(Locale.ROOT);
			return script.on(this.partitions.of(task.name()), kind, task.name(), task.key());
		}
		StoredId id = this.partitions.locate(((Target.ById) target).id());
		return (id != null) ? script.on(id.partition(), "id", id.id(), "") : null;
	}

	@Override
	public boolean joinsTransaction() {
		return false;
	}

	@Override
	public Claimed claim(ClaimRequest request) {
		return this.claims.claim(request);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return this.leased.hold("begin", tasks, lease);
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return this.leased.hold("renew", tasks, lease);
	}

	@Override
	public List<Reply> settle(List<Settlement> settlements) {
		return this.leased.settle(settlements);
	}

	@Override
	public void heartbeat(NodeState state) {
		this.reads.heartbeat(state);
	}

	@Override
	public ListQuery.Page list(ListQuery query) {
		return this.reads.list(query);
	}

	@Override
	public List<Requeue> requeue(List<String> ids) {
		List<Requeue> results = new ArrayList<>(Collections.nCopies(ids.size(), Requeue.NOT_DEAD));
		for (Answer answer : run(new TaskBatch(Script.REQUEUE), ids)) {
			for (int i = 0; i < answer.positions().size(); i++) {
				results.set(answer.positions().get(i), REQUEUES[answer.reply().integer(i)]);
			}
		}
		return results;
	}

	@Override
	public int discard(List<String> ids) {
		return run(new TaskBatch(Script.DISCARD, "", ""), ids).stream()
			.mapToInt((answer) -> answer.reply().integer(0))
			.sum();
	}

	private List<Answer> run(TaskBatch batch, List<String> ids) {
		for (int i = 0; i < ids.size(); i++) {
			batch.add(this.partitions, ids.get(i), i);
		}
		return batch.run(this.outages::run);
	}

	@Override
	public int discardOlder(Duration age, int limit) {
		int share = Math.max(1, limit / this.partitions.count());
		return this.outages.answers(Script.DISCARD.onEach(this.partitions, age, share))
			.stream()
			.mapToInt((reply) -> reply.integer(0))
			.sum();
	}

	@Override
	public long droppedDead() {
		return this.leased.dropped();
	}

	@Override
	public Map<String, StoredCounts> counts(Collection<String> names) {
		return this.reads.counts(names);
	}

	@Override
	public Forecast forecast(Forecast.Query query) {
		return this.reads.forecast(query);
	}

	/**
	 * Pauses or resumes a name in all partitions, since each claim reads the names of its
	 * partitions. If one of them fails, the others have the change.
	 */
	@Override
	public void setPaused(String name, boolean paused) {
		TaskLimits.checkName(name);
		byte[] member = Partitions.bytes(name);
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connection.commands();
		this.partitions.all()
			.stream()
			.map(this.partitions::paused)
			.map((key) -> paused ? commands.sadd(key, member) : commands.srem(key, member))
			.toList()
			.forEach(this.connection::get);
	}

	@Override
	public List<NodeState.Reported> nodes() {
		return this.reads.nodes();
	}

	@Override
	public long now() {
		return this.reads.now();
	}

	@Override
	public void check() {
		new Requirements(this.connection, this.outages, this.partitions, this.options).check();
	}

	@Override
	public boolean isRefusal(Throwable error) {
		return RedisErrors.isRefusal(error);
	}

	@Override
	public @Nullable PartialOutage partialOutage() {
		return this.outages.partial();
	}

	@Override
	public Testing testing() {
		return new Testing() {

			@Override
			public void setClock(@Nullable LongSupplier millis) {
				RedisDelayedTaskStore.this.scripts.setClock(millis);
			}

			@Override
			public void deleteAll() {
				RedisDelayedTaskStore store = RedisDelayedTaskStore.this;
				store.partitions.all()
					.forEach(
							(one) -> store.connection.get(store.connection.commands().del(store.partitions.keys(one))));
			}

		};
	}

	/** Closes the connections of the store, not those of the application. */
	@Override
	public void close() {
		this.writes.close();
		this.connection.close();
	}

}
