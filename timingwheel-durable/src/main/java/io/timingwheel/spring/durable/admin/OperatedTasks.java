package io.timingwheel.spring.durable.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * The stored tasks, as the endpoints, meters and the console know them. Thread-safe.
 *
 * @since 0.1
 */
public final class OperatedTasks implements StoredTasks {

	private final DurableTasks tasks;

	private final DurableHandlers handlers;

	private final OperatedNode node;

	private final TaskCounts counts;

	private final TaskPages pages;

	private final DeadTasks dead;

	/**
	 * Creates an object for operators.
	 * @param tasks finds, cancels and moves tasks
	 * @param handlers the methods of this application
	 * @param node this node
	 * @param counts counts the tasks
	 * @param pages reads the tasks
	 * @param dead requeues, deletes and groups dead tasks
	 */
	public OperatedTasks(DurableTasks tasks, DurableHandlers handlers, OperatedNode node, TaskCounts counts,
			TaskPages pages, DeadTasks dead) {
		this.tasks = tasks;
		this.handlers = handlers;
		this.node = node;
		this.counts = counts;
		this.pages = pages;
		this.dead = dead;
	}

	@Override
	public String storeName() {
		return this.node.storeName();
	}

	@Override
	public StoreNode node() {
		return this.node;
	}

	@Override
	public boolean owns(String name) {
		return this.tasks.owns(name);
	}

	@Override
	public Map<String, StoredTaskCounts> counts() {
		return neutral(this.counts.all());
	}

	@Override
	public @Nullable StoredTaskCounts counts(String name) {
		StoredCounts counts = this.counts.of(name);
		return (counts != null) ? neutral(counts) : null;
	}

	@Override
	public Map<String, StoredTaskCounts> recentCounts() {
		return neutral(this.counts.recent());
	}

	private static Map<String, StoredTaskCounts> neutral(Map<String, StoredCounts> counts) {
		return counts.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (name) -> neutral(name.getValue())));
	}

	private static StoredTaskCounts neutral(StoredCounts counts) {
		return new StoredTaskCounts(counts.pending(), counts.overdue(), counts.running(), counts.dead(),
				counts.estimated(), counts.waiting());
	}

	@Override
	public long unknownCount() {
		return this.counts.unknown();
	}

	@Override
	public List<StoredTaskDetails> pending(String name, @Nullable Position after, int limit) {
		StoredTask.Position position = (after != null)
				? new StoredTask.Position(after.dueAt().toEpochMilli(), after.id()) : null;
		return this.pages.first(name, Order.PENDING, position, limit).stream().map(this::neutral).toList();
	}

	@Override
	public List<StoredTaskDetails> dead(String name, int limit) {
		return this.pages.first(name, Order.DEAD_LATEST_FIRST, null, limit).stream().map(this::neutral).toList();
	}

	private StoredTaskDetails neutral(StoredTask task) {
		StoredSchedule schedule = task.schedule();
		return new StoredTaskDetails(task.id(), task.name(), task.key(), Instant.ofEpochMilli(task.dueAt()),
				switch (task.state()) {
					case SCHEDULED, LEASED -> StoredTaskDetails.State.PENDING;
					case RUNNING -> StoredTaskDetails.State.RUNNING;
					case DEAD -> StoredTaskDetails.State.DEAD;
				}, task.attempt(), task.deliveries(), task.error(),
				(schedule != null)
						? new StoredTaskDetails.Times(schedule.text(), Instant.ofEpochMilli(schedule.scheduledAt()))
						: null,
				(task.diedAt() != null) ? Instant.ofEpochMilli(task.diedAt()) : null, !owns(task.name()));
	}

	@Override
	public Optional<StoredTaskDetails> find(String name, String keyOrId) {
		return byKeyOrId(name, keyOrId).map(this::neutral);
	}

	private Optional<StoredTask> byKeyOrId(String name, String keyOrId) {
		return isName(name) ? this.tasks.findStored(new TaskId(name, keyOrId)).or(() -> byId(name, keyOrId))
				: Optional.empty();
	}

	/**
	 * Whether a task can have a name.
	 */
	private static boolean isName(String name) {
		return StringUtils.hasText(name) && name.indexOf('/') < 0;
	}

	private Optional<StoredTask> byId(String name, String id) {
		return this.tasks.findStored(id)
			.filter((task) -> this.handlers.canonicalName(name).equals(this.handlers.canonicalName(task.name())));
	}

	@Override
	public Map<String, Due> forecast(Duration span, int spans, int maxNames) {
		Map<String, Due> forecast = new LinkedHashMap<>();
		this.counts.forecast(span, spans, maxNames)
			.names()
			.forEach((name, due) -> forecast.put(name, new Due(due.counts(), due.estimated())));
		return forecast;
	}

	@Override
	public boolean cancel(String name, String keyOrId) {
		if (!isName(name)) {
			return false;
		}
		if (this.tasks.cancel(new TaskId(name, keyOrId))) {
			return true;
		}
		StoredTask task = byId(name, keyOrId).orElse(null);
		if (task == null) {
			return false;
		}
		return (task.state() == StoredTask.State.DEAD) ? this.dead.delete(keyOrId) : this.tasks.cancel(name, keyOrId);
	}

	@Override
	public Change reschedule(String name, String keyOrId, Duration delay) {
		if (!isName(name)) {
			return Change.NOT_FOUND;
		}
		if (this.tasks.reschedule(new TaskId(name, keyOrId), delay)) {
			return Change.DONE;
		}
		if (byId(name, keyOrId).isEmpty()) {
			return Change.NOT_FOUND;
		}
		return this.tasks.reschedule(keyOrId, delay) ? Change.DONE : Change.NOT_PENDING;
	}

	@Override
	public Change requeue(String name, String id) {
		return byId(name, id).isEmpty() ? Change.NOT_FOUND : switch (this.dead.requeue(id)) {
			case REQUEUED -> Change.DONE;
			case NOT_DEAD -> Change.NOT_FOUND;
			case KEY_PENDING -> Change.KEY_PENDING;
		};
	}

	@Override
	public DeadGroups deadByError(String name, @Nullable String cursor) {
		return this.dead.byError(name, cursor);
	}

	@Override
	public DeadStep requeueDead(String name, DeadSelection which, @Nullable String cursor) {
		return this.dead.requeueAll(name, which, cursor);
	}

	@Override
	public DeadStep deleteDead(String name, DeadSelection which, @Nullable String cursor) {
		return this.dead.deleteAll(name, which, cursor);
	}

	@Override
	public boolean isPaused(String name) {
		return this.node.isPaused(name);
	}

	@Override
	public boolean isPausedByPolicy(String name) {
		return this.node.isPausedByPolicy(name);
	}

	@Override
	public void setPaused(String name, boolean paused) {
		this.node.setPaused(name, paused);
	}

}
