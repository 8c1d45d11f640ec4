package io.timingwheel.spring.actuate;

import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * Answers a {@code DELETE} with 204, or with 404 when nothing was pending.
 */
@EndpointWebExtension(endpoint = DelayedTasksEndpoint.class)
public class DelayedTasksEndpointWebExtension {

	private final DelayedTasksEndpoint endpoint;

	/**
	 * Creates the extension.
	 * @param endpoint the endpoint to extend
	 */
	public DelayedTasksEndpointWebExtension(DelayedTasksEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/**
	 * Cancels a pending task.
	 * @param name its name
	 * @param keyOrId its key or its id, split at slashes
	 * @return the status alone
	 */
	@DeleteOperation
	public WebEndpointResponse<Void> cancel(@Selector String name,
			@Selector(match = Match.ALL_REMAINING) String... keyOrId) {
		return new WebEndpointResponse<>(this.endpoint.cancel(name, keyOrId) ? WebEndpointResponse.STATUS_NO_CONTENT
				: WebEndpointResponse.STATUS_NOT_FOUND);
	}

}
