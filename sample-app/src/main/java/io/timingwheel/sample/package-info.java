/**
 * A tour of timingwheel, by feature: orders that close unless paid, drivers that go
 * offline unless heard of, quotes that are cut when they take too long.
 */
@NullMarked
package io.timingwheel.sample;

import org.jspecify.annotations.NullMarked;
