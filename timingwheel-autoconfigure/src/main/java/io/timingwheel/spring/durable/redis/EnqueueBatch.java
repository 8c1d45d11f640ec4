package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.redis.PartitionedCalls.Part;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that are to be stored at once. Not thread-safe.
 */
final class EnqueueBatch {

	private static final int FIELDS = 6;

	private static final int PENDING = 2;

	private final Partitions partitions;

	private final PartitionedCalls calls;

	private @Nullable RuntimeException failure;

	EnqueueBatch(Partitions partitions, long offset) {
		this.partitions = partitions;
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
		List<ScriptReply> replies = writes.run(this.calls.calls(), EnqueueBatch::hasStored,
				(call, fields) -> giveBack.accept(leased(readAll(call.partition(), fields))));
		for (int i = 0; i < replies.size(); i++) {
			Part part = this.calls.parts().get(i);
			if (replies.get(i).failure() != null) {
				this.failure = replies.get(i).failure();
				continue;
			}
			List<@Nullable Enqueued> stored = readAll(part.call().partition(), replies.get(i).fields());
			for (int j = 0; j < stored.size(); j++) {
				enqueued[part.positions().get(j)] = stored.get(j);
			}
		}
		return Arrays.asList(enqueued);
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

	private static List<@Nullable Enqueued> readAll(int partition, Fields fields) {
		List<@Nullable Enqueued> enqueued = new ArrayList<>();
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

	/**
	 * Those that were leased.
	 */
	static List<TaskRef> leased(List<@Nullable Enqueued> enqueued) {
		return enqueued.stream()
			.flatMap(Stream::ofNullable)
			.filter(Enqueued::leased)
			.map((task) -> new TaskRef(task.id(), task.fence()))
			.toList();
	}

}
