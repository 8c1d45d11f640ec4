/**
 * Measures the wheel beside its peers: one command prints all tables and draws the
 * charts.
 */
@NullMarked
package io.timingwheel.benchmarks;

import org.jspecify.annotations.NullMarked;
