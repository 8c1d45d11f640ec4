/**
 * Measures durable tasks beside peers on the same server: nodes in JVMs of their own,
 * told what to do by the command.
 */
@NullMarked
package io.timingwheel.benchmarks.durable;

import org.jspecify.annotations.NullMarked;
