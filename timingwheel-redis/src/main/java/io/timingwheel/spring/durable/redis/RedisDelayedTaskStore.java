package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.PartialOutage;
import io.timingwheel.spring.durable.PartlyStoredException;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.TaskFields.Timed;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Keeps durable tasks in Redis 6.2 or newer, standalone, behind Sentinel, or a Cluster.
 * The package description has the layout of the keys. Takes part in no transaction.
 *
 * <p>
 * On a Cluster a server that cannot be reached concerns its own partitions alone: a claim
 * gives what the others have, a batch answers {@link Reply#BUSY} for its tasks, and
 * {@link #partialOutage()} names it. The clocks of its primaries must agree, as those of
 * all machines do that run a time service: by as much as they differ a task may be late,
 * or early, the latter by no more than the request took that it came with, and a
 * millisecond.
 */
public final class RedisDelayedTaskStore implements DelayedTaskStore, AutoCloseable {

	private static final int DISCARDED_AT_ONCE = 500;

	private final RedisStoreOptions options;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final ScriptRunner scripts;

	private final PartitionOutages outages;

	private final ReplicatedWrites writes;

	private final ClaimRounds claims;

	private volatile long offset;

	/**
	 * Creates a store with a connection of its own.
	 * @param connectionFactory says where Redis is; it must have been initialized
	 * @param options how to use it
	 */
	public RedisDelayedTaskStore(LettuceConnectionFactory connectionFactory, RedisStoreOptions options) {
		this.options = options;
		this.connection = new StoreConnection(connectionFactory);
		this.partitions = new Partitions(options.namespace(), options.partitions());
		this.scripts = new ScriptRunner(this.connection, this.partitions);
		this.outages = new PartitionOutages(this.scripts, this.connection, this.partitions);
		this.writes = new ReplicatedWrites(this.scripts, this.connection, this.partitions, options);
		this.claims = new ClaimRounds(this.outages, options.partitions(), this.connection.isCluster());
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

	/**
	 * Each partition stores up to 500 of its own, or none of them. If one fails the
	 * others have stored theirs.
	 */
	@Override
	public List<Enqueued> enqueueAll(List<NewTask> tasks) {
		EnqueueBatch batch = new EnqueueBatch(this.partitions, this.connection.isCluster(), this.offset);
		tasks.forEach(batch::add);
		List<@Nullable Enqueued> enqueued = batch.run(this.writes, this::giveBack);
		RuntimeException failure = batch.failure();
		if (failure == null) {
			return enqueued.stream().<Enqueued>map(Objects::requireNonNull).toList();
		}
		if (enqueued.stream().allMatch(Objects::isNull)) {
			throw failure;
		}
		throw partlyStored(enqueued, failure);
	}

	@SuppressWarnings("NullAway") // JDK 17 does not read the @Nullable of the elements
									// from
									// the class file of the exception.
	private static PartlyStoredException partlyStored(List<@Nullable Enqueued> enqueued, RuntimeException failure) {
		return new PartlyStoredException(enqueued, failure);
	}

	private static ScriptCall withLease(ScriptCall call, @Nullable LeaseOffer lease) {
		return (lease != null) ? call.with(Times.millis(lease.lookAhead()), Times.millis(lease.lease()))
				: call.with(-1, 0);
	}

	@Override
	public boolean cancel(TaskId taskId) {
		return cancel(call(Script.CANCEL, taskId));
	}

	@Override
	public boolean cancel(String id) {
		return cancel(call(Script.CANCEL, id));
	}

	private boolean cancel(@Nullable ScriptCall call) {
		return call != null && this.writes.run(call, (reply) -> reply.flag(0), (reply) -> {
		}).flag(0);
	}

	@Override
	public @Nullable Rescheduled reschedule(TaskId taskId, DueTime due, @Nullable LeaseOffer lease) {
		return reschedule(call(Script.RESCHEDULE, taskId), due, lease);
	}

	@Override
	public @Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease) {
		return reschedule(call(Script.RESCHEDULE, id), due, lease);
	}

	private @Nullable Rescheduled reschedule(@Nullable ScriptCall call, DueTime due, @Nullable LeaseOffer lease) {
		if (call == null) {
			return null;
		}
		call.with(due.millis(), due.absolute());
		Fields fields = this.writes.run(withLease(call, lease), (reply) -> !reply.isAbsent(), (reply) -> {
			if (reply.flag(1)) {
				Fields task = reply.fields(2);
				giveBack(List.of(new TaskRef(Partitions.publicId(call.partition(), task.text(0)), task.number(1))));
			}
		});
		return fields.isAbsent() ? null : new Rescheduled(TaskFields.leased(call.partition(), fields.fields(2)),
				fields.number(0), fields.flag(1));
	}

	/**
	 * A caller who gets an exception puts nothing on its wheel: others need not wait for
	 * the end of its lease.
	 */
	private void giveBack(List<TaskRef> leased) {
		try {
			release(leased);
		}
		catch (RuntimeException ex) {
			// The end of its lease it is, then.
		}
	}

	@Override
	public Claimed claim(ClaimRequest request) {
		return this.claims.claim(request, this.offset);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return ask(tasks, Script.BEGIN, this.offset, Times.millis(lease));
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return ask(tasks, Script.RENEW, this.offset, Times.millis(lease));
	}

	@Override
	public List<Reply> acknowledge(List<TaskRef> tasks) {
		return ask(tasks, Script.ACKNOWLEDGE, this.offset);
	}

	@Override
	public List<Reply> release(List<TaskRef> tasks) {
		return ask(tasks, Script.RELEASE, this.offset);
	}

	private List<Reply> ask(List<TaskRef> tasks, Script script, Object... arguments) {
		TaskBatch batch = new TaskBatch(this.partitions, script, arguments);
		tasks.forEach(batch::add);
		return batch.run(this.outages);
	}

	@Override
	public List<Reply> retry(List<Retry> retries) {
		TaskBatch batch = new TaskBatch(this.partitions, Script.RETRY, this.offset);
		retries
			.forEach((retry) -> batch.add(retry.task(), retry.attempt(), Times.millis(retry.delay()), retry.error()));
		return batch.run(this.outages);
	}

	@Override
	public List<Reply> bury(List<Burial> burials) {
		TaskBatch batch = new TaskBatch(this.partitions, Script.BURY, this.offset);
		burials.forEach((burial) -> batch.add(burial.task(), burial.reason()));
		return batch.run(this.outages);
	}

	@Override
	public Optional<StoredTask> find(TaskId taskId) {
		return find(call(Script.FIND, taskId));
	}

	@Override
	public Optional<StoredTask> find(String id) {
		return find(call(Script.FIND, id));
	}

	private Optional<StoredTask> find(@Nullable ScriptCall call) {
		if (call == null) {
			return Optional.empty();
		}
		Fields fields = this.scripts.run(call);
		return fields.isAbsent() ? Optional.empty() : Optional.of(TaskFields.stored(call.partition(), fields));
	}

	@Override
	public List<StoredTask> pending(String name, int limit) {
		return list("pending", name, limit, Comparator.comparingLong((task) -> task.value().dueAt()));
	}

	@Override
	public List<StoredTask> dead(String name, int limit) {
		return list("dead", name, limit, Comparator.<Timed<StoredTask>>comparingLong(Timed::time).reversed());
	}

	private List<StoredTask> list(String which, String name, int limit, Comparator<Timed<StoredTask>> order) {
		List<Timed<StoredTask>> tasks = new ArrayList<>();
		List<ScriptReply> replies = everywhere(Script.LIST, which, name, limit);
		for (int partition = 0; partition < replies.size(); partition++) {
			tasks.addAll(TaskFields.storedByTime(partition, replies.get(partition).fields()));
		}
		return tasks.stream().sorted(order).limit(limit).map(Timed::value).toList();
	}

	@Override
	public Map<String, StoredCounts> counts() {
		Map<String, StoredCounts> counts = new TreeMap<>();
		for (ScriptReply reply : everywhere(Script.COUNTS)) {
			Fields fields = reply.fields();
			for (int i = 0; i < fields.size(); i += 5) {
				StoredCounts count = new StoredCounts(fields.number(i + 1), fields.number(i + 2), fields.number(i + 3),
						fields.number(i + 4));
				counts.merge(fields.text(i), count, RedisDelayedTaskStore::sum);
			}
		}
		return counts;
	}

	private static StoredCounts sum(StoredCounts one, StoredCounts other) {
		return new StoredCounts(one.pending() + other.pending(), one.overdue() + other.overdue(),
				one.running() + other.running(), one.dead() + other.dead());
	}

	private List<ScriptReply> everywhere(Script script, Object... arguments) {
		List<ScriptCall> calls = new ArrayList<>();
		for (int partition = 0; partition < this.partitions.count(); partition++) {
			calls.add(ScriptCall.of(script, partition, this.offset).with(arguments));
		}
		return this.scripts.run(calls);
	}

	@Override
	public Requeue requeue(String id) {
		StoredId stored = this.partitions.locate(id);
		if (stored == null) {
			return Requeue.NOT_DEAD;
		}
		Fields fields = this.scripts.run(ScriptCall.of(Script.REQUEUE, stored.partition(), this.offset, stored.id()));
		return switch (fields.integer(0)) {
			case 0 -> Requeue.REQUEUED;
			case 1 -> Requeue.NOT_DEAD;
			default -> Requeue.KEY_PENDING;
		};
	}

	@Override
	public boolean discard(String id) {
		ScriptCall call = call(Script.DISCARD, id);
		return call != null && this.scripts.run(call).flag(0);
	}

	@Override
	public long discardAll(String name) {
		long discarded = 0;
		for (int partition = 0; partition < this.partitions.count(); partition++) {
			long step;
			do {
				step = this.scripts
					.run(ScriptCall.of(Script.DISCARD, partition, this.offset, "name", name, DISCARDED_AT_ONCE))
					.number(0);
				discarded += step;
			}
			while (step == DISCARDED_AT_ONCE);
		}
		return discarded;
	}

	@Override
	public long now() {
		return this.scripts.run(ScriptCall.of(Script.NOW, 0, this.offset)).number(0);
	}

	@Override
	public void setClockOffset(Duration offset) {
		this.offset = offset.toMillis();
	}

	/**
	 * Closes its connection.
	 */
	@Override
	public void close() {
		this.writes.close();
		this.connection.close();
	}

	private ScriptCall call(Script script, TaskId taskId) {
		byte[] holding = Partitions.holding(taskId);
		return ScriptCall.of(script, this.partitions.of(holding), this.offset, "key", holding);
	}

	/**
	 * {@code null} if the id is none of ours.
	 */
	private @Nullable ScriptCall call(Script script, String id) {
		StoredId stored = this.partitions.locate(id);
		return (stored != null) ? ScriptCall.of(script, stored.partition(), this.offset, "id", stored.id()) : null;
	}

}
