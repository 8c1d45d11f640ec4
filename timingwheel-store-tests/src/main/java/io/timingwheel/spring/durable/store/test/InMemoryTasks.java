package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import org.jspecify.annotations.Nullable;

/**
 * What all nodes share: the tasks with their indexes, and what the store knows of names
 * and nodes. The changes that several calls have in common are here. Each call holds the
 * lock of this object.
 */
final class InMemoryTasks {

	private final Map<String, InMemoryTask> byId = new HashMap<>();

	/** The pending tasks that run once, and all tasks with a schedule. */
	private final Map<HeldKey, InMemoryTask> byKey = new HashMap<>();

	/** The pending tasks that have lost no delivery. */
	final ByTime pending = new ByTime();

	/** The pending tasks that have lost a delivery. */
	final ByTime suspects = new ByTime();

	final ByTime running = new ByTime();

	/** The dead tasks, the one that died first comes first. */
	final NavigableSet<InMemoryTask> dead = new TreeSet<>(
			Comparator.<InMemoryTask>comparingLong((task) -> task.diedAt).thenComparing((task) -> task.id));

	/** The names that are paused. */
	final Set<String> paused = new HashSet<>();

	/** The names whose declared schedule was cancelled. */
	final Set<String> marks = new HashSet<>();

	/** When the next start of a name is due by its rate, in microseconds. */
	final Map<String, Long> nextStarts = new HashMap<>();

	final Map<String, Report> reports = new HashMap<>();

	private long lastNumber;

	// Reading

	@Nullable InMemoryTask find(String id) {
		return this.byId.get(id);
	}

	@Nullable InMemoryTask find(Target target) {
		if (target instanceof Target.ById byId) {
			return find(byId.id());
		}
		Target.ByKey byKey = (Target.ByKey) target;
		InMemoryTask once = this.byKey.get(new HeldKey(byKey.taskId().name(), byKey.taskId().key(), false));
		InMemoryTask schedule = this.byKey.get(new HeldKey(byKey.taskId().name(), byKey.taskId().key(), true));
		return switch (byKey.kind()) {
			case ONCE -> once;
			case SCHEDULE -> schedule;
			case EITHER -> (once != null) ? once : schedule;
		};
	}

	Stream<InMemoryTask> all() {
		return this.byId.values().stream();
	}

	// Changes

	/**
	 * None: scheduled. The task takes its key, which is free.
	 */
	void insert(InMemoryTask task, long now) {
		task.number = ++this.lastNumber;
		task.raiseFence(now);
		this.byId.put(task.id, task);
		schedule(task);
	}

	/**
	 * Any state: scheduled, with its key. A task whose key is taken is gone.
	 * @return whether the task is scheduled
	 */
	boolean schedule(InMemoryTask task) {
		if (!takeKey(task)) {
			delete(task);
			return false;
		}
		task.state = State.SCHEDULED;
		setNextAt(task, task.dueAt);
		return true;
	}

	/**
	 * Scheduled: leased. The lease lasts from the due time, or from now.
	 */
	void lease(InMemoryTask task, long now, Duration lease) {
		task.state = State.LEASED;
		task.raiseFence(now);
		setNextAt(task, after(Math.max(task.dueAt, now), lease));
	}

	/**
	 * Scheduled or leased: running, deliveries + 1. A task that runs once gives up its
	 * key.
	 */
	void begin(InMemoryTask task) {
		task.state = State.RUNNING;
		task.deliveries++;
		task.firstAt = null;
		if (task.schedule == null) {
			giveUpKey(task);
		}
		setNextAt(task, task.nextAt);
	}

	/**
	 * Running, lease over: scheduled, lost + 1. The task does not take its key again.
	 */
	void lose(InMemoryTask task, long now) {
		task.state = State.SCHEDULED;
		task.lost++;
		task.raiseFence(now);
		setNextAt(task, task.dueAt);
	}

	/**
	 * Leased or running: dead, without its key.
	 */
	void bury(InMemoryTask task, String reason, long now) {
		removeFromIndexes(task);
		giveUpKey(task);
		task.state = State.DEAD;
		task.error = reason;
		task.diedAt = now;
		this.dead.add(task);
	}

	/**
	 * Running with a schedule: running without it.
	 */
	void endSchedule(InMemoryTask task) {
		giveUpKey(task);
		task.schedule = null;
		task.ended = true;
	}

	/**
	 * Any state: gone.
	 */
	void delete(InMemoryTask task) {
		removeFromIndexes(task);
		giveUpKey(task);
		this.byId.remove(task.id);
	}

	void deleteAll() {
		List.copyOf(this.byId.values()).forEach(this::delete);
		this.paused.clear();
		this.marks.clear();
		this.nextStarts.clear();
		this.reports.clear();
	}

	/**
	 * Sets the time by which claims find a task.
	 */
	void setNextAt(InMemoryTask task, long time) {
		removeFromIndexes(task);
		task.nextAt = time;
		((task.state == State.RUNNING) ? this.running : (task.lost > 0) ? this.suspects : this.pending).add(task);
	}

	private void removeFromIndexes(InMemoryTask task) {
		this.pending.remove(task);
		this.suspects.remove(task);
		this.running.remove(task);
		this.dead.remove(task);
	}

	/**
	 * Takes the key of a task, if there is one.
	 * @return {@code false} if another task holds the key
	 */
	boolean takeKey(InMemoryTask task) {
		return task.key == null || this.byKey.merge(HeldKey.of(task), task, (holder, other) -> holder) == task;
	}

	private void giveUpKey(InMemoryTask task) {
		this.byKey.remove(HeldKey.of(task), task);
	}

	/**
	 * The time after a duration, rounded up to milliseconds.
	 */
	static long after(long time, Duration duration) {
		return DueTime.after(duration).resolve(time);
	}

	/**
	 * Tasks in the order of the times by which claims find them.
	 */
	static final class ByTime extends TreeSet<InMemoryTask> {

		private static final long serialVersionUID = 1L;

		ByTime() {
			super(Comparator.<InMemoryTask>comparingLong((task) -> task.nextAt).thenComparing((task) -> task.number));
		}

		/**
		 * The tasks that claims find until a time, the earliest first.
		 */
		Stream<InMemoryTask> until(long time) {
			return stream().takeWhile((task) -> task.nextAt <= time);
		}

		/**
		 * The tasks that claims find after a time, the earliest first.
		 */
		Stream<InMemoryTask> after(long time) {
			InMemoryTask last = new InMemoryTask("", "", null, "", null);
			last.nextAt = time;
			last.number = Long.MAX_VALUE;
			return tailSet(last).stream();
		}

	}

	/**
	 * A key that at most one task holds. The keys of schedules have nothing to do with
	 * those of tasks that run once.
	 */
	private record HeldKey(String name, @Nullable String key, boolean schedule) {

		static HeldKey of(InMemoryTask task) {
			return new HeldKey(task.name, task.key, task.schedule != null);
		}

	}

	/**
	 * What a node has reported.
	 *
	 * @param state its state
	 * @param at when it came
	 */
	record Report(NodeState state, long at) {

	}

}
