package io.timingwheel.spring.actuate;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import io.timingwheel.spring.task.DelayedTasks;
import io.timingwheel.spring.task.PendingTask;
import io.timingwheel.spring.task.TaskCounts;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;

/**
 * {@code /actuator/delayedtasks}: the figures of the delayed tasks by their name, and the
 * pending ones. Arguments are never shown. Keys may hold slashes; where a path cannot
 * carry a key, as it begins or ends with one or holds two in a row, the id does.
 */
@Endpoint(id = "delayedtasks", defaultAccess = Access.READ_ONLY)
public class DelayedTasksEndpoint {

	/** How many pending tasks of a name are listed. */
	static final int LIMIT = 100;

	private final DelayedTasks tasks;

	/**
	 * Creates the endpoint.
	 * @param tasks the tasks to show
	 */
	public DelayedTasksEndpoint(DelayedTasks tasks) {
		this.tasks = tasks;
	}

	/**
	 * The figures of all names.
	 * @return the figures by name
	 */
	@ReadOperation
	public TasksDescriptor tasks() {
		Map<String, CountsDescriptor> counts = new TreeMap<>();
		for (String name : this.tasks.names()) {
			counts.put(name, CountsDescriptor.of(this.tasks.counts(name)));
		}
		return new TasksDescriptor(counts);
	}

	/**
	 * The pending tasks of a name that are due first.
	 * @param name the name
	 * @return up to 100 of them, {@code null} if the name is not known
	 */
	@ReadOperation
	public @Nullable NameDescriptor tasksOfName(@Selector String name) {
		if (!this.tasks.names().contains(name)) {
			return null;
		}
		List<TaskDescriptor> next = this.tasks.pending(name, LIMIT).stream().map(TaskDescriptor::of).toList();
		return new NameDescriptor(name, CountsDescriptor.of(this.tasks.counts(name)), next);
	}

	/**
	 * A pending task.
	 * @param name its name
	 * @param keyOrId its key or its id, split at slashes
	 * @return the task, {@code null} if none is pending
	 */
	@ReadOperation
	public @Nullable TaskDescriptor task(@Selector String name,
			@Selector(match = Match.ALL_REMAINING) String... keyOrId) {
		return this.tasks.find(name, String.join("/", keyOrId)).map(TaskDescriptor::of).orElse(null);
	}

	/**
	 * Cancels a pending task.
	 * @param name its name
	 * @param keyOrId its key or its id, split at slashes
	 * @return whether one was pending
	 */
	@DeleteOperation
	public boolean cancel(@Selector String name, @Selector(match = Match.ALL_REMAINING) String... keyOrId) {
		return this.tasks.cancel(name, String.join("/", keyOrId));
	}

	/**
	 * The figures of all names.
	 *
	 * @param tasks the figures by name
	 */
	public record TasksDescriptor(Map<String, CountsDescriptor> tasks) implements OperationResponseBody {

	}

	/**
	 * The figures of one name.
	 *
	 * @param durable whether its tasks are stored
	 * @param pending how many have not begun
	 * @param running how many have begun and not ended
	 * @param completed how many ended with a result
	 * @param failed how many ended with an exception
	 * @param cancelled how many were called off
	 * @param expired how many were too late to be started
	 * @param overdue how many stored tasks should have begun
	 * @param dead how many stored tasks are given up
	 */
	public record CountsDescriptor(boolean durable, long pending, long running, long completed, long failed,
			long cancelled, long expired, long overdue, long dead) {

		static CountsDescriptor of(TaskCounts counts) {
			return new CountsDescriptor(false, counts.pending(), counts.running(), counts.completed(), counts.failed(),
					counts.cancelled(), counts.expired(), 0, 0);
		}

	}

	/**
	 * The figures of a name and what is due next.
	 *
	 * @param name the name
	 * @param counts its figures
	 * @param next the pending tasks that are due first
	 */
	public record NameDescriptor(String name, CountsDescriptor counts,
			List<TaskDescriptor> next) implements OperationResponseBody {

	}

	/**
	 * A pending task.
	 *
	 * @param id names this scheduling alone
	 * @param name the task's name
	 * @param key its key, {@code null} if it has none
	 * @param dueAt when it is due
	 */
	public record TaskDescriptor(String id, String name, @JsonInclude(Include.ALWAYS) @Nullable String key,
			Instant dueAt) implements OperationResponseBody {

		static TaskDescriptor of(PendingTask task) {
			return new TaskDescriptor(task.id(), task.name(), task.key(), task.dueAt());
		}

	}

}
