/**
 * Delayed HTTP callbacks. They are stored, sent at their time, sent again when the
 * receiver fails, and dead after too many attempts.
 */
@NullMarked
package io.timingwheel.sample.callbacks;

import org.jspecify.annotations.NullMarked;
