/**
 * Virtual time for tests: thirty minutes pass in a millisecond. A test gets it with
 * {@link io.timingwheel.test.AutoConfigureVirtualTime @AutoConfigureVirtualTime}.
 */
@NullMarked
package io.timingwheel.test;

import org.jspecify.annotations.NullMarked;
