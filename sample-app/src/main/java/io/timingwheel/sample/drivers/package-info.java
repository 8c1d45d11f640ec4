/** Drivers that go offline when they send no heartbeat. */
@NullMarked
package io.timingwheel.sample.drivers;

import org.jspecify.annotations.NullMarked;
