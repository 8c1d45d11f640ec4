package io.timingwheel.spring.actuate;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint.CountsDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.DeadDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.NameDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.NodeDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.PauseDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.StepDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TaskDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TasksDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.core.task.TaskRejectedException;

/**
 * {@link DelayedTasksEndpoint} over HTTP. A change of a task, of a name or of this node
 * is answered with 204, or with a body if the change has a result. Every refusal has a
 * body with a sentence: 400 if the request makes no sense, 404 if there is no such task
 * or name, 409 if the state of the task does not permit the change.
 *
 * @since 0.1
 */
@EndpointWebExtension(endpoint = DelayedTasksEndpoint.class)
public class DelayedTasksEndpointWebExtension {

	private static final int STATUS_CONFLICT = 409;

	private final DelayedTasksEndpoint endpoint;

	private final Show showValues;

	private final Set<String> roles;

	/**
	 * Creates the extension.
	 * @param endpoint the endpoint to extend
	 * @param showValues whether to show keys and the texts of errors
	 * @param roles the roles that a user needs one of, if values are shown to authorized
	 * users only; none for all users that are logged in
	 */
	public DelayedTasksEndpointWebExtension(DelayedTasksEndpoint endpoint, Show showValues, Set<String> roles) {
		this.endpoint = endpoint;
		this.showValues = showValues;
		this.roles = roles;
	}

	/**
	 * The figures of the names, in pages of at most 100 names, or a forecast.
	 * @param forecast how far to look ahead, such as {@code PT1H}; {@code null} for the
	 * figures
	 * @param search text that the names contain, in upper or lower case; {@code null} for
	 * all names
	 * @param cursor the cursor of the page before; {@code null} for the first page
	 * @return the figures or the forecast, or what is wrong with the request
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ TasksDescriptor.class, ForecastDescriptor.class, ErrorDescriptor.class })
	public WebEndpointResponse<?> tasks(@Nullable String forecast, @Nullable String search, @Nullable String cursor) {
		return answer("", () -> this.endpoint.tasks(forecast, search, cursor));
	}

	/**
	 * The figures of all names. Not an operation: the console chooses and orders them.
	 * @return the figures by name
	 */
	public Map<String, CountsDescriptor> counts() {
		return this.endpoint.counts(null);
	}

	/**
	 * The nodes that share the store. Not an operation: the console shows them.
	 * @return the nodes, {@code null} without a store
	 */
	public @Nullable List<NodeDescriptor> nodes() {
		return this.endpoint.nodes();
	}

	/**
	 * The tasks of a name.
	 * @param securityContext tells who asks
	 * @param name the name
	 * @param dead with any value but {@code false}, the dead tasks grouped by their
	 * errors; {@code null} for the tasks
	 * @param limit how many tasks at most, from 1 to 100; {@code null} for 100
	 * @param cursor the cursor of the page before; {@code null} for the first page
	 * @return the tasks, or what is wrong with the request
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ NameDescriptor.class, DeadDescriptor.class, ErrorDescriptor.class })
	public WebEndpointResponse<?> tasksOfName(SecurityContext securityContext, @Selector String name,
			@Nullable String dead, @Nullable String limit, @Nullable String cursor) {
		return answer(nothingHasTheName(name),
				() -> this.endpoint.readName(name, dead, number(limit), cursor, isShown(securityContext)));
	}

	/**
	 * A task. If the whole path is a name, the tasks of this name.
	 * @param securityContext tells who asks
	 * @param path the name, and the key of a pending task or the id; split at slashes
	 * @param dead as for the tasks of a name, if the path is a name
	 * @param limit as for the tasks of a name, if the path is a name
	 * @param cursor as for the tasks of a name, if the path is a name
	 * @return the task or the name, or what is wrong with the request
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ NameDescriptor.class, DeadDescriptor.class, TaskDescriptor.class,
			ErrorDescriptor.class })
	public WebEndpointResponse<?> task(SecurityContext securityContext,
			@Selector(match = Match.ALL_REMAINING) String[] path, @Nullable String dead, @Nullable String limit,
			@Nullable String cursor) {
		TaskPath task = TaskPath.of(path);
		return answer(noSuchTask(task),
				() -> this.endpoint.readTask(task, dead, number(limit), cursor, isShown(securityContext)));
	}

	/**
	 * The recurring tasks of some names that are due first. Not an operation: the console
	 * shows them.
	 * @param securityContext tells who asks
	 * @param names the names
	 * @param limit how many of the pending tasks of each name to look at
	 * @return the recurring ones among these tasks
	 */
	public List<TaskDescriptor> schedules(SecurityContext securityContext, List<String> names, int limit) {
		boolean showValues = isShown(securityContext);
		return names.stream().flatMap((name) -> this.endpoint.schedules(name, limit, showValues).stream()).toList();
	}

	private boolean isShown(SecurityContext securityContext) {
		return this.showValues.isShown(securityContext, this.roles);
	}

	private static @Nullable Integer number(@Nullable String limit) {
		try {
			return (limit != null) ? Integer.valueOf(limit) : null;
		}
		catch (NumberFormatException ex) {
			throw DelayedTasksEndpoint.invalid(
					"The limit must be a number from 1 to " + DelayedTasksEndpoint.LIMIT + ", not \"" + limit + "\"");
		}
	}

