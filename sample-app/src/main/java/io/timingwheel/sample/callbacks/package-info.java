/**
 * Delayed HTTP callbacks. They are sent at their time, no faster than a rate, and sent
 * again when the receiver fails. With a store they survive the process.
 */
@NullMarked
package io.timingwheel.sample.callbacks;

import org.jspecify.annotations.NullMarked;
