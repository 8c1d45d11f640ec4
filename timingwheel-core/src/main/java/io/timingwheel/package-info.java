/**
 * A hierarchical timing wheel for one JVM, which starts, stops and moves each of millions
 * of timers in constant time. Begin with {@link io.timingwheel.TimingWheel#builder}.
 */
@NullMarked
package io.timingwheel;

import org.jspecify.annotations.NullMarked;
