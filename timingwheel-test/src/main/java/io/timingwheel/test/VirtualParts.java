package io.timingwheel.test;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an application that go by virtual time.
 */
record VirtualParts(TimingWheel wheel, DelayedTaskRegistry tasks, @Nullable DurableParts durable) {

}
