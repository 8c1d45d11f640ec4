package io.timingwheel.spring.durable;

import io.timingwheel.spring.durable.support.PayloadCodec;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

/**
 * A task to be stored.
 *
 * @param id its id, never used before; the store may extend it, and says so by
 * {@link Enqueued#id()}
 * @param name its name, by which nodes find its handler
 * @param key its key, {@code null} for none
 * @param payload what the handler is to be given, in the form of {@link PayloadCodec}
 * @param due when it is due
 * @param ifPending what to do if the key is pending
 * @param lease leases it at once if it is due soon; {@code null} for never
 */
public record NewTask(String id, String name, @Nullable String key, String payload, DueTime due, IfPending ifPending,
		@Nullable LeaseOffer lease) {

}
