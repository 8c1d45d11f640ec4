/** A search index that follows the documents after a short pause. */
@NullMarked
package io.timingwheel.sample.search;

import org.jspecify.annotations.NullMarked;
