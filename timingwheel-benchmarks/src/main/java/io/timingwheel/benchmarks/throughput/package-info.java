/** JMH benchmarks: operations per second and what they cost in processor time. */
@NullMarked
package io.timingwheel.benchmarks.throughput;

import org.jspecify.annotations.NullMarked;
