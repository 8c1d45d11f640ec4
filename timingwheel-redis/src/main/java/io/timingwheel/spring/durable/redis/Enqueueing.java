package io.timingwheel.spring.durable.redis;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.redis.TaskBatch.Answer;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.EnqueueCombiner;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.PartlyStoredException;
import org.jspecify.annotations.Nullable;

/** Stores new tasks, each in its partition. Thread-safe. */
final class Enqueueing {

	private static final int WIDTH = 4;

	private static final Outcome[] OUTCOMES = { Outcome.INSERTED, Outcome.REPLACED, Outcome.PENDING };

	private final Partitions partitions;

	private final ReplicatedWrites writes;

	private final boolean severalClocks;

	private final List<EnqueueCombiner> combiners;

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
	 * A task that comes alone shares a request with those of other callers.
	 * @throws PartlyStoredException if some tasks are stored and others are not
	 * @throws RuntimeException if no task is known to be stored
	 */
	List<Enqueued> enqueue(List<NewTask> tasks) {
		if (tasks.size() == 1) {
			int combiner = this.severalClocks ? this.partitions.of(tasks.get(0).name()) : 0;
			return List.of(this.combiners.get(combiner).enqueue(tasks.get(0)));
		}
		return store(tasks);
	}

	private List<Enqueued> store(List<NewTask> tasks) {
		TaskBatch batch = new TaskBatch(Script.ENQUEUE);
		for (int i = 0; i < tasks.size(); i++) {
			NewTask task = tasks.get(i);
			batch.add(this.partitions.of(task.name()), i, task.id(), task.name(), task.key() != null, task.key(),
					task.payload(), task.traceparent(), task.due().millis(), task.due().absolute(), task.ifPending(),
					(task.maxWait() != null) ? DueTime.after(task.maxWait()).millis() : null);
		}
		List<Answer> answers = batch.run((calls) -> this.writes.run(calls, Enqueueing::hasStored));
		RuntimeException failure = null;
		long now = Long.MAX_VALUE; // the earliest reading of the clocks
		for (Answer answer : answers) {
			RuntimeException failed = answer.reply().failure();
			failure = (failed != null) ? failed : failure;
			now = (failed != null) ? now : Math.min(now, answer.reply().number(WIDTH - 1));
		}
		@Nullable Enqueued[] enqueued = new Enqueued[tasks.size()];
		for (Answer answer : answers) {
			for (int i = 0; answer.reply().failure() == null && i < answer.positions().size(); i++) {
				enqueued[answer.positions().get(i)] = enqueued(answer.reply(), i * WIDTH, now);
			}
		}
		if (failure != null) {
			throw Stream.of(enqueued).allMatch(Objects::isNull) ? failure : partlyStored(enqueued, failure);
		}
		return Stream.of(enqueued).<Enqueued>map(Objects::requireNonNull).toList();
	}

	private static boolean hasStored(ScriptReply reply) {
		return IntStream.range(0, reply.size() / WIDTH)
			.anyMatch((i) -> OUTCOMES[reply.integer(i * WIDTH)] != Outcome.PENDING);
	}

	private static Enqueued enqueued(ScriptReply reply, int from, long now) {
		return new Enqueued(OUTCOMES[reply.integer(from)], reply.publicId(from + 1), reply.number(from + 2), now);
	}

	// The compiler of JDK 17 does not read @Nullable on type arguments in class files
	@SuppressWarnings("NullAway")
	private static PartlyStoredException partlyStored(@Nullable Enqueued[] enqueued, RuntimeException failure) {
		return new PartlyStoredException(Arrays.asList(enqueued), failure);
	}

	Enqueued recur(NewSchedule schedule) {
		int partition = this.partitions.of(schedule.name());
		ScriptReply reply = this.writes
			.run(List.of(Script.RECUR.on(partition, schedule.id(), schedule.name(), schedule.key(), schedule.payload(),
					schedule.schedule(), schedule.first().millis(), schedule.first().absolute(),
					schedule.onlyIfLost())), (stored) -> !schedule.onlyIfLost() || stored.integer(0) == 0)
			.get(0);
		return reply.text(1).isEmpty() ? new Enqueued(Outcome.PENDING, "", reply.number(2), reply.number(3))
				: enqueued(reply, 0, reply.number(3));
	}

}
