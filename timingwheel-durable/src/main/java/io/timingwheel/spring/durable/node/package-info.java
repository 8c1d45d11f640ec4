/**
 * A node: this application as one of those that run the tasks of a store. A task goes
 * through these steps, each of which knows only the next one.
 *
 * <ol>
 * <li>{@code Poller} claims tasks, of each name what {@code Names} plans.</li>
 * <li>{@code Beginner} accepts them, and begins them when they are due.</li>
 * <li>{@code Runner} runs the body of a task on its executor.</li>
 * <li>{@code Settler} settles the tasks whose bodies have ended.</li>
 * </ol>
 *
 * <p>
 * {@code LeaseKeeper} renews the leases of the tasks that have begun and are not settled.
 * Only the wake-up of the poller goes back.
 */
@NullMarked
package io.timingwheel.spring.durable.node;

import org.jspecify.annotations.NullMarked;
