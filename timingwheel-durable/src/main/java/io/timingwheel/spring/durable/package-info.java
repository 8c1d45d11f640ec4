/**
 * Durable tasks, as their users know them. An application pauses its node or a name, and
 * requeues dead tasks, with the bean
 * {@link io.timingwheel.spring.durable.DurableTaskAdmin}. It brings stored arguments into
 * the form of a changed method with beans of the type
 * {@link io.timingwheel.spring.durable.PayloadMigration}.
 */
@NullMarked
package io.timingwheel.spring.durable;

import org.jspecify.annotations.NullMarked;
