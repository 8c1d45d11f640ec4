package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.spring.actuate.internal.RefusedRequest;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ErrorDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ForecastDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.NameDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ResultDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TasksDescriptor;
import io.timingwheel.spring.actuate.internal.TaskView;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.NestedRuntimeException;

/**
 * {@code /actuator/delayedtasks}: the figures of the delayed tasks by name, and the
 * pending and dead tasks. Arguments are never shown. The first segment of a path is the
 * name of tasks, which contains no slash, and the rest is a key or an id. The id is the
 * way to a key that begins or ends with a slash, or that has two slashes in a row.
 *
 * <p>
 * A change of a task, of a name or of this node is answered with 204, or with a body if
 * the change has a result. Every refusal has a body with a sentence: 400 if the request
 * makes no sense, 404 if there is no such task or name, 409 if the state of the task does
 * not permit the change, 503 if the store fails.
 *
 * @since 0.1
 */
@WebEndpoint(id = "delayedtasks", defaultAccess = Access.READ_ONLY)
public class DelayedTasksEndpoint {

	private static final Log logger = LogFactory.getLog(DelayedTasksEndpoint.class);

	private final TaskView tasks;

	private final Show showValues;

	private final Set<String> roles;

	/**
	 * Creates the endpoint. There are no stored tasks if {@code storedTasks} is
	 * {@code null}. If errors are shown to authorized users only, these have one of the
	 * roles, or are all users that are logged in if there is no role.
	 */
	public DelayedTasksEndpoint(DelayedTaskRegistry tasks, @Nullable StoredTasks storedTasks, Show showValues,
			Set<String> roles) {
		this.tasks = new TaskView(tasks, storedTasks);
		this.showValues = showValues;
		this.roles = roles;
	}

	/**
	 * Shows a page of at most 100 names that contain the text {@code search}, in any
	 * case, after the {@code cursor} of the page before; or, for a {@code forecast} such
	 * as {@code PT1H}, how many tasks fall due. All parameters may be {@code null}.
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ TasksDescriptor.class, ForecastDescriptor.class, ErrorDescriptor.class })
	public WebEndpointResponse<?> tasks(@Nullable String forecast, @Nullable String search, @Nullable String cursor) {
		return answer(() -> {
			if (forecast == null) {
				return this.tasks.names(search, cursor);
			}
			if (search != null || cursor != null) {
				throw RefusedRequest
					.invalid("A forecast takes neither a search nor a cursor: it has the largest names");
			}
			return this.tasks.forecast(forecast, TaskView.LIMIT);
		});
	}

	/** Whether a user may see the texts of errors. Not an operation. */
	public boolean showsErrors(SecurityContext securityContext) {
		return this.showValues.isShown(securityContext, this.roles);
	}

	/**
	 * Shows the pending tasks of a name that are due first and, on the first page, the
	 * dead ones, if the tasks are stored: up to {@code limit} of each, from 1 to 100,
	 * which is the default. With any value of {@code dead} but {@code false}, shows the
	 * dead tasks grouped by their errors.
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ NameDescriptor.class, ResultDescriptor.class, DeadDescriptor.class,
			ErrorDescriptor.class })
	public WebEndpointResponse<?> tasksOfName(SecurityContext securityContext, @Selector String name,
			@Nullable String dead, @Nullable String limit, @Nullable String cursor) {
		boolean showErrors = showsErrors(securityContext);
		return answer(
				() -> (dead == null || dead.equals("false")) ? this.tasks.name(name, limit(limit), cursor, showErrors)
						: new ResultDescriptor(this.tasks.deadByError(name, cursor, showErrors)));
	}

	private static int limit(@Nullable String text) {
		return (text == null) ? TaskView.LIMIT
				: RefusedRequest.read(text, Integer::valueOf, (limit) -> limit >= 1 && limit <= TaskView.LIMIT,
						"The limit must be a number from 1 to %d, not \"%s\"".formatted(TaskView.LIMIT, text));
	}

	/**
	 * Shows a pending task or, if it is stored, also a running or dead one. The path is
	 * its name, and its key or id, split at slashes; a path that is a name alone shows
	 * the tasks of the name. There is no selector for the name: with WebFlux, the
	 * segments that remain would contain it again.
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ NameDescriptor.class, ResultDescriptor.class, DeadDescriptor.class,
			TaskDescriptor.class, ErrorDescriptor.class })
	public WebEndpointResponse<?> task(SecurityContext securityContext,
			@Selector(match = Match.ALL_REMAINING) String[] path, @Nullable String dead, @Nullable String limit,
			@Nullable String cursor) {
		if (path.length < 2) {
			return tasksOfName(securityContext, String.join("", path), dead, limit, cursor);
		}
		boolean showErrors = showsErrors(securityContext);
		return answer(() -> new ResultDescriptor(this.tasks.get(path[0], keyOrId(path), showErrors)));
	}

	/** A server splits the key or id at its slashes. */
	private static String keyOrId(String[] path) {
		return String.join("/", Arrays.asList(path).subList(1, path.length));
	}

