package io.timingwheel.spring.actuate.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The durable tasks of all nodes, as operators see and change them. The names of tasks
 * include the earlier names of their methods. Without a store there is no bean of this
 * type. Thread-safe.
 *
 * <p>
 * If the store cannot be reached, its exception goes to the caller. What is at most a few
 * seconds old never fails.
 *
 * @since 0.1
 */
public interface StoredTasks {

	/**
	 * This node, and the other nodes of the store.
	 * @return always the same object
	 */
	StoreNode node();

	/**
	 * Counts the tasks.
	 * @return always the same object
	 */
	Counts counts();

	/**
	 * Changes dead tasks.
	 * @return always the same object
	 */
	Dead dead();

	/**
	 * Whether this application has a durable method of a name.
	 * @param name the name
	 * @return whether it is known here
	 */
	boolean owns(String name);

	/**
	 * Reads a page of the pending tasks of a name.
	 * @param name the name
	 * @param after the last task of the page before, {@code null} for the first page
	 * @param limit how many at most
	 * @return the tasks, the one that is due first comes first; fewer than the limit only
	 * if there are no more
	 */
	List<StoredTaskDetails> pending(String name, @Nullable Position after, int limit);

	/**
	 * Reads the dead tasks of a name.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, the one that died last comes first
	 */
	List<StoredTaskDetails> dead(String name, int limit);

	/**
	 * Finds a task.
	 * @param name its name, which a user may have made up
	 * @param keyOrId the key of a pending task, or the id of a task in any state
	 * @return the task, empty if there is none
	 */
	Optional<StoredTaskDetails> find(String name, String keyOrId);

	/**
	 * Cancels a pending task, or deletes a dead one.
	 * @param name its name, which a user may have made up
	 * @param keyOrId the key of a pending task, or the id
	 * @return whether there was such a task
	 */
	boolean cancel(String name, String keyOrId);

	/**
	 * Moves a pending task.
	 * @param name its name, which a user may have made up
	 * @param keyOrId its key or id
	 * @param delay how long from now
	 * @return the result
	 */
	Change reschedule(String name, String keyOrId, Duration delay);

	/**
	 * Makes a dead task pending again, due now.
	 * @param name its name
	 * @param id its id
	 * @return the result
	 */
	Change requeue(String name, String id);

	/**
	 * Counts the tasks.
	 *
	 * @since 0.1
	 */
	interface Counts {

		/**
		 * Counts the tasks of each name. While the store is known not to answer, these
		 * are the latest counts.
		 * @return the counts by name, of all names that have a task or a method here
		 */
		Map<String, StoredTaskCounts> all();

		/**
		 * Counts the tasks of one name, maybe more exactly than {@link #all()}.
		 * @param name the name
		 * @return the counts, {@code null} if the name has no task and no method here
		 */
		@Nullable StoredTaskCounts of(String name);

		/**
		 * The counts of {@link #all()}, at most a few seconds old.
		 * @return the counts by name
		 */
		Map<String, StoredTaskCounts> recent();

		/**
		 * Counts the pending tasks that this node has no handler for.
		 * @return the number, at most a few seconds old
		 */
		long unknown();

		/**
		 * Counts how many pending tasks fall due in equal spans of the time ahead.
		 * @param span the length of a span, at least a millisecond
		 * @param spans the number of spans
		 * @param maxNames for how many names at most, those with the most pending tasks
		 * @return the counts by name
		 */
		Map<String, Due> forecast(Duration span, int spans, int maxNames);

	}

	/**
	 * Requeues and deletes dead tasks, and groups them by their errors.
	 *
	 * @since 0.1
	 */
	interface Dead {

		/**
		 * Reads dead tasks of a name, grouped by their errors, those that died last
		 * first.
		 * @param name the name
		 * @param cursor the cursor of the groups before, {@code null} for the latest
		 * deaths
		 * @return the groups
		 * @throws IllegalArgumentException if there is no such cursor
		 */
		DeadGroups byError(String name, @Nullable String cursor);

		/**
		 * Makes dead tasks of a name pending again, in one bounded step. Those that died
		 * first come first.
		 * @param name the name
		 * @param which which dead tasks
		 * @param cursor the cursor of the step before, {@code null} for the first step
		 * @return the result
		 * @throws IllegalArgumentException if there is no such group or cursor
		 */
		DeadStep requeueAll(String name, DeadSelection which, @Nullable String cursor);

		/**
		 * Deletes dead tasks of a name, in one bounded step. Those that died first come
		 * first.
		 * @param name the name
		 * @param which which dead tasks
		 * @param cursor the cursor of the step before, {@code null} for the first step
		 * @return the result
		 * @throws IllegalArgumentException if there is no such group or cursor
		 */
		DeadStep deleteAll(String name, DeadSelection which, @Nullable String cursor);

	}

	/**
	 * A place in the order in which tasks are due. It stays valid when its task is gone.
	 *
	 * @param dueAt when the task is due
	 * @param id the id of the task
	 * @since 0.1
	 */
	record Position(Instant dueAt, String id) {

	}

	/**
	 * How many tasks of a name fall due.
	 *
	 * @param counts the counts of the spans from the first one on. There are fewer counts
	 * than spans if counting the rest would have taken too long
	 * @param estimated whether the counts were estimated from a sample
	 * @since 0.1
	 */
	record Due(List<Long> counts, boolean estimated) {

	}

	/**
	 * Which dead tasks of a name an operator means.
	 *
	 * @param text text that their errors contain, {@code null} for any error
	 * @param group the id of a group, {@code null} for all groups
	 * @since 0.1
	 */
	record DeadSelection(@Nullable String text, @Nullable String group) {

	}

	/**
	 * The result of one step that requeues or deletes dead tasks.
	 *
	 * @param affected how many tasks it has requeued or deleted
	 * @param skipped how many tasks stay dead because their keys have pending tasks
	 * @param remaining whether there may be more tasks for another step
	 * @param cursor where the next step goes on, {@code null} if nothing remains
	 * @since 0.1
	 */
	record DeadStep(int affected, int skipped, boolean remaining, @Nullable String cursor) {

	}

	/**
	 * The result of a change of a task.
	 *
	 * @since 0.1
	 */
	enum Change {

		/** The task is changed. */
		DONE,

		/** There is no such task, or the task that was to be requeued is not dead. */
		NOT_FOUND,

		/** The task is running or dead, and stays as it is. */
		NOT_PENDING,

		/** The task stays dead, because its key has a pending task. */
		KEY_PENDING

	}

}
