package io.timingwheel.spring.actuate;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TaskDescriptor;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

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
		return (this.tasks != null) ? this.tasks.counts() : Map.of();
	}

	/**
	 * Whether stored tasks have a name. The names of other nodes are at most a few
	 * seconds old.
	 */
	boolean isKnown(String name) {
		return this.tasks != null && (this.tasks.owns(name) || this.tasks.recentCounts().containsKey(name));
	}

	List<TaskDescriptor> pending(String name, int limit) {
		return required().pending(name, limit).stream().map(TaskDescriptor::of).toList();
	}

	List<TaskDescriptor> dead(String name, int limit) {
		return required().dead(name, limit).stream().map(TaskDescriptor::of).toList();
	}

	Optional<TaskDescriptor> find(String name, String keyOrId) {
		if (this.tasks == null) {
			return Optional.empty();
		}
		DurableTaskManager tasks = this.tasks;
		return tasks.find(new TaskId(name, keyOrId))
			.map(DelayedTask::id)
			.flatMap(tasks::find)
			.or(() -> byId(name, keyOrId))
			.map(TaskDescriptor::of);
	}

	boolean cancel(String name, String keyOrId) {
		if (this.tasks == null) {
			return false;
		}
		if (this.tasks.cancel(new TaskId(name, keyOrId))) {
			return true;
		}
		StoredTask task = byId(name, keyOrId).orElse(null);
		if (task == null) {
			return false;
		}
		return (task.state() == State.DEAD) ? this.tasks.discard(keyOrId) : this.tasks.cancel(name, keyOrId);
	}

	Requeue requeue(String name, String id) {
		required();
		return byId(name, id).isPresent() ? required().requeue(id) : Requeue.NOT_DEAD;
	}

	private Optional<StoredTask> byId(String name, String id) {
		return required().find(id).filter((task) -> required().isSame(name, task.name()));
	}

}
