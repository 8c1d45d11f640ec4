package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.redis.PartitionedCalls.Answer;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that are to be stored at once. Not thread-safe.
 */
final class EnqueueBatch {

	private static final int FIELDS = 6;

	private static final int PENDING = 2;

	private final Partitions partitions;

	private final boolean cluster;

	private final PartitionedCalls calls;

	private @Nullable RuntimeException failure;

	EnqueueBatch(Partitions partitions, boolean cluster, long offset) {
		this.partitions = partitions;
		this.cluster = cluster;
		this.calls = new PartitionedCalls(partitions.count(), Script.ENQUEUE, offset);
	}

	void add(NewTask task) {
		String key = task.key();
		int partition = this.partitions
			.of((key != null) ? Partitions.holding(new TaskId(task.name(), key)) : Partitions.bytes(task.id()));
		LeaseOffer lease = task.lease();
		this.calls.add(partition, task.id(), task.name(), key != null, key, task.payload(), task.due().millis(),
				task.due().absolute(), task.ifPending(), (lease != null) ? Times.millis(lease.lookAhead()) : -1,
				(lease != null) ? Times.millis(lease.lease()) : 0);
	}

	/**
	 * Stores them.
	 * @param giveBack given those that were leased with a write which too few replicas
	 * know of
	 * @return what has become of each; {@code null} where that has failed
	 */
	List<@Nullable Enqueued> run(ReplicatedWrites writes, Consumer<List<TaskRef>> giveBack) {
		@Nullable Enqueued[] enqueued = new Enqueued[this.calls.size()];
		List<Answer> answers = this.calls.run((calls) -> writes.run(calls, EnqueueBatch::hasStored,
				(call, fields) -> giveBack.accept(leased(readAll(call.partition(), fields)))));
		for (Answer answer : answers) {
			if (answer.reply().failure() != null) {
				this.failure = answer.reply().failure();
				continue;
			}
			List<Enqueued> stored = readAll(answer.part().call().partition(), answer.reply().fields());
			for (int i = 0; i < stored.size(); i++) {
				enqueued[answer.part().positions().get(i)] = stored.get(i);
			}
		}
		if (this.cluster) {
			setEarliestClock(enqueued);
		}
		return Arrays.asList(enqueued);
	}

	/**
	 * What was stored by several clocks.
	 */
	private static void setEarliestClock(@Nullable Enqueued[] enqueued) {
		long now = Stream.of(enqueued).flatMap(Stream::ofNullable).mapToLong(Enqueued::now).min().orElse(0);
		for (int i = 0; i < enqueued.length; i++) {
			Enqueued one = enqueued[i];
			if (one != null) {
				enqueued[i] = new Enqueued(one.outcome(), one.id(), one.fence(), one.dueAt(), now, one.leased());
			}
		}
	}

	/**
	 * Why some could not be stored.
	 */
	@Nullable RuntimeException failure() {
		return this.failure;
	}

	private static boolean hasStored(Fields fields) {
		for (int i = 0; i < fields.size(); i += FIELDS) {
			if (fields.integer(i) != PENDING) {
				return true;
			}
		}
		return false;
	}

	private static List<Enqueued> readAll(int partition, Fields fields) {
		List<Enqueued> enqueued = new ArrayList<>();
		for (int i = 0; i < fields.size(); i += FIELDS) {
			enqueued.add(read(partition, fields, i));
		}
		return enqueued;
	}

	private static Enqueued read(int partition, Fields fields, int from) {
		Outcome outcome = switch (fields.integer(from)) {
			case 0 -> Outcome.INSERTED;
			case 1 -> Outcome.REPLACED;
			default -> Outcome.PENDING;
		};
		return new Enqueued(outcome, Partitions.publicId(partition, fields.text(from + 1)), fields.number(from + 2),
				fields.number(from + 3), fields.number(from + 4), fields.flag(from + 5));
	}

	private static List<TaskRef> leased(List<Enqueued> enqueued) {
		return enqueued.stream().filter(Enqueued::leased).map((task) -> new TaskRef(task.id(), task.fence())).toList();
	}

}
