/**
 * The API for delayed tasks: {@link io.timingwheel.spring.task.DelayedTaskTemplate}, and
 * the types that it takes and returns.
 */
@NullMarked
package io.timingwheel.spring.task;

import org.jspecify.annotations.NullMarked;
