/**
 * The annotations of methods: {@link io.timingwheel.spring.annotation.Delayed},
 * {@link io.timingwheel.spring.annotation.CancelDelayed},
 * {@link io.timingwheel.spring.annotation.Recurring} and
 * {@link io.timingwheel.spring.annotation.Timeout}. A
 * {@link io.timingwheel.spring.annotation.TaskPolicy} is a part of the annotations of
 * tasks.
 */
@NullMarked
package io.timingwheel.spring.annotation;

import org.jspecify.annotations.NullMarked;
