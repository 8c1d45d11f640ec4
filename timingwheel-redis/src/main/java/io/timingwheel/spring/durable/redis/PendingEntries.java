package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

import io.timingwheel.spring.durable.DelayedTaskStore.Kind;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Cancels and reschedules pending tasks, finds a task, and reads the pending tasks of a
 * name. Thread-safe.
 */
final class PendingEntries {

	/**
	 * The order of due times in all partitions. Each partition orders its tasks in the
	 * same way, by the part of the id that the partition knows.
	 */
	private static final Comparator<StoredTask> BY_DUE = Comparator.comparingLong(StoredTask::dueAt)
		.thenComparing((task) -> Partitions.localId(task.id()));

	private final Partitions partitions;

	private final ScriptRunner scripts;

	private final ReplicatedWrites writes;

	private final Consumer<List<TaskRef>> giveBack;

	/**
	 * Creates the access to pending tasks.
	 * @param partitions the partitions
	 * @param scripts runs the scripts that only read
	 * @param writes runs the scripts that cancel and reschedule
	 * @param giveBack called with a task that a move has leased, if too few replicas have
	 * acknowledged the move
	 */
	PendingEntries(Partitions partitions, ScriptRunner scripts, ReplicatedWrites writes,
			Consumer<List<TaskRef>> giveBack) {
		this.partitions = partitions;
		this.scripts = scripts;
		this.writes = writes;
		this.giveBack = giveBack;
	}

	boolean cancel(TaskId taskId, Kind kind) {
		return cancel(call(Script.CANCEL, taskId, kind));
	}

	boolean cancel(String id) {
		return cancel(call(Script.CANCEL, id));
	}

	private boolean cancel(@Nullable Call call) {
		return call != null && this.writes.run(List.of(call), (reply) -> reply.flag(0), (reply) -> {
		}).get(0).flag(0);
	}

	@Nullable Rescheduled reschedule(TaskId taskId, Kind kind, DueTime due, @Nullable LeaseOffer lease) {
		return reschedule(call(Script.RESCHEDULE, taskId, kind), due, lease);
	}

	@Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease) {
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
				this.giveBack.accept(List.of(moved.task().ref()));
			}
		}).get(0));
	}

	private static @Nullable Rescheduled rescheduled(ScriptReply reply) {
		return reply.isAbsent() ? null : new Rescheduled(reply.list(2).leasedTask(), reply.number(0), reply.flag(1));
	}

	/**
	 * Finds the pending task with a name and key, or the task that has a schedule.
	 */
	Optional<StoredTask> find(TaskId taskId, Kind kind) {
		return find(call(Script.FIND, taskId, kind));
	}

	/**
	 * Finds a task in any state.
	 */
	Optional<StoredTask> find(String id) {
		return find(call(Script.FIND, id));
	}

	private Optional<StoredTask> find(@Nullable Call call) {
		if (call == null) {
			return Optional.empty();
		}
		ScriptReply reply = this.scripts.run(call);
		return reply.isAbsent() ? Optional.empty() : Optional.of(reply.storedTask());
	}

	private Call call(Script script, TaskId taskId, Kind kind) {
		byte[] holder = Partitions.holderField(taskId);
		String by = switch (kind) {
			case ONCE -> "once";
			case SCHEDULE -> "schedule";
			case EITHER -> "key";
		};
		return script.on(this.partitions.of(holder), by, holder);
	}

	/**
	 * A call about a task, {@code null} if no task of this store can have the id.
	 */
	private @Nullable Call call(Script script, String id) {
		StoredId stored = this.partitions.locate(id);
		return (stored != null) ? script.on(stored.partition(), "id", stored.id()) : null;
	}

	/**
	 * Reads a page, in several steps if the tasks are not spread evenly.
	 */
	List<StoredTask> read(PendingQuery query) {
		List<StoredTask> tasks = new ArrayList<>();
		StoredTask.Position after = query.after();
		boolean more = true;
		while (more && tasks.size() < query.limit()) {
			int limit = query.limit() - tasks.size();
			PartitionPages<StoredTask> pages = read(query.name(), after, limit);
			List<StoredTask> page = pages.first(limit);
			tasks.addAll(page);
			more = pages.hasMoreThan(page) && !page.isEmpty();
			after = page.isEmpty() ? after : page.get(page.size() - 1).position();
		}
		return tasks;
	}

	private PartitionPages<StoredTask> read(String name, StoredTask.@Nullable Position after, int limit) {
		int share = PartitionPages.share(limit, this.partitions);
		List<Call> calls = Script.PENDING.onEach(this.partitions.count(), name, share);
		if (after != null) {
			calls.forEach((call) -> call.with(after.dueAt(), Partitions.localId(after.id())));
		}
		PartitionPages<StoredTask> pages = new PartitionPages<>(share, BY_DUE);
		this.scripts.run(calls).forEach((reply) -> pages.add(reply, ScriptReply::storedTask));
		return pages;
	}

}
