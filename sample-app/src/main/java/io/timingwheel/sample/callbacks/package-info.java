/**
 * Delayed HTTP callbacks: stored, sent at their time, tried again when the other side
 * fails, and dead after too many attempts.
 */
@NullMarked
package io.timingwheel.sample.callbacks;

import org.jspecify.annotations.NullMarked;
