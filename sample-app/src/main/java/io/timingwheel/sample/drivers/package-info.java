/**
 * Drivers that go offline when nothing is heard of them.
 */
@NullMarked
package io.timingwheel.sample.drivers;

import org.jspecify.annotations.NullMarked;
