package io.timingwheel.spring.console;

import io.timingwheel.spring.actuate.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.TaskDescriptors.ErrorDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * What the page can do. The endpoint {@code delayedtasks} does the work.
 */
final class ConsoleActions {

	/** How long the steps of one request on many dead tasks may take, in nanoseconds. */
	private static final long STEPS_NANOS = 250_000_000;

	private final DelayedTasksEndpoint tasks;

	private final boolean permitted;

	/**
	 * Creates the actions.
	 * @param tasks acts
	 * @param permitted whether the access level permits actions
	 */
	ConsoleActions(DelayedTasksEndpoint tasks, boolean permitted) {
		this.tasks = tasks;
		this.permitted = permitted;
	}

	boolean permitted() {
		return this.permitted;
	}

	WebEndpointResponse<ActionResult> act(ActionRequest request) {
		String name = request.name();
		if (name == null) {
			return result(this.tasks.control(request.action()));
		}
		String task = request.task();
		if (task != null) {
			String[] path = { name, task };
			return result(request.action().equals("cancel") ? this.tasks.cancel(path)
					: this.tasks.changeTask(path, request.action(), request.delay(), null, null, null));
		}
		return changeName(name, request);
	}

	/**
	 * Takes as many bounded steps as fit into the time of one request.
	 */
	private WebEndpointResponse<ActionResult> changeName(String name, ActionRequest request) {
		long start = System.nanoTime();
		String cursor = request.cursor();
		int affected = 0;
		int skipped = 0;
		do {
			WebEndpointResponse<?> response = this.tasks.changeName(name, request.action(), request.error(),
					request.group(), cursor);
			if (!(response.getBody() instanceof StepDescriptor step)) {
				return result(response);
			}
			affected += step.affected();
			skipped += step.skipped();
			cursor = step.remaining() ? step.cursor() : null;
		}
		while (cursor != null && System.nanoTime() - start < STEPS_NANOS);
		return new WebEndpointResponse<>(new ActionResult(affected, skipped, cursor, null));
	}

	private static WebEndpointResponse<ActionResult> result(WebEndpointResponse<?> response) {
		if (response.getBody() instanceof ErrorDescriptor body) {
			return new WebEndpointResponse<>(new ActionResult(0, 0, null, body.error()), response.getStatus());
		}
		return (response.getStatus() < WebEndpointResponse.STATUS_BAD_REQUEST)
				? new WebEndpointResponse<>(new ActionResult(1, 0, null, null))
				: new WebEndpointResponse<>(response.getStatus());
	}

	/**
	 * What a user of the page asks for.
	 *
	 * @param action what to do
	 * @param name the name of the tasks, {@code null} for this node
	 * @param task the key or id of the task, {@code null} for the name or many tasks
	 * @param delay how long from now the task is due
	 * @param error text that the errors of the tasks contain
	 * @param group the id of a group of dead tasks, {@code null} for all dead tasks
	 * @param cursor where the step before has ended
	 */
	record ActionRequest(String action, @Nullable String name, @Nullable String task, @Nullable String delay,
			@Nullable String error, @Nullable String group, @Nullable String cursor) {

	}

}
