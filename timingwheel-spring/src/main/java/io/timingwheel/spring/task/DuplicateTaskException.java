package io.timingwheel.spring.task;

/**
 * A task was scheduled with {@link IfPending#REJECT} while another was pending under the
 * same {@link TaskId}. That one is unaffected.
 */
public class DuplicateTaskException extends RuntimeException {

	private final TaskId taskId;

	/**
	 * Creates an exception.
	 * @param taskId what is pending
	 */
	public DuplicateTaskException(TaskId taskId) {
		super("A task \"%s\" with the key \"%s\" is pending already".formatted(taskId.name(), taskId.key()));
		this.taskId = taskId;
	}

	/**
	 * What is pending.
	 * @return the identity of the pending task
	 */
	public TaskId getTaskId() {
		return this.taskId;
	}

}
