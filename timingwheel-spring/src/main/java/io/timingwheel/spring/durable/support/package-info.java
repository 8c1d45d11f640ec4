/**
 * Stores the calls of durable methods, and runs the stored tasks on this node. Public
 * types are public for other modules of timingwheel alone. Applications do not use this
 * package: its types may change in any release.
 *
 * <p>
 * A call that is stored goes through {@code DurableTaskManager} and {@code TaskEnqueuer}
 * to the store. A stored task goes through {@code TaskPoller}, {@code TaskIntake}, the
 * wheel, {@code TaskBeginner}, {@code TaskRunner} and {@code TaskSettler}.
 */
@NullMarked
package io.timingwheel.spring.durable.support;

import org.jspecify.annotations.NullMarked;
