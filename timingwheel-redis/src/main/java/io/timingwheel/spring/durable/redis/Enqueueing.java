package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.PartlyStoredException;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.redis.TaskBatch.Answer;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Stores new tasks, each in its partition. Thread-safe.
 */
final class Enqueueing {

	/** How many values each script replies for each task. */
	private static final int WIDTH = 6;

	private static final Object ANY_PARTITION = "any";

	private final Partitions partitions;

	private final ReplicatedWrites writes;

	private final boolean severalClocks;

	private final Consumer<List<TaskRef>> giveBack;

	/**
	 * Creates an object that stores tasks.
	 * @param partitions the partitions
	 * @param writes runs the script
	 * @param severalClocks whether the partitions have several servers
	 * @param giveBack called with the tasks that a write has leased, if too few replicas
	 * have acknowledged the write
	 */
	Enqueueing(Partitions partitions, ReplicatedWrites writes, boolean severalClocks,
			Consumer<List<TaskRef>> giveBack) {
		this.partitions = partitions;
		this.writes = writes;
		this.severalClocks = severalClocks;
		this.giveBack = giveBack;
	}

	/**
	 * Stores tasks. Each call on a partition stores all its tasks or none.
	 * @throws PartlyStoredException if some tasks are stored and others are not
	 * @throws RuntimeException if no task is known to be stored
	 */
	List<Enqueued> enqueue(List<NewTask> tasks) {
		return enqueue(tasks, this::partition, Waiting.ALONE);
	}

	/**
	 * Gives equal values for tasks that can share a request: the tasks of one partition.
	 * A task without a key can be in any partition. With one server all tasks without a
	 * key can therefore share a request, which goes to one partition.
	 */
	Object sharedRequest(NewTask task) {
		return (task.key() == null && !this.severalClocks) ? ANY_PARTITION : partition(task);
	}

	/**
	 * Stores tasks with equal values of {@link #sharedRequest} in the partition of the
	 * first task.
	 */
	List<Enqueued> enqueueShared(List<NewTask> tasks) {
		int partition = partition(tasks.get(0));
		return enqueue(tasks, (task) -> partition, Waiting.FOR_OTHERS);
	}

	private int partition(NewTask task) {
		String key = task.key();
		return this.partitions
			.of((key != null) ? Partitions.holderField(new TaskId(task.name(), key)) : Partitions.bytes(task.id()));
	}

	private List<Enqueued> enqueue(List<NewTask> tasks, ToIntFunction<NewTask> partition, Waiting waiting) {
		boolean plain = tasks.stream().allMatch((task) -> task.key() == null && task.maxWait() == null);
		TaskBatch batch = new TaskBatch(this.partitions, plain ? Script.INSERT : Script.ENQUEUE);
		for (NewTask task : tasks) {
			int number = partition.applyAsInt(task);
			(plain ? addPlain(batch, task, number) : add(batch, task, number)).withLease(task.lease());
		}
		@Nullable Enqueued[] enqueued = new Enqueued[batch.size()];
		RuntimeException failure = null;
		for (Answer answer : batch.run((calls) -> this.writes.run(calls, Enqueueing::hasStored,
				(reply) -> this.giveBack.accept(leased(read(reply))), waiting))) {
			if (answer.reply().failure() != null) {
				failure = answer.reply().failure();
				continue;
			}
			List<Enqueued> stored = read(answer.reply());
			for (int i = 0; i < stored.size(); i++) {
				enqueued[answer.positions().get(i)] = stored.get(i);
			}
		}
		if (this.severalClocks) {
			setEarliestClock(enqueued);
		}
		if (failure != null) {
			throw Stream.of(enqueued).allMatch(Objects::isNull) ? failure : partlyStored(enqueued, failure);
		}
		return Stream.of(enqueued).<Enqueued>map(Objects::requireNonNull).toList();
	}

	/**
	 * Stores a schedule.
	 */
	Enqueued recur(NewSchedule schedule) {
		ScriptReply reply = recur(schedule, false);
		return new Enqueued(outcome(reply.integer(0)), reply.publicId(1), reply.number(2), reply.number(3),
				reply.number(4), false);
	}

	/**
	 * Stores a declared schedule, unless a task has the schedule, or it was cancelled.
	 * @return whether the schedule was stored
	 */
	boolean restore(NewSchedule schedule) {
		return !recur(schedule, true).isAbsent();
	}

	private ScriptReply recur(NewSchedule schedule, boolean ifLost) {
		TaskLimits.checkName(schedule.name());
		TaskLimits.checkKey(schedule.key());
		int partition = this.partitions.of(Partitions.holderField(new TaskId(schedule.name(), schedule.key())));
		return this.writes.run(List.of(Script.RECUR.on(partition, schedule.id(), schedule.name(), schedule.key(),
				schedule.payload(), schedule.traceparent(), schedule.schedule(), schedule.first().millis(),
				schedule.first().absolute(), ifLost)), (stored) -> !stored.isAbsent(), (stored) -> {
				})
			.get(0);
	}

	/**
	 * Adds a task without a key and without a longest wait.
	 */
	private static Call addPlain(TaskBatch batch, NewTask task, int partition) {
		return batch.add(partition, task.id(), task.name(), task.payload(), task.traceparent(), task.due().millis(),
				task.due().absolute());
	}

	private static Call add(TaskBatch batch, NewTask task, int partition) {
		String key = task.key();
		return batch.add(partition, task.id(), task.name(), key != null, key, task.payload(), task.traceparent(),
				task.due().millis(), task.due().absolute(), task.ifPending(),
				(task.maxWait() != null) ? DueTime.after(task.maxWait()).millis() : null);
	}

	private static boolean hasStored(ScriptReply reply) {
		return read(reply).stream().anyMatch((task) -> task.outcome() != Outcome.PENDING);
	}

	private static List<Enqueued> read(ScriptReply reply) {
		List<Enqueued> enqueued = new ArrayList<>(reply.size() / WIDTH);
		for (int i = 0; i < reply.size(); i += WIDTH) {
			enqueued.add(new Enqueued(outcome(reply.integer(i)), reply.publicId(i + 1), reply.number(i + 2),
					reply.number(i + 3), reply.number(i + 4), reply.flag(i + 5)));
		}
		return enqueued;
	}

	private static Outcome outcome(int code) {
		return switch (code) {
			case 0 -> Outcome.INSERTED;
			case 1 -> Outcome.REPLACED;
			default -> Outcome.PENDING;
		};
	}

	private static List<TaskRef> leased(List<Enqueued> enqueued) {
		return enqueued.stream().filter(Enqueued::leased).map((task) -> new TaskRef(task.id(), task.fence())).toList();
	}

	private static void setEarliestClock(@Nullable Enqueued[] enqueued) {
		long now = Stream.of(enqueued).flatMap(Stream::ofNullable).mapToLong(Enqueued::now).min().orElse(0);
		for (int i = 0; i < enqueued.length; i++) {
			Enqueued one = enqueued[i];
			if (one != null) {
				enqueued[i] = new Enqueued(one.outcome(), one.id(), one.fence(), one.dueAt(), now, one.leased());
			}
		}
	}

	// The compiler of JDK 17 does not read @Nullable on type arguments in class files
	@SuppressWarnings("NullAway")
	private static PartlyStoredException partlyStored(@Nullable Enqueued[] enqueued, RuntimeException failure) {
		return new PartlyStoredException(Arrays.asList(enqueued), failure);
	}

}
