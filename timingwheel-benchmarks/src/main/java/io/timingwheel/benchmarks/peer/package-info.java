/** The timers that are compared, behind one small interface. */
@NullMarked
package io.timingwheel.benchmarks.peer;

import org.jspecify.annotations.NullMarked;
