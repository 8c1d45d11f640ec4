/**
 * The advice for {@link io.timingwheel.spring.annotation.Delayed} and
 * {@link io.timingwheel.spring.annotation.CancelDelayed}, and the runs of
 * {@link io.timingwheel.spring.annotation.Recurring}. {@code TaskMethodReader} reads the
 * annotations. {@code DelayedMethodRegistry} and {@code RecurringMethodRegistry} keep the
 * methods, and make them known to the tasks in memory or to the store. The interceptors
 * submit each call there. Applications do not use this package: its types may change in
 * any release.
 */
@NullMarked
package io.timingwheel.spring.aop.delayed;

import org.jspecify.annotations.NullMarked;
