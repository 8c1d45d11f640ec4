/** What a call of an annotated method costs. */
@NullMarked
package io.timingwheel.benchmarks.spring;

import org.jspecify.annotations.NullMarked;
