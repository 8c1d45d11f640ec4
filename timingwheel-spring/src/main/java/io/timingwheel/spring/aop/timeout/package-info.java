/**
 * The advice of {@link io.timingwheel.spring.annotation.Timeout}. Start with
 * {@link io.timingwheel.spring.aop.timeout.TimeoutBeanPostProcessor}.
 * {@code InterruptGuard} documents the protocol between the wheel's thread and the thread
 * of a call.
 *
 * <p>
 * Applications do not use the types of this package. They are public for other modules of
 * timingwheel only, and may change in any release.
 */
@NullMarked
package io.timingwheel.spring.aop.timeout;

import org.jspecify.annotations.NullMarked;
