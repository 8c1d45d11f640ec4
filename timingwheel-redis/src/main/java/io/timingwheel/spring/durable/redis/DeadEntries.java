package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTask;
import io.timingwheel.spring.durable.DeadTasks;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Buries tasks, and reads, requeues and deletes the dead ones. Each partition keeps a
 * limited number of dead tasks. Thread-safe.
 */
final class DeadEntries {

	private static final Log logger = LogFactory.getLog(RedisDelayedTaskStore.class);

	/**
	 * The order of death in all partitions. Each partition orders its tasks in the same
	 * way, by the part of the id that the partition knows.
	 */
	private static final Comparator<DeadTask> BY_DEATH = Comparator.comparingLong(DeadTask::diedAt)
		.thenComparing((task) -> Partitions.localId(task.id()));

	private final Partitions partitions;

	private final ScriptRunner scripts;

	private final PartitionOutages outages;

	/** How many dead tasks a partition keeps. */
	private final int maxPerPartition;

	private final LongAdder dropped = new LongAdder();

	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * Creates the access to dead tasks.
	 * @param partitions the partitions
	 * @param scripts runs the calls of operators
	 * @param outages runs the calls of nodes
	 * @param max how many dead tasks all partitions keep together
	 */
	DeadEntries(Partitions partitions, ScriptRunner scripts, PartitionOutages outages, int max) {
		this.partitions = partitions;
		this.scripts = scripts;
		this.outages = outages;
		this.maxPerPartition = Math.max(1, max / partitions.count());
	}

	/**
	 * Bury: makes leased or running tasks dead. Drops the oldest dead tasks beyond the
	 * limit.
	 */
	List<Reply> bury(List<Burial> burials) {
		TaskBatch batch = new TaskBatch(this.partitions, Script.BURY, this.maxPerPartition);
		burials.forEach((burial) -> batch.add(burial.task(), burial.reason()));
		return batch.settle((calls) -> {
			List<ScriptReply> replies = this.outages.run(calls);
			replies.forEach(this::countDropped);
			return replies;
		}, this.outages);
	}

	private void countDropped(ScriptReply reply) {
		long count = (reply.failure() == null) ? reply.number(reply.size() - 1) : 0;
		if (count == 0) {
			return;
		}
		this.dropped.add(count);
		if (this.warned.compareAndSet(false, true)) {
			logger
				.warn(("There are too many dead tasks in Redis: each of the %d partitions keeps %d, and drops the oldest"
						+ " ones (timingwheel.store.redis.max-dead). Requeue or delete them. timingwheel.store.dead.deleted"
						+ " counts those that this node drops from now on")
					.formatted(this.partitions.count(), this.maxPerPartition));
		}
	}

	long dropped() {
		return this.dropped.sum();
	}

	/**
	 * Reads the tasks of a name that died last.
	 */
	List<StoredTask> latest(String name, int limit) {
		List<ScriptReply> tasks = new ArrayList<>();
		for (ScriptReply reply : this.scripts.run(Script.LATEST_DEAD.onEach(this.partitions.count(), name, limit))) {
			for (int i = 0; i < reply.size(); i++) {
				tasks.add(reply.list(i));
			}
		}
		return tasks.stream()
			.sorted(Comparator.comparingLong(DeadEntries::diedAt).reversed())
			.limit(limit)
			.map(ScriptReply::storedTask)
			.toList();
	}

	private static long diedAt(ScriptReply task) {
		return task.number(8);
	}

	/**
	 * Reads a page.
	 */
	DeadTasks read(DeadQuery query) {
		int share = PartitionPages.share(query.limit(), this.partitions);
		List<Call> calls = Script.DEAD.onEach(this.partitions.count(), query.name(), query.latestFirst(), share);
		DeadTask.Position after = query.after();
		if (after != null) {
			calls.forEach((call) -> call.with(after.diedAt(), Partitions.localId(after.id())));
		}
		Comparator<DeadTask> order = query.latestFirst() ? BY_DEATH.reversed() : BY_DEATH;
		PartitionPages<DeadTask> pages = new PartitionPages<>(share, order);
		for (ScriptReply reply : this.scripts.run(calls)) {
			pages.add(reply, (task) -> new DeadTask(task.publicId(0), task.number(1), task.textOrNull(2)));
		}
		List<DeadTask> tasks = pages.first(query.limit());
		return new DeadTasks(tasks, pages.hasMoreThan(tasks));
	}

	/**
	 * Requeue: makes dead tasks scheduled, due now.
	 */
	List<Requeue> requeue(List<String> ids) {
		List<Requeue> results = new ArrayList<>(Collections.nCopies(ids.size(), Requeue.NOT_DEAD));
		TaskBatch batch = new TaskBatch(this.partitions, Script.REQUEUE);
		List<Integer> positions = add(batch, ids);
		for (TaskBatch.Answer answer : batch.run(this.scripts::run)) {
			for (int i = 0; i < answer.positions().size(); i++) {
				results.set(positions.get(answer.positions().get(i)), switch (answer.reply().integer(i)) {
					case 0 -> Requeue.REQUEUED;
					case 1 -> Requeue.NOT_DEAD;
					default -> Requeue.KEY_PENDING;
				});
			}
		}
		return results;
	}

	/**
	 * Discard: deletes dead tasks.
	 */
	int discard(List<String> ids) {
		TaskBatch batch = new TaskBatch(this.partitions, Script.DISCARD);
		add(batch, ids);
		return batch.run(this.scripts::run).stream().mapToInt((answer) -> answer.reply().integer(0)).sum();
	}

	/**
	 * Adds tasks to a batch.
	 * @return the positions in the list of the tasks that this store may have
	 */
	private List<Integer> add(TaskBatch batch, List<String> ids) {
		List<Integer> positions = new ArrayList<>();
		for (int i = 0; i < ids.size(); i++) {
			StoredId id = this.partitions.locate(ids.get(i));
			if (id != null) {
				batch.add(id.partition(), id.id());
				positions.add(i);
			}
		}
		return positions;
	}

	/**
	 * Deletes tasks that have been dead for longer than a time, in the partitions that
	 * answer.
	 */
	int discardOlder(Duration age, int limit) {
		int share = Math.max(1, limit / this.partitions.count());
		return this.outages.run(Script.EXPIRE.onEach(this.partitions.count(), age, share))
			.stream()
			.filter((reply) -> reply.failure() == null)
			.mapToInt((reply) -> reply.integer(0))
			.sum();
	}

}
