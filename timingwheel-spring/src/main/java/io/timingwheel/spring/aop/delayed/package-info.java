/**
 * {@link io.timingwheel.spring.annotation.Delayed} and
 * {@link io.timingwheel.spring.annotation.CancelDelayed}: the methods that bear them are
 * found and checked at startup ({@code DelayedMethodScanner}), the post-processors add
 * the advice, and the advice turns calls into tasks.
 */
@NullMarked
package io.timingwheel.spring.aop.delayed;

import org.jspecify.annotations.NullMarked;
