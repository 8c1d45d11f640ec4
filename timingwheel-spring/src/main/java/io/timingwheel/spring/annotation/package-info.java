/**
 * The annotations: {@link io.timingwheel.spring.annotation.Delayed},
 * {@link io.timingwheel.spring.annotation.CancelDelayed} and
 * {@link io.timingwheel.spring.annotation.Timeout}.
 */
@NullMarked
package io.timingwheel.spring.annotation;

import org.jspecify.annotations.NullMarked;
