package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Keeps durable tasks and decides which node has them. The table in the description of
 * this package shows the states of a task, and the changes that each word makes.
 *
 * <p>
 * <b>Time.</b> The store decides by its own clock, never by that of a node. Times are
 * milliseconds since the epoch and at most {@link #MAX_TIME}.
 *
 * <p>
 * <b>Ids, fences and keys.</b> Each insert and each replacement makes a new id, which is
 * never used again. Each claim, reschedule and requeue raises the fence of the task. The
 * store accepts the message of a node about a task only with the id and the fence of the
 * current lease. A node that was stopped for longer than its lease therefore cannot
 * change a task that another node has claimed. A key belongs to at most one pending task
 * of a name. A task gives up its key when it begins.
 *
 * <p>
 * <b>Callers.</b> Applications store, cancel and move tasks. These calls take part in the
 * transaction of the calling thread if {@link #joinsTransaction()} says so, and may wait
 * for its locks. Nodes claim tasks and report the results, from {@link #claim} to
 * {@link #bury}. These calls are outside of any transaction and do not wait for the locks
 * of others: the reply is {@link Reply#BUSY}. One call is an exception:
 * {@link #acknowledgeInTransaction} is part of the body's transaction. A node may repeat
 * its calls, since a reply can get lost. A repeated call changes nothing more and gets
 * the reply {@link Reply#DONE}, unless its description says otherwise.
 *
 * <p>
 * <b>Threads and errors.</b> All methods are thread-safe. They may throw any
 * {@link RuntimeException} if the store cannot be reached. It is then unknown whether the
 * call took effect.
 *
 * @since 0.1
 */
public interface DelayedTaskStore {

	/** The last time that can be stored. Doubles hold all milliseconds up to it. */
	long MAX_TIME = 9_000_000_000_000_000L;

	/** How many bytes of UTF-8 a name may have. */
	int MAX_NAME_BYTES = 255;

	/** How many bytes of UTF-8 a key may have. */
	int MAX_KEY_BYTES = 512;

	/** How many characters of an error or a reason are kept. */
	int MAX_ERROR_LENGTH = 2000;

	/** How many characters the trace of a caller may have. */
	int MAX_TRACEPARENT_LENGTH = 55;

	/** How many characters the text of a schedule may have. */
	int MAX_SCHEDULE_LENGTH = 255;

	/**
	 * The key of the schedules that applications declare, one for each name. The end of
	 * such a schedule leaves a mark (see {@link #restore}).
	 * @since 0.1
	 */
	String DECLARED_KEY = "recurring";

	/** How many dead tasks one call changes. More would hold up other calls. */
	int MAX_STEP = 500;

	/** How many nodes {@link #nodes()} gives at most. */
	int MAX_NODES = 100;

	/** How long after its latest report {@link #nodes()} still gives a node. */
	Duration NODE_RETENTION = Duration.ofMinutes(10);

	// Storing

	/**
	 * Stores tasks as if one after another: of two tasks with the same key, the later one
	 * finds the earlier one pending. A store with transactions stores all or none. There
	 * is one exception: in a transaction without savepoints the caller has to roll back
	 * if this method throws. A store without transactions may have stored some of the
	 * tasks when it throws.
	 * @param tasks the tasks; often a single one, which stores do without the cost of a
	 * bulk
	 * @return the result for each task, in this order
	 * @throws IllegalArgumentException if a name or a key cannot be stored (see
	 * {@link TaskLimits})
	 * @throws PartlyStoredException if the store knows which tasks are stored; the caller
	 * then has the leases of those that were leased
	 */
	List<Enqueued> enqueueAll(List<NewTask> tasks);

	/**
	 * Stores a task.
	 * @param task the task
	 * @return the result
	 * @throws IllegalArgumentException if its name or its key cannot be stored (see
	 * {@link TaskLimits})
	 */
	default Enqueued enqueue(NewTask task) {
		return enqueueAll(List.of(task)).get(0);
	}

	/**
	 * Tells whether a task can be stored in one request with tasks of other callers, and
	 * with which.
	 * @param task the task, which the calling thread is about to store
	 * @return tasks with equal values can share a request; {@code null} if the task needs
	 * a request of its own, as in a transaction that this store takes part in
	 */
	default @Nullable Object sharedRequest(NewTask task) {
		return null;
	}

	/**
	 * Stores tasks of several callers with one request, outside of any transaction. No
	 * task has to wait for a lock of another transaction for long. An interrupt of the
	 * calling thread does not end a request that was sent, since other callers wait for
	 * it too. The thread is interrupted afterwards.
	 * @param tasks one or more tasks with the same value of {@link #sharedRequest}
	 * @return the result for each task, in this order; {@code null} if none is stored,
	 * since one of them cannot be stored, or would have to wait: each caller then stores
	 * its own
	 * @throws PartlyStoredException if the store knows which tasks are stored
	 */
	default @Nullable List<Enqueued> enqueueShared(List<NewTask> tasks) {
		return null;
	}

	/**
	 * Into how many groups the callers that share requests are best divided. One group
	 * has one request under way. With two groups, the callers of one group return and
	 * bring their next tasks while the store works on the tasks of the other group. One
	 * group is better if two requests would wait for each other, as two commits wait for
	 * the same disk.
	 * @return 1 or 2; other values count as the nearer of these
	 */
	default int sharingGroups() {
		return 2;
	}

	/**
	 * Stores a schedule as a recurring task. A name has at most one schedule with a key.
	 * A task that runs once may have the same key. If the stored schedule has the same
	 * text, its next time stays, and it gets the new payload. If the text differs, the
	 * new schedule replaces the stored schedule. A run that has begun goes on to its end,
	 * and then the new schedule begins. A run that is overdue stays due, unless the first
	 * run of the new schedule is due too. Takes part in the transaction of the calling
	 * thread as {@link #enqueueAll} does.
	 * @param schedule the schedule
	 * @return the result, with the time of the next run; {@link Enqueued.Outcome#PENDING}
	 * if the text was the same
	 * @throws IllegalArgumentException if a name or a key cannot be stored (see
	 * {@link TaskLimits})
	 * @throws UnsupportedOperationException if this store keeps no schedules
	 */
	default Enqueued recur(NewSchedule schedule) {
		throw new UnsupportedOperationException(
				getClass().getName() + " keeps no schedules: it does not override recur");
	}

	/**
	 * Stores a declared schedule that the store has lost. The store has lost a schedule
	 * if it has neither a task with the schedule nor the mark of a {@link #cancel}. A
	 * cancel of a schedule with the {@link #DECLARED_KEY} leaves the mark, and
	 * {@link #recur} deletes the mark. Nodes call this method for the schedules of their
	 * methods, several times a minute.
	 * @param schedule the schedule; its key is {@link #DECLARED_KEY}
	 * @return whether the schedule was lost and is stored now; {@code false} also if this
	 * store does not override this method
	 * @since 0.1
	 */
	default boolean restore(NewSchedule schedule) {
		return false;
	}

	// What nodes do

	/**
	 * Leases tasks that are due within the look-ahead, and tasks whose lease has ended,
	 * the earliest first. A task that is already due begins with the claim. Makes one
	 * cheap request if there is nothing to claim. The tasks of names that the request
	 * does not have, and the tasks beyond the limit of their name, do not slow the claim
	 * down, however many there are.
	 *
	 * <p>
	 * <b>Suspects.</b> If the lease of a task that has begun ends, its delivery is lost:
	 * the task may have ended its node, or may have run beside a task that has done so.
	 * Or the reply to the claim was lost, so that no node knows of the task. Such a task
	 * is a suspect. A claim that finds it does not lease it yet. A request for a suspect
	 * leases one, and this task begins by {@link #begin} only. A lost delivery counts
	 * ({@link LeasedTask#lostDeliveries()}) if the task was a suspect when it began. A
	 * suspect whose body fails is no longer a suspect.
	 *
	 * <p>
	 * A claim is not idempotent. If its reply is lost, the tasks are claimed again when
	 * their leases end.
	 * @param request says which tasks the node wants
	 * @return the tasks
	 */
	Claimed claim(ClaimRequest request);

	/**
	 * Begins leased tasks. From now on nobody can cancel, move or replace them. Gives up
	 * the key, counts the delivery, and makes the lease last from now. A suspect that was
	 * lost before has given up its key already.
	 * @param tasks the tasks, leased by the caller
	 * @param lease how long the lease lasts
	 * @return a reply for each task, in this order; {@link Reply#REFUSED} if the task was
	 * cancelled, replaced, moved, released, or claimed by another node
	 */
	List<Reply> begin(List<TaskRef> tasks, Duration lease);

	/**
	 * Makes the leases of running tasks last from now.
	 * @param tasks the tasks, begun by the caller
	 * @param lease how long the lease lasts
	 * @return a reply for each task, in this order; {@link Reply#REFUSED} if the task is
	 * not running under this lease
	 */
	List<Reply> renew(List<TaskRef> tasks, Duration lease);

	/**
	 * Deletes tasks that have run.
	 * @param tasks the tasks, begun by the caller
	 * @return a reply for each task, in this order; {@link Reply#DONE} also for a task
	 * that no longer exists
	 */
	List<Reply> acknowledge(List<TaskRef> tasks);

	/**
	 * Deletes a task that has run, in the transaction of the calling thread, in which the
	 * body has made its changes. The caller rolls back if the store refuses. May wait for
	 * the locks of others. Only stores that take part in transactions can do this.
	 * @param task the task, begun by the caller
	 * @return {@code true} if the task is deleted once the transaction commits;
	 * {@code false} if the caller does not have the task (any more)
	 * @throws IllegalStateException if the thread has no transaction that this store
	 * takes part in
	 * @throws UnsupportedOperationException if {@link #canJoinTransactions()} is
	 * {@code false}
	 */
	default boolean acknowledgeInTransaction(TaskRef task) {
		throw new UnsupportedOperationException("This store takes part in no transaction");
	}

	/**
	 * Ends runs of recurring tasks, and makes the tasks pending for their next runs, as
	 * if they had never been tried. A task whose schedule has ended during the run, or
	 * that has no further run, is deleted. A task that has got another schedule during
	 * the run becomes pending for the first time of that schedule.
	 * @param runs the ends of the runs; their tasks are leased by the caller, and most
	 * have begun
	 * @return a reply for each task, in this order; {@link Reply#DONE} also for a task
	 * that no longer exists
	 */
	default List<Reply> repeat(List<NextRun> runs) {
		throw new UnsupportedOperationException(
				getClass().getName() + " keeps no schedules: it does not override repeat");
	}

	/**
	 * Ends a run as {@link #repeat} does, in the transaction of the calling thread, as
	 * {@link #acknowledgeInTransaction} does.
	 * @param run the end of the run; its task is begun by the caller
	 * @return {@code true} if the run is ended once the transaction commits;
	 * {@code false} if the caller does not have the task (any more)
	 * @throws IllegalStateException if the thread has no transaction that this store
	 * takes part in
	 * @throws UnsupportedOperationException if {@link #canJoinTransactions()} is
	 * {@code false}
	 */
	default boolean repeatInTransaction(NextRun run) {
		throw new UnsupportedOperationException("This store takes part in no transaction");
	}

	/**
	 * Makes failed tasks pending again for another attempt, with their keys. A task whose
	 * key now belongs to a newer task is deleted, and so is the last run of a schedule
	 * that was cancelled.
	 * @param retries the tasks, begun by the caller
	 * @return a reply for each task, in this order; {@link Reply#SUPERSEDED} if it was
	 * deleted, and {@link Reply#REFUSED} if the call is repeated after that
	 */
	List<Reply> retry(List<Retry> retries);

	/**
	 * Gives tasks back, so that any node can claim them at once. The due time and the
	 * attempt stay. A task that has begun takes its key again. A task whose key now
	 * belongs to a newer task is deleted, and so is the last run of a schedule that was
	 * cancelled. The lease ends: a later {@link #begin} with it is refused.
	 * @param tasks the tasks, leased by the caller, begun or not
	 * @return a reply for each task, in this order; {@link Reply#SUPERSEDED} if it was
	 * deleted, and {@link Reply#REFUSED} if the call is repeated after that
	 */
	List<Reply> release(List<TaskRef> tasks);

	/**
	 * Gives tasks back as {@link #release} does. Their bodies have not started, so a
	 * delivery that has begun does not count. The default counts it, so that a schedule
	 * that leaves missed times out does not leave out such a run.
	 * @param tasks the tasks, leased by the caller, begun or not
	 * @return a reply for each task, as from {@link #release}
	 */
	default List<Reply> releaseUnstarted(List<TaskRef> tasks) {
		return release(tasks);
	}

	/**
	 * Makes tasks dead. The store keeps them, without their keys, until they are requeued
	 * or discarded. A store may keep a limited number, and then drops the oldest. The
	 * last run of a schedule that was cancelled is deleted.
	 * @param burials the tasks, leased by the caller, begun or not
	 * @return a reply for each task, in this order
	 */
	List<Reply> bury(List<Burial> burials);

	/**
	 * Keeps what a node reports about itself, for {@link #nodes()}. The report takes the
	 * place of the earlier one of this node. A node reports every few seconds. A store
	 * that does not override this method keeps no reports.
	 * @param state the state of the node
	 * @since 0.1
	 */
	default void report(NodeState state) {
	}

	/**
	 * Deletes the report of a node that ends.
	 * @param nodeId the node
	 * @since 0.1
	 */
	default void forget(String nodeId) {
	}

	// What applications and operators do

	/**
	 * Deletes the pending task with a key, or ends the schedule with this key. A run of
	 * the schedule that has begun goes on, and is not tried again if it fails.
	 * @param taskId its name and key
	 * @param kind which of the two
	 * @return whether there was one; it will never begin
	 */
	boolean cancel(TaskId taskId, Kind kind);

	/**
	 * Deletes the pending task with a key or, if there is none, ends the schedule with
	 * this key.
	 * @param taskId its name and key
	 * @return whether there was one; it will never begin
	 */
	default boolean cancel(TaskId taskId) {
		return cancel(taskId, Kind.EITHER);
	}

	/**
	 * Deletes a pending task, or ends the schedule of a running one. A second call finds
	 * no task.
	 * @param id its id
	 * @return whether it was pending or had a schedule; it will never begin
	 */
	boolean cancel(String id);

	/**
	 * Moves the pending task with a key, or the next run of the schedule with this key,
	 * to another due time. The later runs of the schedule keep their times. An earlier
	 * lease of the task ends.
	 * @param taskId its name and key
	 * @param kind which of the two
	 * @param due the new due time; see {@link DueTime#resolve(long, long)}
	 * @param lease leases the task at once if it is due soon; {@code null} never to lease
	 * it
	 * @return the task as it is now, {@code null} if none was pending
	 */
	@Nullable Rescheduled reschedule(TaskId taskId, Kind kind, DueTime due, @Nullable LeaseOffer lease);

	/**
	 * Moves the pending task with a key or, if there is none, the next run of the
	 * schedule with this key to another due time.
	 * @param taskId its name and key
	 * @param due the new due time; see {@link DueTime#resolve(long, long)}
	 * @param lease leases the task at once if it is due soon; {@code null} never to lease
	 * it
	 * @return the task as it is now, {@code null} if none was pending
	 */
	default @Nullable Rescheduled reschedule(TaskId taskId, DueTime due, @Nullable LeaseOffer lease) {
		return reschedule(taskId, Kind.EITHER, due, lease);
	}

	/**
	 * Moves a pending task to another due time. An earlier lease of the task ends.
	 * @param id its id
	 * @param due the new due time; see {@link DueTime#resolve(long, long)}
	 * @param lease leases the task at once if it is due soon; {@code null} never to lease
	 * it
	 * @return the task as it is now, {@code null} if it was not pending
	 */
	@Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease);

	/**
	 * Makes dead tasks pending again, due now, as if they had never been tried. Waits
	 * only a short time for tasks with the same keys that other transactions are storing;
	 * such a key counts as pending.
	 * @param ids their ids, at most {@link #MAX_STEP}; of two tasks with the same key,
	 * the one whose id comes first is requeued
	 * @return the result for each id, in this order
	 */
	List<Requeue> requeueAll(List<String> ids);

	/**
	 * Makes a dead task pending again, as {@link #requeueAll} does.
	 * @param id its id
	 * @return the result
	 */
	default Requeue requeue(String id) {
		return requeueAll(List.of(id)).get(0);
	}

	/**
	 * Deletes dead tasks.
	 * @param ids their ids, at most {@link #MAX_STEP}
	 * @return how many of them were dead
	 */
	int discardAll(List<String> ids);

	/**
	 * Deletes a dead task.
	 * @param id its id
	 * @return whether it was dead
	 */
	default boolean discard(String id) {
		return discardAll(List.of(id)) > 0;
	}

	/**
	 * Deletes tasks of any name that have been dead for longer than a time.
	 * @param age the time
	 * @param limit about how many to delete at most, from 1 to {@link #MAX_STEP}
	 * @return how many were deleted, 0 if no such task is left
	 */
	int discardOlder(Duration age, int limit);

	/**
	 * How many dead tasks this object has deleted because the store keeps only so many.
	 * @return the number since the object was created
	 */
	default long droppedDead() {
		return 0;
	}

	// Reading

	/**
	 * Finds the pending task with a key, or the schedule with this key, which may be
	 * running.
	 * @param taskId its name and key
	 * @param kind which of the two
	 * @return the task, empty if there is none
	 */
	Optional<StoredTask> find(TaskId taskId, Kind kind);

	/**
	 * Finds the pending task with a key or, if there is none, the schedule with this key,
	 * which may be running.
	 * @param taskId its name and key
	 * @return the task, empty if there is none
	 */
	default Optional<StoredTask> find(TaskId taskId) {
		return find(taskId, Kind.EITHER);
	}

	/**
	 * Finds a task in any state.
	 * @param id its id
	 * @return the task, empty if it does not exist (any more)
	 */
	Optional<StoredTask> find(String id);

	/**
	 * Reads a page of the pending tasks of a name.
	 * @param query the name, and which page
	 * @return the tasks, the first one due first; fewer than the limit only if there are
	 * no more
	 */
	List<StoredTask> pending(PendingQuery query);

	/**
	 * Reads the pending tasks of a name that are due first.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, the first one due first
	 */
	default List<StoredTask> pending(String name, int limit) {
		return pending(new PendingQuery(name, null, limit));
	}

	/**
	 * Reads the dead tasks of a name.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, the one that died last first
	 */
	List<StoredTask> dead(String name, int limit);

	/**
	 * Reads a page of the dead tasks of a name, in the order in which they died.
	 * @param query the name, and which page
	 * @return the page; it may have fewer tasks than asked for even if there are more
	 */
	DeadTasks dead(DeadQuery query);

	/**
	 * Counts the tasks of each name. Stores in which this would take long estimate the
	 * figures of names with many tasks ({@link StoredCounts#estimated()}).
	 * @return the counts by name, of all names that have a task
	 */
	Map<String, StoredCounts> counts();

	/**
	 * Counts the tasks of some names. Stores that estimate count more tasks of few names
	 * exactly than of many. The default implementation counts the tasks of all names.
	 * @param names the names
	 * @return the counts by name, of those of the names that have a task
	 */
	default Map<String, StoredCounts> counts(Collection<String> names) {
		Map<String, StoredCounts> counts = new HashMap<>(counts());
		counts.keySet().retainAll(names);
		return counts;
	}

	/**
	 * Pauses a name for all nodes, or resumes it. The tasks of a paused name stay as they
	 * are. Each node reads the paused names ({@link #pausedNames()}) at each poll at the
	 * latest, claims none of their tasks, and gives back those that have not begun. A
	 * second call changes nothing.
	 * @param name the name, whether or not it has tasks
	 * @param paused whether the name is paused from now on
	 * @throws IllegalArgumentException if there can be no such name
	 * @throws UnsupportedOperationException if this store cannot pause names
	 * @since 0.1
	 */
	default void setPaused(String name, boolean paused) {
		throw new UnsupportedOperationException(
				getClass().getName() + " cannot pause names: it does not override setPaused");
	}

	/**
	 * Reads the names that are paused. Each node calls this method once for each poll
	 * interval.
	 * @return the names; none if this store cannot pause names
	 * @since 0.1
	 */
	default Set<String> pausedNames() {
		return Set.of();
	}

	/**
	 * Reads what the nodes have reported within the {@link #NODE_RETENTION}.
	 * @return the nodes, at most {@link #MAX_NODES}, the one that reported last first;
	 * none if this store keeps no reports
	 * @since 0.1
	 */
	default List<ReportedNode> nodes() {
		return List.of();
	}

	/**
	 * Counts how many pending tasks fall due in equal spans of the time ahead. The cost
	 * is limited, however many tasks there are: beyond a number of tasks, a store
	 * estimates the counts or leaves out later spans.
	 * @param query the names and the spans
	 * @return the counts
	 */
	Forecast forecast(ForecastQuery query);

	// The store itself

	/**
	 * Checks, before the first task, that the store can fulfil the contract of this
	 * interface, and that it permits what a node will do.
	 * @throws UnusableTaskStoreException if it cannot
	 */
	default void check() {
	}

	/**
	 * Checks, before the first task of a name, that this store can keep its tasks. The
	 * name fits {@link TaskLimits}.
	 * @param name the name of a handler, or an earlier name
	 * @throws IllegalArgumentException if it cannot, such as for characters that the
	 * database does not know
	 */
	default void checkName(String name) {
	}

	/**
	 * Tells whether this store has answered a request and refused it, such as for a lack
	 * of rights. The same request will be refused again. If the store could not be
	 * reached, or was too busy, it has refused nothing.
	 * @param error what a method of this store has thrown
	 * @return whether it is a refusal
	 */
	default boolean isRefusal(Throwable error) {
		return false;
	}

	/**
	 * Tells which part of the store the latest calls of this node did not reach, while
	 * they reached another part. In the meantime a claim gives the tasks of the other
	 * parts, and the reply for a task of the missing part is {@link Reply#BUSY}.
	 * @return the missing part, {@code null} if there is none
	 */
	default @Nullable PartialOutage partialOutage() {
		return null;
	}

	/**
	 * Tells whether this store takes part in transactions of its callers at all.
	 * @return whether {@link #acknowledgeInTransaction} is possible
	 */
	default boolean canJoinTransactions() {
		return false;
	}

	/**
	 * Tells whether the calling thread is in a transaction that {@link #enqueueAll},
	 * {@link #cancel} and {@link #reschedule} take part in.
	 * @return {@code true} if a rollback undoes them
	 */
	boolean joinsTransaction();

	/**
	 * The time by the store's clock.
	 * @return milliseconds since the epoch
	 */
	long now();

	/**
	 * Changes the time that this object reads from the store's clock, for tests with
	 * virtual time.
	 * @param offset the time to add; zero at first
	 */
	void setClockOffset(Duration offset);

	/**
	 * Replaces the store's clock for this object, for tests with virtual time. An offset
	 * alone is not enough: the store's clock would go on while a test runs, and no due
	 * time would be what the test expects.
	 * @param millis gives the time, in milliseconds since the epoch; {@code null} for the
	 * store's own clock
	 * @throws UnsupportedOperationException if this store has no virtual time
	 * @since 0.1
	 */
	default void setClock(@Nullable LongSupplier millis) {
		throw new UnsupportedOperationException(
				getClass().getName() + " does not support virtual time: it does not override setClock");
	}

	/**
	 * Deletes all tasks of all names, whatever their state, and resumes all names, for
	 * tests.
	 * @throws UnsupportedOperationException if this store has no virtual time
	 * @since 0.1
	 */
	default void deleteAll() {
		throw new UnsupportedOperationException(
				getClass().getName() + " does not support virtual time: it does not override deleteAll");
	}

	/**
	 * Which task a name and a key mean. A task that runs once and a schedule may have the
	 * same name and key.
	 *
	 * @since 0.1
	 */
	enum Kind {

		/** The pending task that runs once. */
		ONCE,

		/** The schedule, whose task may be pending or running. */
		SCHEDULE,

		/** The pending task that runs once or, if there is none, the schedule. */
		EITHER

	}

	/**
	 * The reply of the store to a node, for one task.
	 *
	 * @since 0.1
	 */
	enum Reply {

		/** It is done, by this call or by an earlier one. */
		DONE,

		/** A newer task has the key of the task. The task is deleted. */
		SUPERSEDED,

		/** The caller does not have the task (any more), and must not go on with it. */
		REFUSED,

		/**
		 * The task is locked, or its part of the store does not answer: ask again soon.
		 */
		BUSY

	}

	/**
	 * The result of requeueing a task.
	 *
	 * @since 0.1
	 */
	enum Requeue {

		/** The task is pending. */
		REQUEUED,

		/** There is no dead task with this id, or another call is changing it. */
		NOT_DEAD,

		/**
		 * Another task with its key is pending or is being stored. The task stays dead.
		 */
		KEY_PENDING

	}

}
