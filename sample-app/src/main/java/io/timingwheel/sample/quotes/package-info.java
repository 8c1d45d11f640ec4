/** Quotes that are cut when they take too long. */
@NullMarked
package io.timingwheel.sample.quotes;

import org.jspecify.annotations.NullMarked;
