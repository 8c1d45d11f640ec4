package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import org.jspecify.annotations.Nullable;

/**
 * What all nodes share: the tasks, and what the store knows of names and nodes. The
 * changes that several calls have in common are here. Each call holds the lock of this
 * object.
 */
final class InMemoryTasks {

	/** In the order in which they were inserted. */
	private final Map<String, InMemoryTask> byId = new LinkedHashMap<>();

	/** The pending tasks that run once, and all tasks with a schedule. */
	private final Map<HeldKey, InMemoryTask> byKey = new HashMap<>();

	/** The names that are paused. */
	final Set<String> paused = new HashSet<>();

	/** The names whose declared schedule was cancelled. */
	final Set<String> marks = new HashSet<>();

	/** When the next start of a name is due by its rate, in microseconds. */
	final Map<String, Long> nextStarts = new HashMap<>();

	final Map<String, Report> reports = new HashMap<>();

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

	/**
	 * The pending tasks that have lost no delivery, the one that is found first first.
	 */
	Stream<InMemoryTask> pending() {
		return byNextAt((task) -> task.state.isPending() && task.lost == 0);
	}

	/** The pending tasks that have lost a delivery, in the same order. */
	Stream<InMemoryTask> suspects() {
		return byNextAt((task) -> task.state.isPending() && task.lost > 0);
	}

	Stream<InMemoryTask> running() {
		return byNextAt((task) -> task.state == State.RUNNING);
	}

	private Stream<InMemoryTask> byNextAt(Predicate<InMemoryTask> which) {
		return all().filter(which).sorted(Comparator.comparingLong((task) -> task.nextAt));
	}

	/** The dead tasks, the one that died first comes first. */
	Stream<InMemoryTask> dead() {
		return all().filter((task) -> task.state == State.DEAD).sorted(Comparator.comparingLong((task) -> task.diedAt));
	}

	// Changes

	/** None: scheduled. The task takes its key, which is free. */
	void insert(InMemoryTask task, long now) {
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
		task.nextAt = task.dueAt;
		return true;
	}

	/** Scheduled: leased. The lease lasts from the due time, or from now. */
	void lease(InMemoryTask task, long now, Duration lease) {
		task.state = State.LEASED;
		task.raiseFence(now);
		task.nextAt = after(Math.max(task.dueAt, now), lease);
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
	}

	/**
	 * Running, lease over: scheduled, lost + 1. The task does not take its key again. It
	 * is gone if its schedule has ended.
	 */
	void lose(InMemoryTask task, long now) {
		task.state = State.SCHEDULED;
		task.lost++;
		task.raiseFence(now);
		task.nextAt = task.dueAt;
		if (task.ended) {
			delete(task);
		}
	}

	/** Leased or running: dead, without its key. */
	void bury(InMemoryTask task, String reason, long now) {
		giveUpKey(task);
		task.state = State.DEAD;
		task.error = reason;
		task.diedAt = now;
	}

	/** Running with a schedule: running without it. */
	void endSchedule(InMemoryTask task) {
		giveUpKey(task);
		task.schedule = null;
		task.ended = true;
	}

	/** Any state: gone. */
	void delete(InMemoryTask task) {
		giveUpKey(task);
		this.byId.remove(task.id);
	}

	void deleteAll() {
		this.byId.clear();
		this.byKey.clear();
		this.paused.clear();
		this.marks.clear();
		this.nextStarts.clear();
		this.reports.clear();
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

	/** The time after a duration, rounded up to milliseconds. */
	static long after(long time, Duration duration) {
		return DueTime.after(duration).resolve(time);
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
