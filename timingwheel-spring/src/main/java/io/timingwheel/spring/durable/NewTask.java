package io.timingwheel.spring.durable;

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
 * @param lease leases the task at once if it is due soon; {@code null} never to lease it
 * @since 0.1
 */
public record NewTask(String id, String name, @Nullable String key, String payload, @Nullable String traceparent,
		DueTime due, IfPending ifPending, @Nullable LeaseOffer lease) {

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
		this(id, name, key, payload, null, due, ifPending, lease);
	}

}