	/**
	 * Cancels a pending task, or deletes a dead one.
	 * @param path the name, and the key of a pending task or the id; split at slashes
	 * @return 204, or what is wrong with the request
	 */
	@DeleteOperation
	public WebEndpointResponse<?> cancel(@Selector(match = Match.ALL_REMAINING) String... path) {
		return this.endpoint.cancel(path) ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT)
				: notFound(noSuchTask(TaskPath.of(path)));
	}

	/**
	 * Changes a task. If the whole path is a name, as {@link #changeName}.
	 * @param path its name, and its key or its id; split at slashes
	 * @param action {@code run}, {@code reschedule} or {@code requeue}
	 * @param delay for {@code reschedule}: how long from now
	 * @param error as in {@link #changeName}, if the path is a name
	 * @param group as in {@link #changeName}, if the path is a name
	 * @param cursor as in {@link #changeName}, if the path is a name
	 * @return 204, or what is wrong with the request; as {@link #changeName} for a name
	 */
	@WriteOperation
	public WebEndpointResponse<?> changeTask(@Selector(match = Match.ALL_REMAINING) String[] path,
			@Nullable String action, @Nullable String delay, @Nullable String error, @Nullable String group,
			@Nullable String cursor) {
		TaskPath task = TaskPath.of(path);
		if (task.keyOrId() == null) {
			return changeName(task.name(), action, error, group, cursor);
		}
		return checked(() -> switch (this.endpoint.change(task, required(action), delay)) {
			case DONE -> new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT);
			case NOT_FOUND -> notFound("requeue".equals(action)
					? "No dead task of \"%s\" has the id \"%s\"".formatted(task.name(), task.keyOrId())
					: noSuchTask(task));
			case NOT_PENDING -> conflict("The task is running or dead: only a pending task can be moved");
			case KEY_PENDING -> conflict("The key of the task has a pending task");
		});
	}

	/**
	 * Changes the tasks of a name.
	 * @param name the name
	 * @param action {@code pause}, {@code resume}, {@code requeue-dead} or
	 * {@code delete-dead}
	 * @param error text that the error of a dead task contains; {@code null} for all dead
	 * tasks
	 * @param group the id of a group of dead tasks, for exactly the tasks of this group;
	 * {@code null} for all dead tasks
	 * @param cursor the cursor of the reply before; {@code null} for the first call
	 * @return 204 for a pause and its end, otherwise the result; or what is wrong with
	 * the request. If a property keeps the name paused on this node, the end of a pause
	 * holds for the other nodes, and the status is 409
	 */
	@WriteOperation
	@RegisterReflectionForBinding({ StepDescriptor.class, ErrorDescriptor.class })
	public WebEndpointResponse<?> changeName(@Selector String name, @Nullable String action, @Nullable String error,
			@Nullable String group, @Nullable String cursor) {
		return checked(() -> {
			OperationResponseBody result = this.endpoint.changeName(name, required(action), error, group, cursor);
			if (result instanceof PauseDescriptor pause) {
				return (pause.paused() && "resume".equals(action)) ? conflict(staysPaused(name))
						: new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT);
			}
			return (result != null) ? new WebEndpointResponse<>(result) : notFound(nothingHasTheName(name));
		});
	}

	/**
	 * Ends or resumes the claims of durable tasks by this node.
	 * @param action {@code pause} or {@code resume}
	 * @return 204, or what is wrong with the request
	 */
	@WriteOperation
	public WebEndpointResponse<?> control(@Nullable String action) {
		return checked(() -> {
			this.endpoint.control(required(action));
			return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT);
		});
	}

	private static String required(@Nullable String action) {
		if (action == null) {
			throw DelayedTasksEndpoint.invalid("The request needs a body with an action: {\"action\":\"...\"}");
		}
		return action;
	}

	private static String nothingHasTheName(String name) {
		return "No task has the name \"" + name + "\"";
	}

	private static String staysPaused(String name) {
		return ("The tasks of \"%1$s\" stay paused on this node, since timingwheel.tasks.%1$s.paused is true."
				+ " Nodes without this property start them")
			.formatted(name);
	}

	private static String noSuchTask(TaskPath path) {
		return (path.keyOrId() == null) ? nothingHasTheName(path.name())
				: "No task of \"%s\" has the key or id \"%s\"".formatted(path.name(), path.keyOrId());
	}

	/**
	 * Answers with a body, or with 404 if there is none.
	 */
	private static WebEndpointResponse<?> answer(String notFound, Supplier<@Nullable OperationResponseBody> operation) {
		return checked(() -> {
			OperationResponseBody body = operation.get();
			return (body != null) ? new WebEndpointResponse<>(body) : notFound(notFound);
		});
	}

	private static WebEndpointResponse<?> checked(Supplier<WebEndpointResponse<?>> operation) {
		try {
			return operation.get();
		}
		catch (InvalidEndpointRequestException ex) {
			return refused(String.valueOf(ex.getReason()), WebEndpointResponse.STATUS_BAD_REQUEST);
		}
		catch (TaskRejectedException ex) {
			return conflict(String.valueOf(ex.getMessage()));
		}
	}

	private static WebEndpointResponse<?> notFound(String error) {
		return refused(error, WebEndpointResponse.STATUS_NOT_FOUND);
	}

	private static WebEndpointResponse<?> conflict(String error) {
		return refused(error, STATUS_CONFLICT);
	}

	private static WebEndpointResponse<?> refused(String error, int status) {
		return new WebEndpointResponse<>(new ErrorDescriptor(error), status);
	}

	/**
	 * What is wrong with a request.
	 *
	 * @param error a sentence
	 */
	public record ErrorDescriptor(String error) implements OperationResponseBody {

	}

}
