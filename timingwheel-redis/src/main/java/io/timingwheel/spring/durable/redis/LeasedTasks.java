package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.redis.TaskBatch.Answer;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.TaskRef;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Changes the tasks that a node has leased: begin, renew, settle. Thread-safe.
 */
final class LeasedTasks {

	private static final Log logger = LogFactory.getLog(LeasedTasks.class);

	/** How many values each script replies for each task. */
	private static final int WIDTH = 3;

	private final Partitions partitions;

	private final PartitionOutages outages;

	private final Places places;

	/** How many dead tasks a partition keeps. */
	private final int maxDead;

	private final LongAdder dropped = new LongAdder();

	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * Creates the access to leased tasks.
	 * @param maxDead how many dead tasks all partitions keep together
	 */
	LeasedTasks(Partitions partitions, PartitionOutages outages, Places places, int maxDead) {
		this.partitions = partitions;
		this.outages = outages;
		this.places = places;
		this.maxDead = Math.max(1, maxDead / partitions.count());
	}

	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return hold("begin", tasks, lease);
	}

	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return hold("renew", tasks, lease);
	}

	private List<Reply> hold(String event, List<TaskRef> tasks, Duration lease) {
		List<Reply> replies = new ArrayList<>();
		for (List<TaskRef> part : TaskBatch.cut(tasks)) {
			TaskBatch batch = new TaskBatch(Script.HOLD, event, lease);
			for (int i = 0; i < part.size(); i++) {
				TaskRef task = part.get(i);
				StoredId id = this.partitions.locate(task.id());
				if (id != null) {
					batch.add(id.partition(), i).with(id.id(), task.fence());
				}
			}
			Replies held = run(batch, part.size());
			if (!held.places.isEmpty()) {
				keepPlaces(held, lease);
			}
			replies.addAll(Arrays.asList(held.replies));
		}
		return replies;
	}

	private void keepPlaces(Replies held, Duration lease) {
		this.places.keep(held.places, lease).forEach((name, reply) -> {
			List<Integer> positions = held.positions.getOrDefault(name, List.of());
			for (int i = 0; i < positions.size(); i++) {
				if (reply.failure() != null) {
					held.replies[positions.get(i)] = Reply.BUSY;
				}
				else if (!reply.flag(i)) {
					held.replies[positions.get(i)] = Reply.REFUSED;
				}
			}
		});
	}

	List<Reply> settle(List<Settlement> settlements) {
		List<Reply> replies = new ArrayList<>();
		for (List<Settlement> part : TaskBatch.cut(settlements)) {
			TaskBatch batch = new TaskBatch(Script.END, this.maxDead);
			for (int i = 0; i < part.size(); i++) {
				StoredId id = this.partitions.locate(part.get(i).task().id());
				if (id != null) {
					add(batch.add(id.partition(), i), id.id(), part.get(i));
				}
			}
			Replies ended = run(batch, part.size());
			if (!ended.places.isEmpty()) {
				this.places.free(ended.places);
			}
			replies.addAll(Arrays.asList(ended.replies));
		}
		return replies;
	}

	private static void add(Call call, String id, Settlement settlement) {
		long fence = settlement.task().fence();
		if (settlement instanceof Settlement.Acknowledge) {
			call.with("acknowledge", id, fence);
		}
		else if (settlement instanceof Settlement.Repeat repeat) {
			DueTime next = repeat.next();
			call.with("repeat", id, fence, repeat.schedule(), (next != null) ? next.millis() : 0,
					(next != null) ? next.absolute() : null, repeat.error());
		}
		else if (settlement instanceof Settlement.Retry retry) {
			call.with("retry", id, fence, retry.attempt(), retry.delay(), retry.error());
		}
		else if (settlement instanceof Settlement.Release release) {
			call.with("release", id, fence, release.started());
		}
		else if (settlement instanceof Settlement.Bury bury) {
			call.with("bury", id, fence, bury.reason());
		}
	}

	/**
	 * Runs the calls of a batch. The reply is {@link Reply#BUSY} if the partition of the
	 * task has failed, and {@link Reply#REFUSED} if it is in no call.
	 * @throws RuntimeException if all partitions of these tasks have failed and no other
	 * partition is known to answer
	 */
	private Replies run(TaskBatch batch, int size) {
		Replies replies = new Replies(size);
		RuntimeException failure = null;
		boolean reached = false;
		for (Answer answer : batch.run(this.outages::run)) {
			ScriptReply reply = answer.reply();
			failure = (reply.failure() != null) ? reply.failure() : failure;
			reached |= reply.failure() == null;
			for (int i = 0; i < answer.positions().size(); i++) {
				replies.read(reply, WIDTH * i, answer.positions().get(i));
			}
			if (reply.failure() == null && reply.size() % WIDTH == 1) {
				countDropped(reply.number(reply.size() - 1));
			}
		}
		if (failure != null && !reached && this.outages.partial() == null) {
			throw failure;
		}
		return replies;
	}

	private void countDropped(long count) {
		this.dropped.add(count);
		if (count > 0 && this.warned.compareAndSet(false, true)) {
			logger
				.warn(("There are too many dead tasks in Redis: each of the %d partitions keeps %d, and drops the oldest"
						+ " ones (timingwheel.store.redis.max-dead). Requeue or delete them. timingwheel.store.dead.deleted"
						+ " counts those that this node drops from now on")
					.formatted(this.partitions.count(), this.maxDead));
		}
	}

	long dropped() {
		return this.dropped.sum();
	}

	/**
	 * The replies for tasks, and the places of those that have one, by name.
	 */
	private static final class Replies {

		private final Reply[] replies;

		private final Map<String, List<String>> places = new HashMap<>();

		private final Map<String, List<Integer>> positions = new HashMap<>();

		Replies(int size) {
			this.replies = new Reply[size];
			Arrays.fill(this.replies, Reply.REFUSED);
		}

		void read(ScriptReply reply, int from, int position) {
			if (reply.failure() != null) {
				this.replies[position] = Reply.BUSY;
				return;
			}
			this.replies[position] = switch (reply.integer(from)) {
				case 0 -> Reply.DONE;
				case 1 -> Reply.SUPERSEDED;
				default -> Reply.REFUSED;
			};
			String name = reply.textOrNull(from + 1);
			if (name != null) {
				this.places.computeIfAbsent(name, (any) -> new ArrayList<>()).add(reply.text(from + 2));
				this.positions.computeIfAbsent(name, (any) -> new ArrayList<>()).add(position);
			}
		}

	}

}
