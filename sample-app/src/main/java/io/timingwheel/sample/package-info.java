/**
 * A tour of timingwheel, with a package for each feature. Orders close unless they are
 * paid. Drivers go offline unless they send heartbeats. Quotes end when they take too
 * long. A search index follows the documents after a pause. Callbacks are sent later, at
 * a limited rate, and again if they fail.
 */
@NullMarked
package io.timingwheel.sample;

import org.jspecify.annotations.NullMarked;
