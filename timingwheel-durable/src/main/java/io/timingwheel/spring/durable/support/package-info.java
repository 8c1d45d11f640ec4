/**
 * Stores the calls of durable methods, and runs the stored tasks on this node.
 * Applications do not use this package: its types are public only for other modules of
 * timingwheel, and may change in any release.
 *
 * <p>
 * A new call goes through {@code DurableTaskManager} and {@code TaskEnqueuer} to the
 * store. A stored task goes through {@code TaskPoller}, {@code TaskIntake}, the wheel,
 * {@code TaskBeginner}, {@code TaskRunner} and {@code TaskSettler}.
 *
 * <p>
 * Operators see the stored tasks through {@code StoredTaskReader}, and requeue and delete
 * the dead ones through {@code DeadTaskEditor}.
 *
 * <p>
 * {@code LimitedClaims} is for the stores: what their claims of limited names have in
 * common.
 */
@NullMarked
package io.timingwheel.spring.durable.support;

import org.jspecify.annotations.NullMarked;
