/**
 * What tasks in memory and durable tasks share: the hand-over to executors, policies,
 * figures, the calls that wait for the commit of a transaction, and what runs around
 * bodies. Applications do not use this package: its types may change in any release.
 */
@NullMarked
package io.timingwheel.spring.task.internal;

import org.jspecify.annotations.NullMarked;