	/**
	 * Cancels a pending task, or deletes a dead one, by a path as that of {@link #task}.
	 */
	@DeleteOperation
	public WebEndpointResponse<?> cancel(@Selector(match = Match.ALL_REMAINING) String... path) {
		return answer(() -> {
			if (path.length < 2) {
				throw RefusedRequest.invalid("DELETE takes the name of a task and its key or id");
			}
			this.tasks.cancel(path[0], keyOrId(path));
			return null;
		});
	}

	/**
	 * Changes a task: {@code run} makes a pending task due now, {@code reschedule} moves
	 * it to a {@code delay} from now, such as {@code PT5M}, and {@code requeue} makes a
	 * dead task pending again. If too many tasks are pending in memory, the answer is
	 * 409. A path that is a name alone changes the name, by {@link #changeName}.
	 */
	@WriteOperation
	public WebEndpointResponse<?> changeTask(@Selector(match = Match.ALL_REMAINING) String[] path,
			@Nullable String action, @Nullable String delay, @Nullable String error, @Nullable String group,
			@Nullable String cursor) {
		if (path.length < 2) {
			return changeName(String.join("", path), action, error, group, cursor);
		}
		return answer(() -> {
			change(path[0], keyOrId(path), required(action), delay);
			return null;
		});
	}

	private void change(String name, String keyOrId, String action, @Nullable String delay) {
		if (delay != null && !action.equals("reschedule")) {
			throw RefusedRequest.invalid("Only \"reschedule\" takes a delay, not \"" + action + "\"");
		}
		switch (action) {
			case "run" -> this.tasks.reschedule(name, keyOrId, Duration.ZERO);
			case "reschedule" -> this.tasks.reschedule(name, keyOrId, delay(delay));
			case "requeue" -> this.tasks.requeue(name, keyOrId);
			default -> throw RefusedRequest
				.invalid("The action on a task must be \"run\", \"reschedule\" or \"requeue\", not \"" + action + "\"");
		}
	}

	private static Duration delay(@Nullable String text) {
		if (text == null) {
			throw RefusedRequest.invalid("The action \"reschedule\" needs a delay, such as \"PT5M\"");
		}
		return RefusedRequest.read(text, DurationStyle::detectAndParse, (delay) -> !delay.isNegative(),
				"The delay must be a duration from now on, such as \"PT5M\", not \"" + text + "\"");
	}

	/**
	 * Changes a name. {@code pause} and {@code resume}: no task of the name starts
	 * meanwhile, in memory on this node, if the tasks are durable on all nodes.
	 * {@code requeue-dead} and {@code delete-dead}: acts on the dead tasks whose errors
	 * contain the text {@code error}, or on those of a {@code group}, the latest deaths
	 * first. One call handles at most 500; the caller repeats it with the {@code cursor}
	 * of the reply while tasks remain. If a property keeps the name paused on this node,
	 * the end of a pause holds for the other nodes, and the answer is 409.
	 */
	@WriteOperation
	@RegisterReflectionForBinding({ ResultDescriptor.class, StepDescriptor.class, ErrorDescriptor.class })
	public WebEndpointResponse<?> changeName(@Selector String name, @Nullable String action, @Nullable String error,
			@Nullable String group, @Nullable String cursor) {
		return answer(() -> switch (required(action)) {
			case "pause", "resume" -> {
				if (error != null || group != null) {
					throw RefusedRequest.invalid("The action \"" + action + "\" takes neither an error nor a group");
				}
				this.tasks.setPaused(name, "pause".equals(action));
				yield null;
			}
			case "requeue-dead",
					"delete-dead" ->
				new ResultDescriptor(this.tasks.changeDead(name, "requeue-dead".equals(action),
						new StoredTasks.DeadSelection((error != null && !error.isEmpty()) ? error : null, group),
						cursor));
			default -> throw RefusedRequest.invalid(
					"The action on a name must be \"pause\", \"resume\", \"requeue-dead\" or \"delete-dead\", not \""
							+ action + "\"");
		});
	}

	/** Ends or resumes the claims of this node: {@code pause} or {@code resume}. */
	@WriteOperation
	public WebEndpointResponse<?> control(@Nullable String action) {
		return answer(() -> {
			switch (required(action)) {
				case "pause" -> this.tasks.node().pause();
				case "resume" -> this.tasks.node().resume();
				default ->
					throw RefusedRequest.invalid("The action must be \"pause\" or \"resume\", not \"" + action + "\"");
			}
			return null;
		});
	}

	private static String required(@Nullable String action) {
		if (action == null) {
			throw RefusedRequest.invalid("The request needs a body with an action: {\"action\":\"...\"}");
		}
		return action;
	}

	/** An operation without a result is answered with 204. */
	private static WebEndpointResponse<?> answer(Supplier<? extends @Nullable OperationResponseBody> operation) {
		try {
			OperationResponseBody body = operation.get();
			return (body != null) ? new WebEndpointResponse<>(body)
					: new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT);
		}
		catch (RefusedRequest ex) {
			return new WebEndpointResponse<>(new ErrorDescriptor(String.valueOf(ex.getMessage())), ex.status());
		}
		catch (NestedRuntimeException ex) {
			logger.warn("The store has failed a request of an operator", ex);
			return new WebEndpointResponse<>(new ErrorDescriptor("The store has failed: see the log"),
					WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
		}
	}

}
