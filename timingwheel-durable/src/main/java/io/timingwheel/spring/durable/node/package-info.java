/**
 * A node: this application as one of those that run the tasks of a store. A task goes
 * through these steps, each of which knows only the next one.
 *
 * <ol>
 * <li>{@link io.timingwheel.spring.durable.node.Poller} claims tasks. It takes of each
 * name what {@link io.timingwheel.spring.durable.node.Names} plans.</li>
 * <li>{@link io.timingwheel.spring.durable.node.Intake} accepts them. A task that is not
 * due yet waits on the wheel.</li>
 * <li>{@link io.timingwheel.spring.durable.node.Beginner} begins the tasks that fall due,
 * many with one request.</li>
 * <li>{@link io.timingwheel.spring.durable.node.Runner} runs the body of a task on its
 * executor.</li>
 * <li>{@link io.timingwheel.spring.durable.node.Settler} settles the tasks whose bodies
 * have ended, many with one request.</li>
 * </ol>
 *
 * <p>
 * {@link io.timingwheel.spring.durable.node.LeaseKeeper} renews the leases of the tasks
 * that have begun and are not settled.
 * {@link io.timingwheel.spring.durable.node.Housekeeping} does what has to be done from
 * time to time. Only the wake-up of the poller goes back.
 */
@NullMarked
package io.timingwheel.spring.durable.node;

import org.jspecify.annotations.NullMarked;
