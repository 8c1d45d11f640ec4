package io.timingwheel.spring.durable.redis;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.redis.TaskBatch.Answer;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.EnqueueCombiner;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.PartlyStoredException;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Stores new tasks, each in its partition. Thread-safe.
 */
final class Enqueueing {

	/** How many values the script replies for each task. */
	private static final int WIDTH = 4;

	/** So many tasks without keys share a partition. A call for each would cost more. */
	private static final int NEIGHBOURS = 32;

	private final Partitions partitions;

	private final ReplicatedWrites writes;

	private final boolean severalClocks;

	private final List<EnqueueCombiner> combiners;

	/**
	 * Creates an object that stores tasks.
	 * @param partitions the partitions
	 * @param writes runs the scripts
	 * @param severalClocks whether the partitions have several servers
	 */
	Enqueueing(Partitions partitions, ReplicatedWrites writes, boolean severalClocks) {
		this.partitions = partitions;
		this.writes = writes;
		this.severalClocks = severalClocks;
		// A server that hangs must not hold up the tasks of another one.
		this.combiners = IntStream.range(0, severalClocks ? partitions.count() : 1)
			.mapToObj((i) -> new EnqueueCombiner(this::store, (task) -> store(List.of(task)).get(0)))
			.toList();
	}

	/**
	 * Stores tasks. A task that comes alone shares a request with those of other callers.
	 * Each call on a partition stores all its tasks or none.
	 * @throws PartlyStoredException if some tasks are stored and others are not
	 * @throws RuntimeException if no task is known to be stored
	 */
	List<Enqueued> enqueue(List<NewTask> tasks) {
		for (NewTask task : tasks) {
			TaskLimits.checkName(task.name());
			TaskLimits.checkKey(task.key());
		}
		if (tasks.size() == 1) {
			NewTask task = tasks.get(0);
			int combiner = this.severalClocks ? partitions(tasks)[0] : 0;
			return List.of(this.combiners.get(combiner).enqueue(task));
		}
		return store(tasks);
	}

	private List<Enqueued> store(List<NewTask> tasks) {
		@Nullable Enqueued[] enqueued = new Enqueued[tasks.size()];
		int[] partitions = partitions(tasks);
		RuntimeException failure = null;
		for (List<Integer> part : TaskBatch.cut(IntStream.range(0, tasks.size()).boxed().toList())) {
			failure = (failure != null) ? failure : enqueue(tasks, part, partitions, enqueued);
		}
		if (this.severalClocks) {
			setEarliestClock(enqueued);
		}
		if (failure != null) {
			throw Stream.of(enqueued).allMatch(Objects::isNull) ? failure : partlyStored(enqueued, failure);
		}
		return Stream.of(enqueued).<Enqueued>map(Objects::requireNonNull).toList();
	}

	private int[] partitions(List<NewTask> tasks) {
		int[] partitions = new int[tasks.size()];
		int first = -1;
		int count = 0;
		for (int i = 0; i < partitions.length; i++) {
			NewTask task = tasks.get(i);
			String key = task.key();
			if (key != null) {
				partitions[i] = this.partitions.of(new TaskId(task.name(), key));
			}
			else {
				first = (first < 0) ? this.partitions.of(task.id()) : first;
				partitions[i] = (first + count++ / NEIGHBOURS) % this.partitions.count();
			}
		}
		return partitions;
	}

	/**
	 * Stores some of the tasks.
	 * @param positions which ones
	 * @param partitions the partition of each task
	 * @param enqueued takes the result of each task
	 * @return why some of them are not stored, {@code null} if all are
	 */
	private @Nullable RuntimeException enqueue(List<NewTask> tasks, List<Integer> positions, int[] partitions,
			@Nullable Enqueued[] enqueued) {
		TaskBatch batch = new TaskBatch(Script.ENQUEUE);
		for (int position : positions) {
			NewTask task = tasks.get(position);
			batch.add(partitions[position], position)
				.with(task.id(), task.name(), task.key() != null, task.key(), task.payload(), task.traceparent(),
						task.due().millis(), task.due().absolute(), task.ifPending(),
						(task.maxWait() != null) ? DueTime.after(task.maxWait()).millis() : null);
		}
		RuntimeException failure = null;
		for (Answer answer : batch.run((calls) -> this.writes.run(calls, Enqueueing::hasStored))) {
			ScriptReply reply = answer.reply();
			failure = (reply.failure() != null) ? reply.failure() : failure;
			for (int i = 0; reply.failure() == null && i < answer.positions().size(); i++) {
				enqueued[answer.positions().get(i)] = enqueued(reply, i * WIDTH);
			}
		}
		return failure;
	}

	private static boolean hasStored(ScriptReply reply) {
		return IntStream.range(0, reply.size() / WIDTH)
			.anyMatch((i) -> outcome(reply.integer(i * WIDTH)) != Outcome.PENDING);
	}

	private static Enqueued enqueued(ScriptReply reply, int from) {
		return new Enqueued(outcome(reply.integer(from)), reply.publicId(from + 1), reply.number(from + 2),
				reply.number(from + 3));
	}

	private static Outcome outcome(int code) {
		return switch (code) {
			case 0 -> Outcome.INSERTED;
			case 1 -> Outcome.REPLACED;
			default -> Outcome.PENDING;
		};
	}

	private static void setEarliestClock(@Nullable Enqueued[] enqueued) {
		long now = Stream.of(enqueued).flatMap(Stream::ofNullable).mapToLong(Enqueued::now).min().orElse(0);
		for (int i = 0; i < enqueued.length; i++) {
			Enqueued one = enqueued[i];
			if (one != null) {
				enqueued[i] = new Enqueued(one.outcome(), one.id(), one.dueAt(), now);
			}
		}
	}

	// The compiler of JDK 17 does not read @Nullable on type arguments in class files
	@SuppressWarnings("NullAway")
	private static PartlyStoredException partlyStored(@Nullable Enqueued[] enqueued, RuntimeException failure) {
		return new PartlyStoredException(Arrays.asList(enqueued), failure);
	}

	/**
	 * Stores a schedule.
	 */
	Enqueued recur(NewSchedule schedule) {
		TaskLimits.checkName(schedule.name());
		TaskLimits.checkKey(schedule.key());
		int partition = this.partitions.of(new TaskId(schedule.name(), schedule.key()));
		ScriptReply reply = this.writes.run(
				List.of(Script.RECUR.on(partition, schedule.id(), schedule.name(), schedule.key(), schedule.payload(),
						schedule.traceparent(), schedule.schedule(), schedule.first().millis(),
						schedule.first().absolute(), schedule.onlyIfLost())),
				(stored) -> !schedule.onlyIfLost() || stored.integer(0) == 0)
			.get(0);
		return reply.text(1).isEmpty() ? new Enqueued(Outcome.PENDING, "", reply.number(2), reply.number(3))
				: enqueued(reply, 0);
	}

}
