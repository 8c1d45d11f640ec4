/**
 * The advice of {@link io.timingwheel.spring.annotation.Timeout}. Begin with
 * {@link io.timingwheel.spring.aop.timeout.TimeoutAdvisor}; the protocol between the
 * wheel and the guarded thread is in {@code InterruptGuard}.
 */
@NullMarked
package io.timingwheel.spring.aop.timeout;

import org.jspecify.annotations.NullMarked;
