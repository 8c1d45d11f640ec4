package io.timingwheel.spring.durable.store;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * Keeps durable tasks and decides which node has them. The table in the description of
 * this package shows the states of a task and all changes between them. A store makes
 * these changes and nothing else.
 *
 * <p>
 * <b>Time.</b> The store decides by its own clock, never by that of a node. Times are
 * milliseconds since the epoch and at most {@link #MAX_TIME}.
 *
 * <p>
 * <b>Ids, fences and keys.</b> Each insert and each replacement makes a new id, which is
 * never used again. Where the table says so, the fence becomes greater than before, and
 * at least the time in microseconds. A message of a node about a task needs the id and
 * the fence of the current lease, so that a node that was stopped for too long changes
 * nothing. A key belongs to at most one pending task of a name.
 *
 * <p>
 * <b>Callers.</b> Calls of applications take part in the transaction of the calling
 * thread if {@link #joinsTransaction()} says so, and may wait for its locks. Those of
 * nodes, from {@link #claim} to {@link #heartbeat}, are outside of any transaction and do
 * not wait for the locks of others: the reply is {@link Reply#BUSY}. Only
 * {@link #settleInTransaction} is part of the body's transaction. A node may repeat its
 * calls, since a reply can get lost. A repeated call changes nothing more and gets the
 * reply {@link Reply#DONE}, unless its description says otherwise.
 *
 * <p>
 * Names and keys fit {@link TaskLimits}, and lists are not empty. Lists of replies and
 * results have the order of the arguments. All methods are thread-safe. They may throw
 * any {@link RuntimeException} if the store cannot be reached. It is then unknown whether
 * the call took effect.
 *
 * @since 0.1
 */
public interface DelayedTaskStore {

	/** Doubles hold all milliseconds up to it. */
	long MAX_TIME = 9_000_000_000_000_000L;

	int MAX_ERROR_LENGTH = 2000;

	int MAX_TRACEPARENT_LENGTH = 55;

	int MAX_SCHEDULE_LENGTH = 255;

	/**
	 * The key of declared schedules. Their cancel leaves a mark (see
	 * {@link NewSchedule#onlyIfLost()}).
	 */
	String DECLARED_KEY = "recurring";

	/** How many dead tasks one call changes at most. More would hold up other calls. */
	int MAX_STEP = 500;

	/** How many nodes {@link #nodes()} gives at most. */
	int MAX_NODES = 100;

	/** How long after its latest heartbeat {@link #nodes()} still gives a node. */
	Duration NODE_RETENTION = Duration.ofMinutes(10);

	// Calls of applications

	/**
	 * Stores tasks as if one after another: the later of two tasks with the same key
	 * finds the earlier one pending. A store with transactions stores all or none; in a
	 * transaction without savepoints the caller has to roll back if this method throws.
	 * @param tasks often a single one, which stores do without the cost of a bulk
	 * @throws PartlyStoredException if a store without transactions has stored some of
	 * the tasks, and knows which
	 */
	List<Enqueued> enqueue(List<NewTask> tasks);

	/**
	 * Stores a schedule as a recurring task, in place of the one with its key. If the
	 * stored schedule has the same text, its next time stays, and it gets the new
	 * payload. A run that has begun goes on to its end first. A run that is overdue stays
	 * due, unless the first run of the new schedule is due too.
	 * @return the result, with the time of the next run; {@link Enqueued.Outcome#PENDING}
	 * if the text was the same, or if the schedule was not lost
	 * @throws UnsupportedOperationException if this store keeps no schedules
	 */
	default Enqueued recur(NewSchedule schedule) {
		throw new UnsupportedOperationException(
				getClass().getName() + " keeps no schedules: it does not override recur");
	}

	/**
	 * Deletes a pending task, or ends a schedule. A run of the schedule that has begun
	 * goes on, and is not tried again.
	 * @return whether there was such a task; it will never begin (again)
	 */
	boolean cancel(Target target);

	/**
	 * Moves a pending task, or the next run of a schedule alone.
	 * @param due see {@link DueTime#resolve(long, long)}
	 * @return the task as it is now, {@code null} if it was not pending
	 */
	@Nullable Moved move(Target target, DueTime due);

	/**
	 * Finds a task: by its id in any state; by its key if it is pending, or has a
	 * schedule and may be running.
	 */
	Optional<StoredTask> find(Target target);

	/**
	 * Whether the calling thread is in a transaction whose rollback undoes
	 * {@link #enqueue}, {@link #recur}, {@link #cancel} and {@link #move}, and in which
	 * {@link #find} sees them.
	 */
	boolean joinsTransaction();

	/** Whether this store takes part in transactions of its callers at all. */
	default boolean canJoinTransactions() {
		return false;
	}

	// What nodes do

	/**
	 * Claims tasks that are due, or due within the look-ahead, and tasks whose lease has
	 * ended, the earliest first. Makes one cheap request if there is nothing to claim.
	 * Tasks of other names, of paused names, and beyond the limit of their name do not
	 * slow the claim down, however many there are. If the reply is lost, the tasks are
	 * claimed again when their leases end.
	 *
	 * <p>
	 * A task that is due begins with the claim, unless one of its deliveries was lost. A
	 * task that is due later is leased, unless its name is limited.
	 *
	 * <p>
	 * If the lease of a running task ends, its delivery is lost: the task may have ended
	 * its node. The claim that finds such a task makes it scheduled, with one more lost
	 * delivery, and says so ({@link Claimed#newSuspects()}). Only a request for a suspect
	 * claims it again. It is then leased and begins by {@link #begin}, so that a lost
	 * reply to this claim counts for nothing.
	 */
	Claimed claim(ClaimRequest request);

	/**
	 * Begins tasks that the caller has leased. From now on nobody can cancel, move or
	 * replace them. The lease lasts from now.
	 * @return {@link Reply#REFUSED} if the task was cancelled, replaced, moved, released,
	 * or claimed by another node, or has lost deliveries and its lease has ended
	 */
	List<Reply> begin(List<TaskRef> tasks, Duration lease);

	/**
	 * Makes the leases of running tasks last from now.
	 * @return {@link Reply#REFUSED} if the task is not running under this lease
	 */
	List<Reply> renew(List<TaskRef> tasks, Duration lease);

	/**
	 * Ends what a node does with tasks that it has leased.
	 * @return {@link Reply#DONE} also for an acknowledged or repeated task that no longer
	 * exists. {@link Reply#SUPERSEDED} for a retried or released task that was deleted,
	 * since a newer task has its key or its schedule was cancelled; {@link Reply#REFUSED}
	 * if the call is repeated after that
	 */
	List<Reply> settle(List<Settlement> settlements);

	/**
	 * Ends a task in the transaction of the calling thread, in which the body has made
	 * its changes. May wait for the locks of others.
	 * @param settlement an acknowledgement or a repetition of a running task
	 * @return {@code true} if the task is settled once the transaction commits; {@code
	 * false} if the caller does not have the task (any more), and has to roll back
	 * @throws IllegalStateException if the thread has no transaction that this store
	 * takes part in
	 * @throws UnsupportedOperationException if {@link #canJoinTransactions()} is {@code
	 * false}
	 */
	default boolean settleInTransaction(Settlement settlement) {
		throw new UnsupportedOperationException("This store takes part in no transaction");
	}

	/** Keeps what a node reports every few seconds, and when it ends. */
	default void heartbeat(NodeState state) {
	}

	// What operators do

	/** Reads a page of the pending or of the dead tasks of a name. */
	ListQuery.Page list(ListQuery query);

	/**
	 * Makes dead tasks scheduled again, due now, as if they had never been tried. Waits
	 * only a short time for tasks with the same keys that other transactions are storing;
	 * such a key counts as pending.
	 * @param ids at most {@link #MAX_STEP}; of two tasks with the same key, the one whose
	 * id comes first is requeued
	 */
	List<Requeue> requeue(List<String> ids);

	/**
	 * Deletes dead tasks.
	 * @param ids at most {@link #MAX_STEP}
	 * @return how many of them were dead
	 */
	int discard(List<String> ids);

	/**
	 * Deletes tasks of any name that have been dead for longer than a time.
	 * @param limit about how many to delete at most, from 1 to {@link #MAX_STEP}
	 * @return how many were deleted, 0 if no such task is left
	 */
	int discardOlder(Duration age, int limit);

	/** How many dead tasks this object has deleted because it keeps only so many. */
	default long droppedDead() {
		return 0;
	}

	/**
	 * Counts the tasks of names, at a limited cost: a count beyond a cap may be a lower
	 * bound or an estimate ({@link StoredCounts#estimated()}).
	 * @param names none means all names that have a task
	 * @return the counts of those names that have a task
	 */
	Map<String, StoredCounts> counts(Collection<String> names);

	/**
	 * Counts how many pending tasks fall due in equal spans of the time ahead, at a
	 * limited cost: a store may estimate the counts or leave out later spans.
	 */
	default Forecast forecast(Forecast.Query query) {
		return new Forecast(now(), Map.of());
	}

	/**
	 * Pauses a name, with or without tasks, for all nodes, or resumes it. No claim takes
	 * the tasks of a paused name, and each claim gives the paused names.
	 * @throws UnsupportedOperationException if this store cannot pause names
	 */
	default void setPaused(String name, boolean paused) {
		throw new UnsupportedOperationException(
				getClass().getName() + " cannot pause names: it does not override setPaused");
	}

	/** What the nodes have reported, the one that reported last first. */
	default List<NodeState.Reported> nodes() {
		return List.of();
	}

	// The store itself

	long now();

	/**
	 * Checks, before the first task, that the store can fulfil this contract, and permits
	 * what a node will do.
	 * @throws UnusableTaskStoreException if it cannot
	 */
	default void check() {
	}

	/**
	 * Whether this store has answered a request and refused it for good, such as for a
	 * lack of rights. A store that was away or too busy has refused nothing.
	 * @param error what a method of this store has thrown
	 */
	default boolean isRefusal(Throwable error) {
		return false;
	}

	/**
	 * The part of the store that the latest calls of this node did not reach, while they
	 * reached another part. Meanwhile a claim gives the tasks of the other parts, and the
	 * reply for a task of the missing part is {@link Reply#BUSY}.
	 * @return {@code null} if there is none
	 */
	default @Nullable PartialOutage partialOutage() {
		return null;
	}

	/**
	 * What tests need of this store.
	 * @throws UnsupportedOperationException if this store has no virtual time
	 */
	default Testing testing() {
		throw new UnsupportedOperationException(
				getClass().getName() + " does not support virtual time: it does not override testing");
	}

	enum Reply {

		/** It is done, by this call or by an earlier one. */
		DONE,

		/** The task is deleted: a newer one has its key, or its schedule has ended. */
		SUPERSEDED,

		/** The caller does not have the task (any more), and must not go on with it. */
		REFUSED,

		/** The task is locked, or its part of the store is missing: ask again soon. */
		BUSY

	}

	enum Requeue {

		REQUEUED,

		/** There is no dead task with this id, or another call is changing it. */
		NOT_DEAD,

		/**
		 * Another task with its key is pending or is being stored. The task stays dead.
		 */
		KEY_PENDING

	}

	/**
	 * The result of moving a pending task. Times are milliseconds since the epoch by the
	 * store's clock.
	 *
	 * @param dueAt when the task is due now
	 */
	record Moved(String id, String name, long dueAt, long now) {

	}

	/**
	 * One part of a store does not answer, while the rest does.
	 *
	 * @param parts the names of the missing parts, as an operator knows them
	 * @param cause the error of a missing part
	 */
	record PartialOutage(Set<String> parts, Throwable cause) {

	}

	/** What tests need of a store. */
	interface Testing {

		/**
		 * Replaces the store's clock for the store object that gave this object.
		 * @param millis gives milliseconds since the epoch; {@code null} for the store's
		 * own clock
		 */
		void setClock(@Nullable LongSupplier millis);

		/** Deletes all tasks, and all that the store knows of names and nodes. */
		void deleteAll();

	}

	/**
	 * The result of storing a task. Times are milliseconds since the epoch by the store's
	 * clock.
	 *
	 * @param id the id of the stored task, or of the pending one; empty if a schedule
	 * that was not lost has no task
	 * @param dueAt when the task with this id is due
	 * @param now the time; the earliest if the store has several clocks
	 */
	record Enqueued(Outcome outcome, String id, long dueAt, long now) {

		public enum Outcome {

			INSERTED,

			/** The task was stored in place of the pending one with its key. */
			REPLACED,

			/** The task was not stored, since another with its key is pending. */
			PENDING

		}

	}

}
