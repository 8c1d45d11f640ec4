package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint.NodeDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TaskChange;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/**
 * The stored tasks as {@link DelayedTasksEndpoint} uses them. Without a store there are
 * no stored tasks to read, and requests that need a store are refused.
 */
final class EndpointStore {

	private final @Nullable StoredTasks tasks;

	EndpointStore(@Nullable StoredTasks tasks) {
		this.tasks = tasks;
	}

	/**
	 * The stored tasks, for a request that needs a store.
	 * @throws InvalidEndpointRequestException if there is no store
	 */
	private StoredTasks required() {
		if (this.tasks == null) {
			throw new InvalidEndpointRequestException("There is no store",
					"There are no durable tasks: timingwheel.store.type is not set");
		}
		return this.tasks;
	}

	/**
	 * This node, for a request that needs a store.
	 * @throws InvalidEndpointRequestException if there is no store
	 */
	StoreNode node() {
		return required().node();
	}

	Map<String, StoredTaskCounts> counts() {
		return (this.tasks != null) ? this.tasks.counts().all() : Map.of();
	}

	/**
	 * The counts of one name, {@code null} if its tasks are not stored.
	 */
	@Nullable StoredTaskCounts counts(String name) {
		return (this.tasks != null) ? this.tasks.counts().of(name) : null;
	}

	/**
	 * The nodes of the store, {@code null} without a store.
	 */
	@Nullable List<NodeDescriptor> nodes() {
		return (this.tasks != null) ? this.tasks.node().nodes().stream().map(NodeDescriptor::of).toList() : null;
	}

	ForecastDescriptor forecast(String period, DelayedTaskRegistry inMemory) {
		return ForecastDescriptor.read(period, inMemory, this.tasks);
	}

	/**
	 * Whether stored tasks have a name. The names of other nodes are at most a few
	 * seconds old.
	 */
	boolean isKnown(String name) {
		return this.tasks != null && (this.tasks.owns(name) || this.tasks.counts().recent().containsKey(name));
	}

	List<TaskDescriptor> pending(String name, @Nullable PendingCursor after, int limit) {
		return required().pending(name, (after != null) ? after.inStore() : null, limit)
			.stream()
			.map(TaskDescriptor::of)
			.toList();
	}

	/**
	 * The dead tasks of a name, grouped by their errors.
	 */
	DeadGroups deadByError(String name, @Nullable String cursor) {
		return checked((tasks) -> tasks.dead().byError(name, cursor));
	}

	/**
	 * Requeues dead tasks of a name, in one bounded step.
	 */
	StoredTasks.DeadStep requeueDead(String name, StoredTasks.DeadSelection which, @Nullable String cursor) {
		return checked((tasks) -> tasks.dead().requeueAll(name, which, cursor));
	}

	/**
	 * Deletes dead tasks of a name, in one bounded step.
	 */
	StoredTasks.DeadStep deleteDead(String name, StoredTasks.DeadSelection which, @Nullable String cursor) {
		return checked((tasks) -> tasks.dead().deleteAll(name, which, cursor));
	}

	/**
	 * Makes a request with a group or a cursor, which a user may have made up.
	 */
	private <T> T checked(Function<StoredTasks, T> request) {
		try {
			return request.apply(required());
		}
		catch (IllegalArgumentException ex) {
			throw DelayedTasksEndpoint.invalid(String.valueOf(ex.getMessage()), ex);
		}
	}

	List<TaskDescriptor> dead(String name, int limit) {
		return required().dead(name, limit).stream().map(TaskDescriptor::of).toList();
	}

	Optional<TaskDescriptor> find(String name, String keyOrId) {
		return (this.tasks != null) ? this.tasks.find(name, keyOrId).map(TaskDescriptor::of) : Optional.empty();
	}

	boolean isPaused(String name) {
		return node().isPaused(name);
	}

	/**
	 * Whether a property pauses stored tasks on this node.
	 */
	boolean isPausedByPolicy(String name) {
		return isKnown(name) && node().isPausedByPolicy(name);
	}

	/**
	 * Pauses or resumes a name for all nodes.
	 * @return {@code true}
	 */
	boolean setPaused(String name, boolean paused) {
		try {
			node().setPaused(name, paused);
			return true;
		}
		catch (UnsupportedOperationException ex) {
			throw DelayedTasksEndpoint.invalid(String.valueOf(ex.getMessage()));
		}
	}

	boolean cancel(String name, String keyOrId) {
		return this.tasks != null && this.tasks.cancel(name, keyOrId);
	}

	TaskChange requeue(String name, String id) {
		return TaskChange.of(required().requeue(name, id));
	}

	/**
	 * Moves a pending task.
	 */
	TaskChange reschedule(String name, String keyOrId, Duration delay) {
		return (this.tasks != null) ? TaskChange.of(this.tasks.reschedule(name, keyOrId, delay)) : TaskChange.NOT_FOUND;
	}

}
