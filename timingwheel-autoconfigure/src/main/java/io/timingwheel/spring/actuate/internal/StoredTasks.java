package io.timingwheel.spring.actuate.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
	 * The pending tasks of a name after a place, {@code null} for the first page. The one
	 * that is due first comes first. Fewer than the limit only if there are no more.
	 */
	List<StoredTaskDetails> pending(String name, @Nullable Position after, int limit);

	/** The dead tasks of a name. The one that died last comes first. */
	List<StoredTaskDetails> dead(String name, int limit);

	/** Finds a pending task by its key, or a task in any state by its id. */
	Optional<StoredTaskDetails> find(String name, String keyOrId);

	/** Cancels a pending task, or deletes a dead one. Returns whether there was one. */
	boolean cancel(String name, String keyOrId);

	/** Moves a pending task to a delay from now. */
	Change reschedule(String name, String keyOrId, Duration delay);

	/** Makes a dead task pending again, due now. */
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
	 * Requeues and deletes dead tasks, and groups them by their errors. A cursor is that
	 * of the step or page before, {@code null} for the first one. A group or cursor that
	 * does not exist is an {@link IllegalArgumentException}.
	 */
	interface Dead {

		/** The latest deaths first. */
		DeadGroups byError(String name, @Nullable String cursor);

		/** One bounded step, the earliest deaths first. */
		DeadStep requeueAll(String name, DeadSelection which, @Nullable String cursor);

		/** One bounded step, the earliest deaths first. */
		DeadStep deleteAll(String name, DeadSelection which, @Nullable String cursor);

	}

	/**
	 * A place in the order in which tasks are due. It stays valid when its task is gone.
	 */
	record Position(Instant dueAt, String id) {

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

	/**
	 * How many dead tasks one step has requeued or deleted, how many stay dead because
	 * their keys have pending tasks, and where the next step goes on, {@code null} if
	 * nothing remains.
	 */
	record DeadStep(int affected, int skipped, boolean remaining, @Nullable String cursor) {

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
