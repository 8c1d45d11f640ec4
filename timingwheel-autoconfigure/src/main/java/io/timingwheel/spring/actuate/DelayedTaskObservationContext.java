package io.timingwheel.spring.actuate;

import io.micrometer.observation.Observation;
import io.timingwheel.spring.task.internal.TaskExecution;

/**
 * The context of an observation of a delayed task.
 *
 * @since 0.1
 */
public class DelayedTaskObservationContext extends Observation.Context {

	private final TaskExecution execution;

	private boolean complete;

	public DelayedTaskObservationContext(TaskExecution execution) {
		this.execution = execution;
	}

	public TaskExecution getExecution() {
		return this.execution;
	}

	/** Returns whether the body returned without an exception. */
	public boolean isComplete() {
		return this.complete;
	}

	void setComplete(boolean complete) {
		this.complete = complete;
	}

}
