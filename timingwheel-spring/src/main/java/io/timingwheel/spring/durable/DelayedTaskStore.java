package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Keeps durable tasks and arbitrates between nodes. All decisions are made by the clock
 * of the engine (the database or Redis), never by that of a node; times are milliseconds
 * since the epoch, and none is beyond {@link #MAX_TIME}.
 *
 * <p>
 * A stored task is <em>pending</em>, and then either scheduled or leased by a node that
 * has it on its wheel; or it is <em>running</em>, which means begun and leased; or it is
 * <em>dead</em>. It has one time, by which it is found: when it is due while it is
 * scheduled, when its lease ends while it is leased, none once dead. A lease that ended
 * is claimed like a task that is due, so that recovery is no case of its own.
 *
 * <p>
 * Every insert and every replacement has an id that is never used again, and each claim,
 * as well as each move, raises the task's fence. What a node says of a task counts only
 * with the id and the fence of its lease, so that a node that was stopped beyond its
 * lease says nothing of what others have made of it. A key belongs to at most one pending
 * task of a name; a task gives its key up when it begins.
 *
 * <p>
 * {@link #enqueue}, {@link #enqueueAll}, {@link #cancel} and {@link #reschedule} may be
 * called within a transaction of the application, which they take part in if
 * {@link #joinsTransaction()} says so. The calls of the machinery ({@link #claim} and all
 * that take a {@link TaskRef}) stand outside of any transaction and do not wait for locks
 * that others hold: the reply is {@link Reply#BUSY} then. They are idempotent, as a reply
 * may get lost.
 *
 * <p>
 * All methods are thread-safe and may throw any {@link RuntimeException} when the engine
 * is not to be had; whether the call took effect is unknown then.
 */
public interface DelayedTaskStore {

	/** The last time that can be stored: doubles hold all milliseconds up to it. */
	long MAX_TIME = 9_000_000_000_000_000L;

	/** How many bytes of UTF-8 a name may have. */
	int MAX_NAME_BYTES = 255;

	/** How many bytes of UTF-8 a key may have. */
	int MAX_KEY_BYTES = 512;

	/** How many characters of an error or a reason are kept. */
	int MAX_ERROR_LENGTH = 2000;

	/**
	 * Checks, before the first task, that the engine can keep what is promised.
	 * @throws IllegalStateException if it cannot; the message names the remedy
	 */
	default void check() {
	}

	/**
	 * What part of the store the calls of the machinery did not reach lately, while they
	 * reached another. A claim gives the tasks of the others meanwhile, and the reply for
	 * a task of this part is {@link Reply#BUSY}.
	 * @return the part, {@code null} if there is none
	 */
	default @Nullable PartialOutage partialOutage() {
		return null;
	}

	/**
	 * Whether the calling thread is in a transaction that {@link #enqueue},
	 * {@link #cancel} and {@link #reschedule} take part in.
	 * @return {@code true} if a rollback undoes them
	 */
	boolean joinsTransaction();

	/**
	 * Stores a task.
	 * @param task the task
	 * @return what has become of it
	 */
	Enqueued enqueue(NewTask task);

	/**
	 * Stores tasks as if one after another, so that of two with the same key the later
	 * one meets the earlier. A store with transactions stores all or none, unless it
	 * takes part in a transaction without savepoints, which has to be rolled back if this
	 * throws. A store without may have stored some then.
	 * @param tasks the tasks
	 * @return what has become of each, in this order
	 * @throws PartlyStoredException if it is known which are stored: those that were
	 * leased are then the caller's all the same
	 */
	default List<Enqueued> enqueueAll(List<NewTask> tasks) {
		return tasks.stream().map(this::enqueue).toList();
	}

	/**
	 * Deletes the pending task with a key.
	 * @param taskId its name and key
	 * @return whether there was one: it will never run
	 */
	boolean cancel(TaskId taskId);

	/**
	 * Deletes a pending task.
	 * @param id its id
	 * @return whether it was pending: it will never run
	 */
	boolean cancel(String id);

	/**
	 * Moves the pending task with a key. An earlier lease of it ends.
	 * @param taskId its name and key
	 * @param due the new time
	 * @param lease leases it at once if it is due soon; {@code null} for never
	 * @return what has become of it, {@code null} if none was pending
	 */
	@Nullable Rescheduled reschedule(TaskId taskId, DueTime due, @Nullable LeaseOffer lease);

	/**
	 * Moves a pending task. An earlier lease of it ends.
	 * @param id its id
	 * @param due the new time
	 * @param lease leases it at once if it is due soon; {@code null} for never
	 * @return what has become of it, {@code null} if it was not pending
	 */
	@Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease);

	/**
	 * Leases tasks that are due soon, or whose lease has ended, the earliest first. One
	 * that is due already has begun with the claim. Makes one cheap request if there is
	 * nothing to claim.
	 * @param request which tasks, and for whom
	 * @return the tasks
	 */
	Claim claim(ClaimRequest request);

	/**
	 * Begins tasks: from now on they cannot be cancelled or replaced. Gives up the key,
	 * counts the delivery, and makes the lease last from now.
	 * @param tasks the tasks, leased by the caller
	 * @param lease how long the lease is to last
	 * @return a reply for each, in this order; {@link Reply#REFUSED} if it was cancelled,
	 * replaced, moved, or claimed by another
	 */
	List<Reply> begin(List<TaskRef> tasks, Duration lease);

	/**
	 * Makes the leases of running tasks last from now.
	 * @param tasks the tasks, begun by the caller
	 * @param lease how long the lease is to last
	 * @return a reply for each, in this order
	 */
	List<Reply> renew(List<TaskRef> tasks, Duration lease);

	/**
	 * Deletes tasks that have run.
	 * @param tasks the tasks, begun by the caller
	 * @return a reply for each, in this order; one that is gone is {@link Reply#DONE}
	 */
	List<Reply> acknowledge(List<TaskRef> tasks);

	/**
	 * Makes tasks pending again for another attempt, with their keys. If a newer task has
	 * the key, the older one is deleted.
	 * @param retries what is to be retried, begun by the caller
	 * @return a reply for each, in this order; {@link Reply#SUPERSEDED} if it gave way
	 */
	List<Reply> retry(List<Retry> retries);

	/**
	 * Gives tasks back as they were, for any node to claim at once. If the task has begun
	 * it takes its key again; if a newer task has the key, it is deleted. The lease ends:
	 * a {@link #begin} that comes later is refused.
	 * @param tasks the tasks, leased by the caller, begun or not
	 * @return a reply for each, in this order; {@link Reply#SUPERSEDED} if it gave way
	 */
	List<Reply> release(List<TaskRef> tasks);

	/**
	 * Makes tasks dead: they are kept, without their keys, until somebody decides.
	 * @param burials what is to be given up, leased by the caller, begun or not
	 * @return a reply for each, in this order
	 */
	List<Reply> bury(List<Burial> burials);

	/**
	 * Finds the pending task with a key.
	 * @param taskId its name and key
	 * @return the task
	 */
	Optional<StoredTask> find(TaskId taskId);

	/**
	 * Finds a task, pending or not.
	 * @param id its id
	 * @return the task
	 */
	Optional<StoredTask> find(String id);

	/**
	 * The pending tasks of a name that are due first.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, the next one first
	 */
	List<StoredTask> pending(String name, int limit);

	/**
	 * The dead tasks of a name.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, that which died last first
	 */
	List<StoredTask> dead(String name, int limit);

	/**
	 * How many tasks of each name there are. May take a while; the machinery does not ask
	 * often.
	 * @return the figures by name, of all names that have a task
	 */
	Map<String, StoredCounts> counts();

	/**
	 * Makes a dead task pending again, due now, as if it had never been tried.
	 * @param id its id
	 * @return what has become of it
	 */
	Requeue requeue(String id);

	/**
	 * Deletes a dead task.
	 * @param id its id
	 * @return whether it was dead
	 */
	boolean discard(String id);

	/**
	 * Deletes all dead tasks of a name.
	 * @param name the name
	 * @return how many there were
	 */
	long discardAll(String name);

	/**
	 * The time by the engine's clock.
	 * @return milliseconds since the epoch
	 */
	long now();

	/**
	 * Moves the engine's clock as this object sees it, for tests with virtual time.
	 * @param offset what to add; zero at first
	 */
	void setClockOffset(Duration offset);

	/**
	 * What the store says of a task in reply.
	 */
	enum Reply {

		/** It is done, now or by an earlier call. */
		DONE,

		/** The task gave way to a newer one with its key, and is gone. */
		SUPERSEDED,

		/** The caller's lease of the task is over: it must not touch it any more. */
		REFUSED,

		/** Somebody holds a lock on the task: ask again soon. */
		BUSY

	}

	/**
	 * What has become of a dead task that was to be requeued.
	 */
	enum Requeue {

		/** It is pending. */
		REQUEUED,

		/** There is no dead task with this id. */
		NOT_DEAD,

		/** Another task with its key is pending: it stays dead. */
		KEY_PENDING

	}

}
