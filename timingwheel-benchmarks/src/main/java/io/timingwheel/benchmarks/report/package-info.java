/** Runs the measurements in rounds and writes tables, figures and charts. */
@NullMarked
package io.timingwheel.benchmarks.report;

import org.jspecify.annotations.NullMarked;
