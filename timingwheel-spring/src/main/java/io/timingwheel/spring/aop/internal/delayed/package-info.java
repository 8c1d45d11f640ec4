/**
 * The advice for {@link io.timingwheel.spring.annotation.Delayed} and
 * {@link io.timingwheel.spring.annotation.CancelDelayed}, and the runs of
 * {@link io.timingwheel.spring.annotation.Recurring}. The public types are for other
 * modules of timingwheel.
 */
@NullMarked
package io.timingwheel.spring.aop.internal.delayed;

import org.jspecify.annotations.NullMarked;
