package io.timingwheel.test;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an application that go by virtual time.
 *
 * @param wheel the wheel
 * @param tasks the tasks in memory
 * @param durable the durable tasks, {@code null} without a store
 */
record VirtualParts(TimingWheel wheel, DelayedTaskRegistry tasks, @Nullable DurableParts durable) {

}
