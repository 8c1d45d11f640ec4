package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

import io.timingwheel.spring.durable.redis.TaskBatch.Answer;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.Settlement;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Changes the tasks that a node has leased: begin, renew, settle. Thread-safe. */
final class LeasedTasks {

	private static final Log logger = LogFactory.getLog(LeasedTasks.class);

	private static final Reply[] REPLIES = { Reply.DONE, Reply.SUPERSEDED, Reply.REFUSED };

	private final Partitions partitions;

	private final PartitionOutages outages;

	private final int maxDead;

	private final LongAdder dropped = new LongAdder();

	private final AtomicBoolean warned = new AtomicBoolean();

	LeasedTasks(Partitions partitions, PartitionOutages outages, int maxDead) {
		this.partitions = partitions;
		this.outages = outages;
		this.maxDead = maxDead;
	}

	List<Reply> hold(String event, List<TaskRef> tasks, Duration lease) {
		TaskBatch batch = new TaskBatch(Script.LEASED, this.maxDead);
		for (int i = 0; i < tasks.size(); i++) {
			batch.add(this.partitions, tasks.get(i).id(), i, tasks.get(i).fence(), event, lease);
		}
		return run(batch, tasks.size());
	}

	List<Reply> settle(List<Settlement> settlements) {
		TaskBatch batch = new TaskBatch(Script.LEASED, this.maxDead);
		for (int i = 0; i < settlements.size(); i++) {
			TaskRef task = settlements.get(i).task();
			batch.add(this.partitions, task.id(), i, arguments(task.fence(), settlements.get(i)));
		}
		return run(batch, settlements.size());
	}

	private static @Nullable Object[] arguments(long fence, Settlement settlement) {
		if (settlement instanceof Settlement.Repeat repeat) {
			DueTime next = repeat.next();
			return new @Nullable Object[] { fence, "repeat", repeat.schedule(), (next != null) ? next.millis() : 0,
					(next != null) ? next.absolute() : null, repeat.error() };
		}
		if (settlement instanceof Settlement.Retry retry) {
			return new Object[] { fence, "retry", retry.attempt(), retry.delay(), retry.error() };
		}
		if (settlement instanceof Settlement.Release release) {
			return new Object[] { fence, "release", release.started() };
		}
		if (settlement instanceof Settlement.Bury bury) {
			return new Object[] { fence, "bury", bury.reason() };
		}
		return new Object[] { fence, "acknowledge" };
	}

	/**
	 * Runs the calls of a batch. A task that is in no call is refused.
	 * @throws RuntimeException if all partitions of these tasks have failed and no other
	 * partition is known to answer
	 */
	private List<Reply> run(TaskBatch batch, int size) {
		List<Reply> replies = new ArrayList<>(Collections.nCopies(size, Reply.REFUSED));
		RuntimeException failure = null;
		boolean reached = false;
		for (Answer answer : batch.run(this.outages::run)) {
			ScriptReply reply = answer.reply();
			List<Integer> positions = answer.positions();
			if (reply.failure() != null) {
				failure = reply.failure();
				positions.forEach((position) -> replies.set(position, Reply.BUSY));
				continue;
			}
			reached = true;
			for (int i = 0; i < positions.size(); i++) {
				replies.set(positions.get(i), REPLIES[reply.integer(i + 1)]);
			}
			countDropped(reply.number(0));
		}
		if (failure != null && !reached && this.outages.partial() == null) {
			throw failure;
		}
		return replies;
	}

	private void countDropped(long count) {
		this.dropped.add(count);
		if (count > 0 && this.warned.compareAndSet(false, true)) {
			logger.warn(("There are too many dead tasks in Redis: each name keeps %d, and drops the oldest ones"
					+ " (timingwheel.store.redis.max-dead). Requeue or delete them. timingwheel.store.dead.deleted"
					+ " counts those that this node drops from now on")
				.formatted(this.maxDead));
		}
	}

	long dropped() {
		return this.dropped.sum();
	}

}
