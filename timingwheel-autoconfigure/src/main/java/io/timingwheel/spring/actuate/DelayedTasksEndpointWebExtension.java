package io.timingwheel.spring.actuate;

import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
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
	 * Makes a dead task pending again.
	 * @param path its name and its id, split at slashes
	 * @param action {@code requeue}
	 * @return the status alone
	 */
	@WriteOperation
	public WebEndpointResponse<Void> requeue(@Selector(match = Match.ALL_REMAINING) String[] path, String action) {
		return new WebEndpointResponse<>(switch (this.endpoint.requeue(path, action)) {
			case REQUEUED -> WebEndpointResponse.STATUS_NO_CONTENT;
			case NOT_DEAD -> WebEndpointResponse.STATUS_NOT_FOUND;
			case KEY_PENDING -> STATUS_CONFLICT;
		});
	}

}
