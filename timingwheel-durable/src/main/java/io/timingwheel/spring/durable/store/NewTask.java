package io.timingwheel.spring.durable.store;

import java.time.Duration;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

/**
 * A task that is to be stored.
 *
 * @param id never used before; the store may extend it, and returns it as
 * {@link Enqueued#id()}
 * @param name by which nodes find its handler
 * @param key {@code null} for none
 * @param payload the arguments for its handler; the store does not look into them
 * @param traceparent the W3C header of the caller, of at most
 * {@link DelayedTaskStore#MAX_TRACEPARENT_LENGTH} characters; {@code null} for none
 * @param ifPending what to do if the key is pending
 * @param maxWait with {@link IfPending#REPLACE}: the task is due at most this long after
 * the first call since it last began; {@code null} for no limit
 * @since 0.1
 */
public record NewTask(String id, String name, @Nullable String key, String payload, @Nullable String traceparent,
		DueTime due, IfPending ifPending, @Nullable Duration maxWait) {

	/**
	 * @throws IllegalArgumentException if no store can keep the name or the key, see
	 * {@link TaskLimits}
	 */
	public NewTask {
		TaskLimits.checkName(name);
		TaskLimits.checkKey(key);
	}

	/**
	 * When the task is due, if it is stored now.
	 * @param pendingDueAt when the pending task that it replaces is due, {@code null} for
	 * none
	 * @param firstAt the time of the first call since the task last began
	 */
	public long dueAt(long now, @Nullable Long pendingDueAt, long firstAt) {
		if (pendingDueAt != null && this.ifPending == IfPending.UPDATE) {
			return pendingDueAt;
		}
		long dueAt = this.due.resolve(now);
		return (this.maxWait != null) ? Math.min(dueAt, DueTime.after(this.maxWait).resolve(firstAt)) : dueAt;
	}

	/** Whether the task is stored in place of a pending one. */
	public boolean replaces() {
		return this.ifPending == IfPending.REPLACE || this.ifPending == IfPending.UPDATE;
	}

}
