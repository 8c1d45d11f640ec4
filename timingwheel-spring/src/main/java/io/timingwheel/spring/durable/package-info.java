/**
 * Durable tasks: stored by a {@link io.timingwheel.spring.durable.DelayedTaskStore},
 * claimed by any node shortly before they are due, put on its wheel, and run at least
 * once. {@link io.timingwheel.spring.durable.support.DurableTaskManager} is what the
 * template, the annotations and the endpoints see; what is known of SQL or Redis stays in
 * the stores.
 */
@NullMarked
package io.timingwheel.spring.durable;

import org.jspecify.annotations.NullMarked;
