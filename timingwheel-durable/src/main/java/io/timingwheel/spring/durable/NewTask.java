package io.timingwheel.spring.durable;

import java.time.Duration;

import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

/**
 * A task that is to be stored.
 *
 * @param id its id, never used before; the store may extend the id, and returns the
 * extended id as {@link Enqueued#id()}
 * @param name its name, by which nodes find its handler
 * @param key its key, {@code null} for none
 * @param payload the arguments for its handler; the store does not look into them
 * @param traceparent the trace of the caller, as the W3C header of this name, of at most
 * {@link DelayedTaskStore#MAX_TRACEPARENT_LENGTH} characters; {@code null} for none
 * @param due when it is due
 * @param ifPending what to do if the key is pending
 * @param maxWait with {@link IfPending#REPLACE}: the task is due at most this long after
 * the first call since it last began; {@code null} for no limit
 * @param lease leases the task at once if it is due soon; {@code null} never to lease it
 * @since 0.1
 */
public record NewTask(String id, String name, @Nullable String key, String payload, @Nullable String traceparent,
		DueTime due, IfPending ifPending, @Nullable Duration maxWait, @Nullable LeaseOffer lease) {

	/**
	 * Creates a task whose caller has no trace.
	 * @param id its id, never used before
	 * @param name its name
	 * @param key its key, {@code null} for none
	 * @param payload the arguments for its handler
	 * @param due when it is due
	 * @param ifPending what to do if the key is pending
	 * @param lease leases the task at once if it is due soon; {@code null} never to lease
	 * it
	 */
	public NewTask(String id, String name, @Nullable String key, String payload, DueTime due, IfPending ifPending,
			@Nullable LeaseOffer lease) {
		this(id, name, key, payload, null, due, ifPending, null, lease);
	}

	/**
	 * Creates a task without a longest wait.
	 * @param id its id, never used before
	 * @param name its name
	 * @param key its key, {@code null} for none
	 * @param payload the arguments for its handler
	 * @param traceparent the trace of the caller, {@code null} for none
	 * @param due when it is due
	 * @param ifPending what to do if the key is pending
	 * @param lease leases the task at once if it is due soon; {@code null} never to lease
	 * it
	 */
	public NewTask(String id, String name, @Nullable String key, String payload, @Nullable String traceparent,
			DueTime due, IfPending ifPending, @Nullable LeaseOffer lease) {
		this(id, name, key, payload, traceparent, due, ifPending, null, lease);
	}

	/**
	 * When the task is due.
	 * @param now the time by the store's clock, in milliseconds since the epoch
	 * @param pendingDueAt when the pending task that it replaces is due, {@code null} if
	 * it replaces none
	 * @param firstAt the time of the first call since the task last began, by the store's
	 * clock
	 * @return milliseconds since the epoch
	 */
	public long dueAt(long now, @Nullable Long pendingDueAt, long firstAt) {
		if (pendingDueAt != null && this.ifPending == IfPending.UPDATE) {
			return pendingDueAt;
		}
		long dueAt = this.due.resolve(now);
		return (this.maxWait != null) ? Math.min(dueAt, DueTime.after(this.maxWait).resolve(firstAt)) : dueAt;
	}

	/**
	 * Whether the task is stored in place of a pending one.
	 * @return {@code false} if the pending one stays
	 */
	public boolean replaces() {
		return this.ifPending == IfPending.REPLACE || this.ifPending == IfPending.UPDATE;
	}

}
