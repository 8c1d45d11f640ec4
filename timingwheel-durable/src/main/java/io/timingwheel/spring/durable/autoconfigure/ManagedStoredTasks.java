package io.timingwheel.spring.durable.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.support.DeadByError;
import io.timingwheel.spring.durable.support.DeadFilter;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.durable.support.NodeFigures;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.StringUtils;

/**
 * The tasks of a {@link DurableTaskManager}. Thread-safe.
 */
final class ManagedStoredTasks implements StoredTasks, StoreNode {

	private final DurableTaskManager tasks;

	private final String storeName;

	ManagedStoredTasks(DurableTaskManager tasks, DelayedTaskStore store) {
		this.tasks = tasks;
		this.storeName = AopUtils.getTargetClass(store).getSimpleName();
	}

	@Override
	public String storeName() {
		return this.storeName;
	}

	@Override
	public StoreNode node() {
		return this;
	}

	@Override
	public boolean owns(String name) {
		return this.tasks.owns(name);
	}

	@Override
	public Map<String, StoredTaskCounts> counts() {
		return neutral(this.tasks.storedTasks().counts());
	}

	@Override
	public @Nullable StoredTaskCounts counts(String name) {
		StoredCounts counts = this.tasks.storedTasks().counts(name);
		return (counts != null) ? neutral(counts) : null;
	}

	@Override
	public Map<String, StoredTaskCounts> recentCounts() {
		return neutral(this.tasks.storedTasks().recentCounts());
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
		return this.tasks.storedTasks().unknownCount();
	}

	@Override
	public List<StoredTaskDetails> pending(String name, @Nullable Position after, int limit) {
		StoredTask.Position position = (after != null)
				? new StoredTask.Position(after.dueAt().toEpochMilli(), after.id()) : null;
		return this.tasks.storedTasks().pending(name, position, limit).stream().map(this::neutral).toList();
	}

	@Override
	public List<StoredTaskDetails> dead(String name, int limit) {
		return this.tasks.storedTasks().dead(name, limit).stream().map(this::neutral).toList();
	}

	private StoredTaskDetails neutral(StoredTask task) {
		StoredSchedule schedule = task.schedule();
		return new StoredTaskDetails(task.id(), task.name(), task.key(), Instant.ofEpochMilli(task.dueAt()),
				StoredTaskDetails.State.valueOf(task.state().name()), task.attempt(), task.deliveries(), task.error(),
				(schedule != null)
						? new StoredTaskDetails.Times(schedule.text(), Instant.ofEpochMilli(schedule.scheduledAt()))
						: null,
				(task.diedAt() != null) ? Instant.ofEpochMilli(task.diedAt()) : null, !this.tasks.owns(task.name()));
	}

	@Override
	public Optional<StoredTaskDetails> find(String name, String keyOrId) {
		if (!isName(name)) {
			return Optional.empty();
		}
		return this.tasks.find(new TaskId(name, keyOrId))
			.map(DelayedTask::id)
			.flatMap(this.tasks.storedTasks()::find)
			.or(() -> byId(name, keyOrId))
			.map(this::neutral);
	}

	/**
	 * Whether a task can have a name.
	 */
	private static boolean isName(String name) {
		return StringUtils.hasText(name) && name.indexOf('/') < 0;
	}

	private Optional<StoredTask> byId(String name, String id) {
		return this.tasks.storedTasks().find(id).filter((task) -> this.tasks.isSame(name, task.name()));
	}

	@Override
	public Map<String, Due> forecast(Duration span, int spans, int maxNames) {
		Map<String, Due> forecast = new LinkedHashMap<>();
		this.tasks.storedTasks()
			.forecast(span, spans, maxNames)
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
		return (task.state() == StoredTask.State.DEAD) ? this.tasks.deadTasks().delete(keyOrId)
				: this.tasks.cancel(name, keyOrId);
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
		return this.tasks.reschedule(name, keyOrId, delay) ? Change.DONE : Change.NOT_PENDING;
	}

	@Override
	public Change requeue(String name, String id) {
		return byId(name, id).isEmpty() ? Change.NOT_FOUND : switch (this.tasks.deadTasks().requeue(id)) {
			case REQUEUED -> Change.DONE;
			case NOT_DEAD -> Change.NOT_FOUND;
			case KEY_PENDING -> Change.KEY_PENDING;
		};
	}

	@Override
	public DeadGroups deadByError(String name, @Nullable String cursor) {
		DeadByError dead = this.tasks.deadTasks().byError(name, cursor);
		return new DeadGroups(dead.groups()
			.stream()
			.map((group) -> new DeadGroups.Group(group.error(), group.group(), group.count(), group.first(),
					group.last(), group.id()))
			.toList(), dead.examined(), dead.complete(), dead.cursor());
	}

	@Override
	public DeadStep requeueDead(String name, DeadSelection which, @Nullable String cursor) {
		return neutral(this.tasks.deadTasks().requeueAll(name, filter(which), cursor));
	}

	@Override
	public DeadStep deleteDead(String name, DeadSelection which, @Nullable String cursor) {
		return neutral(this.tasks.deadTasks().deleteAll(name, filter(which), cursor));
	}

	private static DeadFilter filter(DeadSelection which) {
		return (which.group() != null) ? DeadFilter.inGroup(which.group())
				: (which.text() != null) ? DeadFilter.containing(which.text()) : DeadFilter.ALL;
	}

	private static DeadStep neutral(io.timingwheel.spring.durable.support.DeadStep step) {
		return new DeadStep(step.affected(), step.skipped(), step.remaining(), step.cursor());
	}

	@Override
	public boolean isPaused(String name) {
		return this.tasks.isPaused(name);
	}

	@Override
	public boolean isPausedByPolicy(String name) {
		return this.tasks.isPausedByPolicy(name);
	}

	@Override
	public void setPaused(String name, boolean paused) {
		this.tasks.setPaused(name, paused);
	}

	@Override
	public void pause() {
		this.tasks.pause();
	}

	@Override
	public void resume() {
		this.tasks.resume();
	}

	@Override
	public boolean isClaiming() {
		return this.tasks.isClaiming();
	}

	@Override
	public int inFlight() {
		return this.tasks.inFlight();
	}

	@Override
	public Figures figures() {
		NodeFigures figures = this.tasks.figures();
		return new Figures(figures.claims(), figures.claimed(), figures.retried(), figures.released(),
				figures.refusedBegins(), figures.lostLeases(), figures.expiredDead(), this.tasks.deadTasks().dropped());
	}

	@Override
	public @Nullable Outage outage() {
		Throwable error = this.tasks.storeError().orElse(null);
		if (error == null) {
			return null;
		}
		Set<String> missing = this.tasks.missingStoreParts();
		return new Outage(error, this.tasks.storeDownSince().orElse(null), missing);
	}

	@Override
	public List<Reported> nodes() {
		return this.tasks.nodes()
			.stream()
			.map((node) -> new Reported(node.state().nodeId(), node.state().nodeId().equals(this.tasks.nodeId()),
					node.state().claiming(), node.state().inFlight(), node.age()))
			.toList();
	}

	@Override
	public Duration reportInterval() {
		return this.tasks.reportInterval();
	}

}
