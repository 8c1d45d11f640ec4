package io.timingwheel.spring.task;

/**
 * A task was scheduled with {@link IfPending#REJECT} while another was pending under the
 * same {@link TaskId}. The pending task stays as it is.
 *
 * @since 0.1
 */
public class DuplicateTaskException extends RuntimeException {

	private final TaskId taskId;

	/** Creates an exception with the identity of the pending task. */
	public DuplicateTaskException(TaskId taskId) {
		super("A task \"%s\" with the key \"%s\" is pending already".formatted(taskId.name(), taskId.key()));
		this.taskId = taskId;
	}

	/** The identity of the pending task. */
	public TaskId getTaskId() {
		return this.taskId;
	}

}
