package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.TaskRef;

/**
 * Changes the tasks that a node has leased, from begin to bury. If a task has a place
 * ({@link Places}), begin and renew first renew the place. The other changes give the
 * place back. Thread-safe.
 */
final class LeasedEntries {

	private final Partitions partitions;

	private final PartitionOutages outages;

	private final Places places;

	private final DeadEntries dead;

	LeasedEntries(Partitions partitions, PartitionOutages outages, Places places, DeadEntries dead) {
		this.partitions = partitions;
		this.outages = outages;
		this.places = places;
		this.dead = dead;
	}

	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return lease(tasks, Script.BEGIN, lease);
	}

	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return lease(tasks, Script.RENEW, lease);
	}

	List<Reply> acknowledge(List<TaskRef> tasks) {
		return ended(tasks, settle(tasks, batch(Script.ACKNOWLEDGE)));
	}

	List<Reply> repeat(List<NextRun> runs) {
		TaskBatch batch = batch(Script.REPEAT);
		for (NextRun run : runs) {
			DueTime due = run.due();
			batch.add(run.task(), run.schedule(), (due != null) ? due.millis() : 0, (due != null) ? due.absolute() : "",
					(run.error() != null) ? run.error() : "");
		}
		return ended(runs.stream().map(NextRun::task).toList(), batch.settle(this.outages));
	}

	List<Reply> retry(List<Retry> retries) {
		TaskBatch batch = batch(Script.RETRY);
		retries.forEach((retry) -> batch.add(retry.task(), retry.attempt(), retry.delay(), retry.error()));
		return ended(retries.stream().map(Retry::task).toList(), batch.settle(this.outages));
	}

	/**
	 * Releases tasks.
	 * @param started whether the bodies of those that run have started
	 */
	List<Reply> release(List<TaskRef> tasks, boolean started) {
		return ended(tasks, settle(tasks, batch(Script.RELEASE, started)));
	}

	List<Reply> bury(List<Burial> burials) {
		return ended(burials.stream().map(Burial::task).toList(), this.dead.bury(burials));
	}

	/**
	 * Releases tasks that the caller cannot put on its wheel, because the caller gets an
	 * exception instead of the tasks. Other nodes can then claim the tasks at once.
	 */
	void giveBack(List<TaskRef> leased) {
		try {
			release(leased, false);
		}
		catch (RuntimeException ex) {
			// Other nodes claim the tasks when the leases end.
		}
	}

	/**
	 * Begins or renews tasks. The lease of a task that has a place ends with the lease of
	 * its place.
	 */
	private List<Reply> lease(List<TaskRef> tasks, Script script, Duration lease) {
		Set<TaskRef> limited = tasks.stream().filter(this.places::isHeld).collect(Collectors.toSet());
		if (limited.isEmpty()) {
			return settle(tasks, batch(script, lease));
		}
		Map<TaskRef, Reply> replies = new HashMap<>();
		this.places.keep(List.copyOf(limited), lease)
			.forEach((end, kept) -> settle(kept, batch(script, Places.until(end)), replies));
		List<TaskRef> others = tasks.stream().filter((task) -> !limited.contains(task)).toList();
		settle(others, batch(script, lease), replies);
		return tasks.stream()
			.map((task) -> replies.getOrDefault(task, this.places.isHeld(task) ? Reply.BUSY : Reply.REFUSED))
			.toList();
	}

	private void settle(List<TaskRef> tasks, TaskBatch batch, Map<TaskRef, Reply> replies) {
		List<Reply> settled = settle(tasks, batch);
		for (int i = 0; i < settled.size(); i++) {
			replies.put(tasks.get(i), settled.get(i));
		}
	}

	private List<Reply> settle(List<TaskRef> tasks, TaskBatch batch) {
		tasks.forEach(batch::add);
		return batch.settle(this.outages);
	}

	/**
	 * Gives back the places of the tasks that this node no longer has.
	 */
	private List<Reply> ended(List<TaskRef> tasks, List<Reply> replies) {
		List<TaskRef> ended = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			if (replies.get(i) != Reply.BUSY && this.places.isHeld(tasks.get(i))) {
				ended.add(tasks.get(i));
			}
		}
		this.places.ended(ended);
		return replies;
	}

	private TaskBatch batch(Script script, Object... head) {
		return new TaskBatch(this.partitions, script, head);
	}

}
