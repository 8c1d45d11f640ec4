package io.timingwheel.spring.durable;

import io.timingwheel.spring.task.DelayedTaskContext;

/**
 * The body of a task that takes a number.
 */
@FunctionalInterface
public interface NumberBody {

	void run(int argument, DelayedTaskContext context) throws Exception;

}
