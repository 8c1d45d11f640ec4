/**
 * A tour of timingwheel, with a package for each feature: orders close unless they are
 * paid, drivers go offline unless they send heartbeats, and quotes are cut when they take
 * too long.
 */
@NullMarked
package io.timingwheel.sample;

import org.jspecify.annotations.NullMarked;
