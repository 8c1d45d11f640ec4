package io.timingwheel.spring.durable.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor.State;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot.Position;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/** The stored tasks, as the endpoints, meters and the console know them. Thread-safe. */
public record OperatedTasks(DurableTasks tasks, DurableHandlers handlers, DurableNode node, TaskCounts counts,
		DeadTasks dead) implements StoredTasks {

	@Override
	public boolean owns(String name) {
		return this.tasks.owns(name);
	}

	@Override
	public List<TaskDescriptor> pending(String name, @Nullable Position after, int limit) {
		return shown(name, Order.PENDING, place(after), limit);
	}

	static StoredTask.@Nullable Position place(@Nullable Position position) {
		return (position != null) ? new StoredTask.Position(position.dueAt().toEpochMilli(), position.id()) : null;
	}

	@Override
	public List<TaskDescriptor> dead(String name, int limit) {
		return shown(name, Order.DEAD_LATEST_FIRST, null, limit);
	}

	private List<TaskDescriptor> shown(String name, Order order, StoredTask.@Nullable Position after, int limit) {
		return this.node.list(new ListQuery(name, order, after, limit)).tasks().stream().map(this::shown).toList();
	}

	private TaskDescriptor shown(StoredTask task) {
		TaskDescriptor shown = new TaskDescriptor(task.id(), task.name(), task.key(),
				Instant.ofEpochMilli(task.dueAt()), switch (task.state()) {
					case SCHEDULED, LEASED -> State.PENDING;
					case RUNNING -> State.RUNNING;
					case DEAD -> State.DEAD;
				}, task.attempt(), task.deliveries(), task.error(), null, null, owns(task.name()) ? null : Boolean.TRUE,
				(task.diedAt() != null) ? Instant.ofEpochMilli(task.diedAt()) : null);
		StoredSchedule schedule = task.schedule();
		return (schedule != null) ? shown.withSchedule(schedule.text(), Instant.ofEpochMilli(schedule.scheduledAt()))
				: shown;
	}

	@Override
	public Optional<TaskDescriptor> find(String name, String keyOrId) {
		return id(name, keyOrId).flatMap(this.tasks::findStored).or(() -> byId(name, keyOrId)).map(this::shown);
	}

	/** Nothing if no task can have such a name. */
	private static Optional<TaskId> id(String name, String key) {
		return (StringUtils.hasText(name) && name.indexOf('/') < 0) ? Optional.of(new TaskId(name, key))
				: Optional.empty();
	}

	private Optional<StoredTask> byId(String name, String id) {
		return this.tasks.findStored(id)
			.filter((task) -> this.handlers.canonicalName(name).equals(this.handlers.canonicalName(task.name())));
	}

	@Override
	public boolean cancel(String name, String keyOrId) {
		return id(name, keyOrId).filter(this.tasks::cancel).isPresent()
				|| byId(name, keyOrId).filter(this::cancelOrDelete).isPresent();
	}

	private boolean cancelOrDelete(StoredTask task) {
		return (task.state() == StoredTask.State.DEAD) ? this.node.deleteDead(task.id())
				: this.tasks.handle(task).cancel(false);
	}

	@Override
	public Change reschedule(String name, String keyOrId, Duration delay) {
		if (id(name, keyOrId).filter((id) -> this.tasks.reschedule(id, delay)).isPresent()) {
			return Change.DONE;
		}
		return byId(name, keyOrId).map((task) -> this.tasks.handle(task).reschedule(delay))
			.map((done) -> done ? Change.DONE : Change.NOT_PENDING)
			.orElse(Change.NOT_FOUND);
	}

	@Override
	public Change requeue(String name, String id) {
		return byId(name, id).isEmpty() ? Change.NOT_FOUND : switch (this.node.requeueDead(id)) {
			case REQUEUED -> Change.DONE;
			case NOT_DEAD -> Change.NOT_FOUND;
			case KEY_PENDING -> Change.KEY_PENDING;
		};
	}

}
