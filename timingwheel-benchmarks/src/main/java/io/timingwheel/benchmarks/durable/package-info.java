/**
 * Measures durable tasks beside peers on the same server. Each node is a JVM of its own
 * and takes commands.
 */
@NullMarked
package io.timingwheel.benchmarks.durable;

import org.jspecify.annotations.NullMarked;
