package io.timingwheel.spring.actuate;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint.StepDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * Answers with the result when dead tasks were requeued or deleted by their name, and
 * with a sentence when the request makes no sense (400) or nothing has the name (404).
 * Answers with 204 when a task was cancelled, deleted or requeued, with 404 when there
 * was no such task, and with 409 when a dead task cannot become pending again because its
 * key has a pending task.
 *
 * @since 0.1
 */
@EndpointWebExtension(endpoint = DelayedTasksEndpoint.class)
public class DelayedTasksEndpointWebExtension {

	private static final int STATUS_CONFLICT = 409;

	private final DelayedTasksEndpoint endpoint;

	/**
	 * Creates the extension.
	 * @param endpoint the endpoint to extend
	 */
	public DelayedTasksEndpointWebExtension(DelayedTasksEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/**
	 * Cancels a pending task, or deletes a dead one.
	 * @param path the name, and the key of a pending task or the id; split at slashes
	 * @return the status alone
	 */
	@DeleteOperation
	public WebEndpointResponse<Void> cancel(@Selector(match = Match.ALL_REMAINING) String... path) {
		return new WebEndpointResponse<>(this.endpoint.cancel(path) ? WebEndpointResponse.STATUS_NO_CONTENT
				: WebEndpointResponse.STATUS_NOT_FOUND);
	}

	/**
	 * Makes a dead task pending again. If the whole path is a name, as
	 * {@link #deadTasks}.
	 * @param path its name and its id, split at slashes
	 * @param action {@code requeue}
	 * @param error as in {@link #deadTasks}, if the path is a name
	 * @param cursor as in {@link #deadTasks}, if the path is a name
	 * @return the status alone for a task, otherwise as {@link #deadTasks}
	 */
	@WriteOperation
	public WebEndpointResponse<?> requeue(@Selector(match = Match.ALL_REMAINING) String[] path, String action,
			@Nullable String error, @Nullable String cursor) {
		TaskPath task = this.endpoint.resolve(path);
		if (task.keyOrId() == null) {
			return deadTasks(task.name(), action, error, cursor);
		}
		try {
			return new WebEndpointResponse<>(switch (this.endpoint.requeue(path, action)) {
				case REQUEUED -> WebEndpointResponse.STATUS_NO_CONTENT;
				case NOT_DEAD -> WebEndpointResponse.STATUS_NOT_FOUND;
				case KEY_PENDING -> STATUS_CONFLICT;
			});
		}
		catch (InvalidEndpointRequestException ex) {
			return badRequest(ex);
		}
	}

	/**
	 * Requeues or deletes dead tasks of a name.
	 * @param name the name
	 * @param action {@code requeue-dead} or {@code delete-dead}
	 * @param error text that the error of a task contains; {@code null} for all dead
	 * tasks
	 * @param cursor the cursor of the reply before; {@code null} for the first call
	 * @return the result, or what is wrong with the request
	 */
	@WriteOperation
	public WebEndpointResponse<?> deadTasks(@Selector String name, String action, @Nullable String error,
			@Nullable String cursor) {
		try {
			StepDescriptor step = this.endpoint.deadTasks(name, action, error, cursor);
			return (step != null) ? new WebEndpointResponse<>(step) : new WebEndpointResponse<>(
					new ErrorDescriptor("No task has the name \"" + name + "\""), WebEndpointResponse.STATUS_NOT_FOUND);
		}
		catch (InvalidEndpointRequestException ex) {
			return badRequest(ex);
		}
	}

	private static WebEndpointResponse<ErrorDescriptor> badRequest(InvalidEndpointRequestException ex) {
		return new WebEndpointResponse<>(new ErrorDescriptor(String.valueOf(ex.getReason())),
				WebEndpointResponse.STATUS_BAD_REQUEST);
	}

	/**
	 * What is wrong with a request.
	 *
	 * @param error a sentence
	 */
	public record ErrorDescriptor(String error) implements OperationResponseBody {

	}

}
