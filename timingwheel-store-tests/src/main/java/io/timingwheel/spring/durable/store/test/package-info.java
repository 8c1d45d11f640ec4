/**
 * The contract of a store of durable tasks, as tests that the author of a store runs, and
 * a store in memory as an example.
 */
@NullMarked
package io.timingwheel.spring.durable.store.test;

import org.jspecify.annotations.NullMarked;
