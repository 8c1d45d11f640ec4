/**
 * Delayed tasks for code: {@link io.timingwheel.spring.task.DelayedTaskTemplate} and what
 * it gives and takes.
 */
@NullMarked
package io.timingwheel.spring.task;

import org.jspecify.annotations.NullMarked;
