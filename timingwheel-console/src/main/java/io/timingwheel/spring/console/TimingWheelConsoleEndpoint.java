package io.timingwheel.spring.console;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.util.MimeTypeUtils;

/**
 * {@code /actuator/timingwheelconsole}: a page for operators. The files of the page, its
 * figures and its actions are below the same path, so the exposure, the access level and
 * the security rules of this endpoint hold for all of them. With read-only access, which
 * is the default, the page shows no actions, and requests to act are refused.
 *
 * @since 0.1
 */
@WebEndpoint(id = TimingWheelConsoleEndpoint.ID, defaultAccess = Access.READ_ONLY)
public class TimingWheelConsoleEndpoint {

	static final String ID = "timingwheelconsole";

	/** The path below the page that answers with the figures. */
	static final String LIVE = "live";

	/** The header with the name of the header that actions need, and its token. */
	static final String CSRF_HEADER = "Timingwheel-Csrf";

	/** How long the steps of one request on many dead tasks may take, in nanoseconds. */
	private static final long STEPS_NANOS = 250_000_000;

	private final ConsoleFiles files;

	private final ConsoleReader reader;

	private final DelayedTasksEndpoint tasks;

	private final Runnable csrfToken;

	private final @Nullable String application;

	private final boolean acts;

	TimingWheelConsoleEndpoint(ConsoleFiles files, ConsoleReader reader, DelayedTasksEndpoint tasks, Runnable csrfToken,
			@Nullable String application, boolean acts) {
		this.files = files;
		this.reader = reader;
		this.tasks = tasks;
		this.csrfToken = csrfToken;
		this.application = application;
		this.acts = acts;
	}

	/** The page, in HTML. */
	@ReadOperation(produces = "text/html;charset=UTF-8")
	public WebEndpointResponse<byte[]> page() {
		return this.files.page();
	}

	/**
	 * A file of the page or, as {@code live}, the figures that a view of the page shows,
	 * selected by the other parameters: each is {@code null} where it does not matter.
	 * {@code filter} is text that names contain, {@code find} the key or id of a task,
	 * {@code from} the number of names before a page.
	 */
	@ReadOperation(produces = { "application/json", "text/javascript", "text/css", "image/svg+xml" })
	@RegisterReflectionForBinding({ LiveFigures.class, ActionResult.class })
	public WebEndpointResponse<?> part(SecurityContext securityContext, @Selector String part, @Nullable String view,
			@Nullable String name, @Nullable String filter, @Nullable String sort, @Nullable String range,
			@Nullable String find, @Nullable String cursor, @Nullable String from) {
		if (part.equals(LIVE)) {
			if (this.acts) {
				this.csrfToken.run();
			}
			LiveQuery query = new LiveQuery(view, name, filter, sort, range, find, cursor, from);
			return new WebEndpointResponse<>(
					this.reader.read(query, this.tasks.showsErrors(securityContext), this.application, this.acts),
					MimeTypeUtils.APPLICATION_JSON);
		}
		WebEndpointResponse<byte[]> file = this.files.file(part);
		return (file != null) ? file : new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
	}

	/**
	 * Acts on tasks: {@code cancel}, {@code run}, {@code reschedule} or {@code requeue} a
	 * task, {@code requeue-dead} or {@code delete-dead} many, {@code pause} or
	 * {@code resume} a name or, without a name, the claims of this node. What an action
	 * does not need is {@code null}. The status is 200, or that of the refusal by the
	 * endpoint {@code delayedtasks}, with its sentence.
	 */
	@WriteOperation
	public WebEndpointResponse<ActionResult> act(String action, @Nullable String name, @Nullable String task,
			@Nullable String delay, @Nullable String error, @Nullable String group, @Nullable String cursor) {
		WebEndpointResponse<?> response = changeOnce(action, name, task, delay, error, group, cursor);
		ActionResult result = ActionResult.of(response);
		long start = System.nanoTime();
		while (name != null && result.cursor() != null && System.nanoTime() - start < STEPS_NANOS) {
			result = result.plus(ActionResult.of(this.tasks.changeName(name, action, error, group, result.cursor())));
		}
		this.reader.forget();
		int status = response.getStatus();
		return new WebEndpointResponse<>(result,
				(status < WebEndpointResponse.STATUS_BAD_REQUEST) ? WebEndpointResponse.STATUS_OK : status);
	}

	private WebEndpointResponse<?> changeOnce(String action, @Nullable String name, @Nullable String task,
			@Nullable String delay, @Nullable String error, @Nullable String group, @Nullable String cursor) {
		if (name == null) {
			return this.tasks.control(action);
		}
		if (task == null) {
			return this.tasks.changeName(name, action, error, group, cursor);
		}
		String[] path = { name, task };
		return action.equals("cancel") ? this.tasks.cancel(path)
				: this.tasks.changeTask(path, action, delay, null, null, null);
	}

}
