package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint.NodeDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TaskChange;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TaskDescriptor;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.support.DeadByError;
import io.timingwheel.spring.durable.support.DeadFilter;
import io.timingwheel.spring.durable.support.DeadStep;
import io.timingwheel.spring.durable.support.DeadTaskEditor;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.util.StringUtils;

/**
 * The store as {@link DelayedTasksEndpoint} uses it. Without a store there are no stored
 * tasks to read, and requests that need a store are refused.
 */
final class EndpointStore {

	private final @Nullable DurableTaskManager tasks;

	EndpointStore(@Nullable DurableTaskManager tasks) {
		this.tasks = tasks;
	}

	/**
	 * The durable tasks, for a request that needs a store.
	 * @throws InvalidEndpointRequestException if there is no store
	 */
	DurableTaskManager required() {
		if (this.tasks == null) {
			throw new InvalidEndpointRequestException("There is no store",
					"There are no durable tasks: timingwheel.store.type is not set");
		}
		return this.tasks;
	}

	Map<String, StoredCounts> counts() {
		return (this.tasks != null) ? this.tasks.storedTasks().counts() : Map.of();
	}

	/**
	 * The counts of one name, {@code null} if its tasks are not stored.
	 */
	@Nullable StoredCounts counts(String name) {
		return (this.tasks != null) ? this.tasks.storedTasks().counts(name) : null;
	}

	/**
	 * The nodes of the store, {@code null} without a store.
	 */
	@Nullable List<NodeDescriptor> nodes() {
		DurableTaskManager tasks = this.tasks;
		return (tasks != null) ? tasks.nodes().stream().map((node) -> NodeDescriptor.of(node, tasks.nodeId())).toList()
				: null;
	}

	ForecastDescriptor forecast(String period, DelayedTaskRegistry inMemory) {
		return ForecastDescriptor.read(period, inMemory, this.tasks);
	}

	/**
	 * Whether stored tasks have a name. The names of other nodes are at most a few
	 * seconds old.
	 */
	boolean isKnown(String name) {
		return this.tasks != null
				&& (this.tasks.owns(name) || this.tasks.storedTasks().recentCounts().containsKey(name));
	}

	List<TaskDescriptor> pending(String name, @Nullable PendingCursor after, int limit) {
		return required().storedTasks()
			.pending(name, (after != null) ? after.inStore() : null, limit)
			.stream()
			.map(this::describe)
			.toList();
	}

	/**
	 * The dead tasks of a name, grouped by their errors.
	 */
	DeadByError deadByError(String name, @Nullable String cursor) {
		return withCursor((dead) -> dead.byError(name, cursor));
	}

	/**
	 * Requeues dead tasks of a name, in one bounded step.
	 */
	DeadStep requeueDead(String name, DeadFilter which, @Nullable String cursor) {
		return withCursor((dead) -> dead.requeueAll(name, which, cursor));
	}

	/**
	 * Deletes dead tasks of a name, in one bounded step.
	 */
	DeadStep deleteDead(String name, DeadFilter which, @Nullable String cursor) {
		return withCursor((dead) -> dead.deleteAll(name, which, cursor));
	}

	/**
	 * Makes a request with a cursor, which a user may have made up.
	 */
	private <T> T withCursor(Function<DeadTaskEditor, T> request) {
		try {
			return request.apply(required().deadTasks());
		}
		catch (IllegalArgumentException ex) {
			throw DelayedTasksEndpoint.invalid(String.valueOf(ex.getMessage()), ex);
		}
	}

	List<TaskDescriptor> dead(String name, int limit) {
		return required().storedTasks().dead(name, limit).stream().map(this::describe).toList();
	}

	private TaskDescriptor describe(StoredTask task) {
		return TaskDescriptor.of(task, !required().owns(task.name()));
	}

	Optional<TaskDescriptor> find(String name, String keyOrId) {
		if (this.tasks == null || !isName(name)) {
			return Optional.empty();
		}
		DurableTaskManager tasks = this.tasks;
		return tasks.find(new TaskId(name, keyOrId))
			.map(DelayedTask::id)
			.flatMap(tasks.storedTasks()::find)
			.or(() -> byId(name, keyOrId))
			.map(this::describe);
	}

	boolean isPaused(String name) {
		return required().isPaused(name);
	}

	/**
	 * Whether a property pauses stored tasks on this node.
	 */
	boolean isPausedByPolicy(String name) {
		return isKnown(name) && required().isPausedByPolicy(name);
	}

	/**
	 * Pauses or resumes a name for all nodes.
	 * @return {@code true}
	 */
	boolean setPaused(String name, boolean paused) {
		try {
			required().setPaused(name, paused);
			return true;
		}
		catch (UnsupportedOperationException ex) {
			throw DelayedTasksEndpoint.invalid(String.valueOf(ex.getMessage()));
		}
	}

	/**
	 * Whether a task can have a name, which a user may have made up.
	 */
	private static boolean isName(String name) {
		return StringUtils.hasText(name) && name.indexOf('/') < 0;
	}

	boolean cancel(String name, String keyOrId) {
		if (this.tasks == null || !isName(name)) {
			return false;
		}
		if (this.tasks.cancel(new TaskId(name, keyOrId))) {
			return true;
		}
		StoredTask task = byId(name, keyOrId).orElse(null);
		if (task == null) {
			return false;
		}
		return (task.state() == State.DEAD) ? this.tasks.deadTasks().delete(keyOrId) : this.tasks.cancel(name, keyOrId);
	}

	TaskChange requeue(String name, String id) {
		required();
		return byId(name, id).isEmpty() ? TaskChange.NOT_FOUND : switch (required().deadTasks().requeue(id)) {
			case REQUEUED -> TaskChange.DONE;
			case NOT_DEAD -> TaskChange.NOT_FOUND;
			case KEY_PENDING -> TaskChange.KEY_PENDING;
		};
	}

	/**
	 * Moves a pending task.
	 */
	TaskChange reschedule(String name, String keyOrId, Duration delay) {
		if (this.tasks == null || !isName(name)) {
			return TaskChange.NOT_FOUND;
		}
		if (this.tasks.reschedule(new TaskId(name, keyOrId), delay)) {
			return TaskChange.DONE;
		}
		if (byId(name, keyOrId).isEmpty()) {
			return TaskChange.NOT_FOUND;
		}
		return this.tasks.reschedule(name, keyOrId, delay) ? TaskChange.DONE : TaskChange.NOT_PENDING;
	}

	private Optional<StoredTask> byId(String name, String id) {
		return required().storedTasks().find(id).filter((task) -> required().isSame(name, task.name()));
	}

}
