package io.timingwheel.spring.actuate.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.timingwheel.spring.actuate.internal.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot.Position;
import org.jspecify.annotations.Nullable;

/**
 * The durable tasks of all nodes, as operators see and change them. The names of tasks
 * include the earlier names of their methods, and users may have made them up. If the
 * store cannot be reached, its exception goes to the caller; what is a few seconds old
 * never fails. Without a store there is no bean of this type. Thread-safe.
 */
public interface StoredTasks {

	StoreNode node();

	Counts counts();

	Dead dead();

	/** Whether this application has a durable method of a name. */
	boolean owns(String name);

	/**
	 * The pending tasks of a name after a place, {@code null} for the first page, in the
	 * order in which they are due. Fewer than the limit only if there are no more.
	 */
	List<TaskDescriptor> pending(String name, @Nullable Position after, int limit);

	/** The dead tasks of a name. The one that died last comes first. */
	List<TaskDescriptor> dead(String name, int limit);

	/** Finds a pending task by its key, or a task in any state by its id. */
	Optional<TaskDescriptor> find(String name, String keyOrId);

	/** Cancels a pending task, or deletes a dead one. Returns whether there was one. */
	boolean cancel(String name, String keyOrId);

	Change reschedule(String name, String keyOrId, Duration delay);

	Change requeue(String name, String id);

	interface Counts {

		/**
		 * All names that have a task or a method here. While the store is known not to
		 * answer, these are the latest counts.
		 */
		Map<String, StoredTaskCounts> all();

		/**
		 * Maybe more exact than {@link #all()}; {@code null} if the name has no task and
		 * no method here.
		 */
		@Nullable StoredTaskCounts of(String name);

		/** The counts of {@link #all()}, at most a few seconds old. */
		Map<String, StoredTaskCounts> recent();

		/** How many pending tasks had no handler on this node a few seconds ago. */
		long unknown();

		/**
		 * How many pending tasks fall due in equal spans of the time ahead, each at least
		 * a millisecond, of the names with the most pending tasks.
		 */
		Map<String, Due> forecast(Duration span, int spans, int maxNames);

	}

	/**
	 * Groups dead tasks by their errors, and requeues or deletes them in bounded steps,
	 * the latest deaths first. A cursor is that of the step or page before, {@code null}
	 * for the first one. A group or cursor that does not exist is a
	 * {@link RefusedRequest}.
	 */
	interface Dead {

		DeadDescriptor byError(String name, @Nullable String cursor);

		/** Requeues or deletes dead tasks. */
		StepDescriptor change(String name, boolean requeue, DeadSelection which, @Nullable String cursor);

	}

	/**
	 * How many tasks of a name are stored, by their states. Overdue tasks are pending,
	 * too, and a policy may hold back those of them that wait. Large figures may be
	 * estimates.
	 */
	record StoredTaskCounts(long pending, long overdue, long running, long dead, boolean estimated, long waiting) {

		public static final StoredTaskCounts NONE = new StoredTaskCounts(0, 0, 0, 0, false, 0);

	}

	/**
	 * How many tasks of a name fall due in each span, maybe by a sample. There are fewer
	 * counts than spans if counting the rest would have taken too long.
	 */
	record Due(List<Long> counts, boolean estimated) {

	}

	/** The dead tasks whose errors contain a text, those of a group, or all. */
	record DeadSelection(@Nullable String text, @Nullable String group) {

	}

	enum Change {

		DONE,

		/** There is no such task, or the task that was to be requeued is not dead. */
		NOT_FOUND,

		/** The task is running or dead, and stays as it is. */
		NOT_PENDING,

		/** The task stays dead, because its key has a pending task. */
		KEY_PENDING

	}

}
