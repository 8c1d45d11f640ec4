/**
 * Measurements other than throughput: memory, lateness, idling and bursts. Each runs in a
 * JVM of its own.
 */
@NullMarked
package io.timingwheel.benchmarks.experiment;

import org.jspecify.annotations.NullMarked;
