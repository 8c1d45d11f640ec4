package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.redis.TaskBatch.Answer;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Moved;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Cancels, moves and finds a task, and requeues and discards dead tasks. Thread-safe.
 */
final class PendingAndDead {

	private final Partitions partitions;

	private final PartitionOutages scripts;

	private final ReplicatedWrites writes;

	PendingAndDead(Partitions partitions, PartitionOutages scripts, ReplicatedWrites writes) {
		this.partitions = partitions;
		this.scripts = scripts;
		this.writes = writes;
	}

	boolean cancel(Target target) {
		Call call = call(Script.CANCEL, target);
		return call != null && this.writes.run(List.of(call), (reply) -> reply.flag(0)).get(0).flag(0);
	}

	@Nullable Moved move(Target target, DueTime due) {
		Call call = call(Script.MOVE, target);
		if (call == null) {
			return null;
		}
		call.with(due.millis(), due.absolute());
		ScriptReply reply = this.writes.run(List.of(call), (moved) -> !moved.isAbsent()).get(0);
		return reply.isAbsent() ? null : new Moved(reply.publicId(0), reply.text(1), reply.number(2), reply.number(3));
	}

	Optional<StoredTask> find(Target target) {
		Call call = call(Script.FIND, target);
		if (call == null) {
			return Optional.empty();
		}
		ScriptReply reply = this.scripts.run(List.of(call)).get(0);
		return reply.isAbsent() ? Optional.empty() : Optional.of(reply.storedTask());
	}

	/** A call about a task, {@code null} if no task of this store can be the target. */
	private @Nullable Call call(Script script, Target target) {
		if (target instanceof Target.ByKey byKey) {
			TaskId task = byKey.taskId();
			String kind = switch (byKey.kind()) {
				case ONCE -> "once";
				case SCHEDULE -> "schedule";
				case EITHER -> "either";
			};
			return script.on(this.partitions.of(task.name()), kind, task.name(), task.key());
		}
		StoredId id = this.partitions.locate(((Target.ById) target).id());
		return (id != null) ? script.on(id.partition(), "id", id.id(), "") : null;
	}

	List<Requeue> requeue(List<String> ids) {
		List<Requeue> results = new ArrayList<>(Collections.nCopies(ids.size(), Requeue.NOT_DEAD));
		for (Answer answer : run(new TaskBatch(Script.REQUEUE), ids)) {
			for (int i = 0; i < answer.positions().size(); i++) {
				results.set(answer.positions().get(i), switch (answer.reply().integer(i)) {
					case 0 -> Requeue.REQUEUED;
					case 1 -> Requeue.NOT_DEAD;
					default -> Requeue.KEY_PENDING;
				});
			}
		}
		return results;
	}

	int discard(List<String> ids) {
		return run(new TaskBatch(Script.DISCARD, "", ""), ids).stream()
			.mapToInt((answer) -> answer.reply().integer(0))
			.sum();
	}

	private List<Answer> run(TaskBatch batch, List<String> ids) {
		for (int i = 0; i < ids.size(); i++) {
			batch.add(this.partitions, ids.get(i), i);
		}
		return batch.run(this.scripts::run);
	}

	int discardOlder(Duration age, int limit) {
		int share = Math.max(1, limit / this.partitions.count());
		return this.scripts.answers(Script.DISCARD.onEach(this.partitions, age, share))
			.stream()
			.mapToInt((reply) -> reply.integer(0))
			.sum();
	}

}
