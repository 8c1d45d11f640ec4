package io.timingwheel.spring.durable.support;

import org.jspecify.annotations.Nullable;

/**
 * The result of one call that requeues or deletes dead tasks.
 *
 * @param affected how many tasks the call has requeued or deleted
 * @param skipped how many tasks stay dead because their keys have pending tasks
 * @param remaining whether there may be more tasks for another call
 * @param cursor where the next call goes on, {@code null} if nothing remains
 * @since 0.1
 */
public record DeadStep(int affected, int skipped, boolean remaining, @Nullable String cursor) {

}
