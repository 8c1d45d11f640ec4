package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails.State;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.PendingTaskSnapshot;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.task.TaskRejectedException;

/**
 * {@code /actuator/delayedtasks}: the figures of the delayed tasks by name, and the
 * pending and dead tasks. Arguments are never shown. The first segment of a path is the
 * name of tasks, which contains no slash, and the rest is a key or an id. The id is the
 * way to a key that begins or ends with a slash, or that has two slashes in a row.
 *
 * @since 0.1
 */
@Endpoint(id = "delayedtasks", defaultAccess = Access.READ_ONLY)
public class DelayedTasksEndpoint {

	/** How many pending tasks and how many dead tasks of a name are listed at most. */
	static final int LIMIT = 100;

	private static final String MASK = "******";

	private final DelayedTaskRegistry tasks;

	private final EndpointStore store;

	private final Show showValues;

	/**
	 * Creates the endpoint.
	 * @param tasks the tasks to show
	 * @param storedTasks the stored tasks, {@code null} if there is no store
	 * @param showValues whether to show keys and the texts of errors
	 */
	public DelayedTasksEndpoint(DelayedTaskRegistry tasks, @Nullable StoredTasks storedTasks, Show showValues) {
		this.tasks = tasks;
		this.store = new EndpointStore(storedTasks);
		this.showValues = showValues;
	}

	/**
	 * The figures of the names, in pages of at most 100 names, or a forecast.
	 * @param forecast how far to look ahead, such as {@code PT1H}; {@code null} for the
	 * figures
	 * @param search text that the names contain, in upper or lower case; {@code null} for
	 * all names
	 * @param cursor the cursor of the page before; {@code null} for the first page
	 * @return a {@link TasksDescriptor} or a {@link ForecastDescriptor}
	 * @throws InvalidEndpointRequestException if there is no such period, or if a
	 * forecast is to have a search or a cursor
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ TasksDescriptor.class, ForecastDescriptor.class })
	public OperationResponseBody tasks(@Nullable String forecast, @Nullable String search, @Nullable String cursor) {
		if (forecast == null) {
			return figures(search, cursor);
		}
		if (search != null || cursor != null) {
			throw invalid("A forecast takes neither a search nor a cursor: it has the names with the most tasks");
		}
		return this.store.forecast(forecast, this.tasks);
	}

	private TasksDescriptor figures(@Nullable String search, @Nullable String cursor) {
		NavigableMap<String, CountsDescriptor> names = counts(search);
		List<NodeDescriptor> nodes = (cursor == null) ? this.store.nodes() : null;
		PageSize size = PageSize.ofNames();
		if (nodes != null) {
			nodes.forEach((node) -> size.hasRoomFor(node.id()));
		}
		Map<String, CountsDescriptor> page = new LinkedHashMap<>();
		String last = null;
		boolean more = false;
		for (Map.Entry<String, CountsDescriptor> name : ((cursor != null) ? names.tailMap(cursor, false) : names)
			.entrySet()) {
			more = last != null && (page.size() == LIMIT || !size.hasRoomFor(name.getKey()));
			if (more) {
				break;
			}
			last = name.getKey();
			page.put(last, name.getValue());
		}
		return new TasksDescriptor(page, TotalsDescriptor.of(names.values()), nodes, more ? last : null);
	}

	/**
	 * The figures of all names that contain a text.
	 * @param search the text, {@code null} for all names
	 * @return the figures by name, sorted
	 */
	NavigableMap<String, CountsDescriptor> counts(@Nullable String search) {
		Map<String, StoredTaskCounts> stored = this.store.counts();
		Set<String> names = new HashSet<>(this.tasks.names());
		names.addAll(stored.keySet());
		NavigableMap<String, CountsDescriptor> counts = new TreeMap<>();
		String text = (search != null) ? search.toLowerCase(Locale.ROOT) : "";
		names.stream()
			.filter((name) -> name.toLowerCase(Locale.ROOT).contains(text))
			.forEach((name) -> counts.put(name, counts(name, stored.get(name))));
		return counts;
	}

	@Nullable List<NodeDescriptor> nodes() {
		return this.store.nodes();
	}

	private CountsDescriptor counts(String name, @Nullable StoredTaskCounts stored) {
		boolean paused = (stored != null) ? this.store.isPaused(name) : this.tasks.isPaused(name);
		return CountsDescriptor.of(this.tasks.counts(name), this.tasks.waiting(name), paused, stored);
	}

	/**
	 * The pending tasks of a name that are due first. If the tasks of the name are
	 * stored, the first page also has the dead tasks.
	 * @param name the name
	 * @param dead with any value but {@code false}, the dead tasks grouped by their
	 * errors; {@code null} for the tasks
	 * @param limit how many pending and how many dead tasks at most, from 1 to 100;
	 * {@code null} for 100
	 * @param cursor the cursor of the page before; {@code null} for the first page
	 * @return a {@link NameDescriptor} or a {@link DeadDescriptor}; {@code null} if the
	 * name is not known, or has no stored tasks that could be dead
	 * @throws InvalidEndpointRequestException if there is no such limit or cursor
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ NameDescriptor.class, DeadDescriptor.class })
	public @Nullable OperationResponseBody tasksOfName(@Selector String name, @Nullable String dead,
			@Nullable Integer limit, @Nullable String cursor) {
		return readName(name, dead, limit, cursor, this.showValues.isShown(true));
	}

	@Nullable OperationResponseBody readName(String name, @Nullable String dead, @Nullable Integer limit, @Nullable String cursor,
			boolean showValues) {
		if (dead != null && !dead.equals("false")) {
			return this.store.isKnown(name) ? DeadDescriptor.of(name, this.store.deadByError(name, cursor), showValues)
					: null;
		}
		if (limit != null && (limit < 1 || limit > LIMIT)) {
			throw invalid("The limit must be a number from 1 to " + LIMIT + ", not " + limit);
		}
		PendingCursor after = (cursor != null) ? PendingCursor.parse(cursor) : null;
		return describe(name, (limit != null) ? limit : LIMIT, after, showValues);
	}

	private @Nullable NameDescriptor describe(String name, int limit, @Nullable PendingCursor after,
			boolean showValues) {
		StoredTaskCounts stored = this.store.counts(name);
		boolean durable = stored != null;
		if (!durable && !this.tasks.names().contains(name)) {
			return null;
		}
		// One more task shows whether there is another page.
		List<TaskDescriptor> next = durable ? this.store.pending(name, after, limit + 1)
				: this.tasks.memoryTasks()
					.page(name, (after != null) ? after.inMemory() : null, limit + 1)
					.stream()
					.map(TaskDescriptor::of)
					.toList();
		List<TaskDescriptor> page = page(next, limit);
		String cursor = (page.size() < next.size()) ? PendingCursor.of(page.get(page.size() - 1)).toString() : null;
		List<TaskDescriptor> dead = (durable && after == null) ? page(this.store.dead(name, limit), limit) : null;
		return new NameDescriptor(name, counts(name, stored), shown(page, showValues),
				(dead != null) ? shown(dead, showValues) : null, cursor,
				(!durable && this.tasks.memoryTasks().isSampled(name)) ? true : null);
	}

	/**
	 * As many tasks as fit into a page, and the beginnings of their errors.
	 */
	private static List<TaskDescriptor> page(List<TaskDescriptor> tasks, int limit) {
		PageSize size = PageSize.ofTasks();
		return tasks.stream()
			.limit(limit)
			.map(TaskDescriptor::withBeginOfError)
			.takeWhile((task) -> size.hasRoomFor(task.name(), task.key(), task.error(), task.schedule()))
			.toList();
	}

	private static List<TaskDescriptor> shown(List<TaskDescriptor> tasks, boolean showValues) {
		return showValues ? tasks : tasks.stream().map(TaskDescriptor::masked).toList();
	}

	/**
	 * A pending task or, if it is stored, also a running or dead one. If the whole path
	 * is a name, the tasks of this name.
	 * @param path the name, and the key of a pending task or the id; split at slashes.
	 * There is no selector for the name alone: with WebFlux, the segments that remain
	 * would contain the name again
	 * @param dead as for the tasks of a name, if the path is a name
	 * @param limit as for the tasks of a name, if the path is a name
	 * @param cursor as for the tasks of a name, if the path is a name
	 * @return the task or the name, {@code null} if there is no such task
	 * @throws InvalidEndpointRequestException if there is no such limit or cursor
	 */
	@ReadOperation
	@RegisterReflectionForBinding({ NameDescriptor.class, DeadDescriptor.class, TaskDescriptor.class })
	public @Nullable OperationResponseBody task(@Selector(match = Match.ALL_REMAINING) String[] path,
			@Nullable String dead, @Nullable Integer limit, @Nullable String cursor) {
		return readTask(TaskPath.of(path), dead, limit, cursor, this.showValues.isShown(true));
	}

	@Nullable OperationResponseBody readTask(TaskPath path, @Nullable String dead, @Nullable Integer limit,
			@Nullable String cursor, boolean showValues) {
		if (path.keyOrId() == null) {
			return readName(path.name(), dead, limit, cursor, showValues);
		}
		TaskDescriptor task = find(path.name(), path.keyOrId());
		return (task == null || showValues) ? task : task.masked();
	}

	private @Nullable TaskDescriptor find(String name, String keyOrId) {
		return this.tasks.memoryTasks()
			.find(name, keyOrId)
			.map(TaskDescriptor::of)
			.or(() -> this.store.find(name, keyOrId))
			.orElse(null);
	}

	/**
	 * Cancels a pending task, or deletes a dead one.
	 * @param path the name, and the key of a pending task or the id; split at slashes
	 * @return whether there was such a task
	 */
	@DeleteOperation
	public boolean cancel(@Selector(match = Match.ALL_REMAINING) String... path) {
		TaskPath task = TaskPath.of(path);
		return task.keyOrId() != null
				&& (this.tasks.cancel(task.name(), task.keyOrId()) || this.store.cancel(task.name(), task.keyOrId()));
	}

	/**
	 * Changes a task.
	 * @param path its name, and its key or its id; split at slashes
	 * @param action {@code run} makes a pending task due now, {@code reschedule} moves a
	 * pending task, {@code requeue} makes a dead task pending again
	 * @param delay for {@code reschedule}: how long from now, such as {@code PT5M}
	 * @return whether the task is changed, and if not, why
	 * @throws InvalidEndpointRequestException if there is no such action or delay
	 * @throws TaskRejectedException if too many tasks are pending in memory; the task
	 * then stays as it is
	 */
	@WriteOperation
	public TaskChange changeTask(@Selector(match = Match.ALL_REMAINING) String[] path, String action,
			@Nullable String delay) {
		return change(TaskPath.of(path), action, delay);
	}

	TaskChange change(TaskPath path, String action, @Nullable String delay) {
		if (delay != null && !action.equals("reschedule")) {
			throw invalid("Only \"reschedule\" takes a delay, not \"" + action + "\"");
		}
		return switch (action) {
			case "run" -> move(path, Duration.ZERO);
			case "reschedule" -> move(path, delay(delay));
			case "requeue" ->
				(path.keyOrId() != null) ? this.store.requeue(path.name(), path.keyOrId()) : TaskChange.NOT_FOUND;
			default -> throw invalid(
					"The action on a task must be \"run\", \"reschedule\" or \"requeue\", not \"" + action + "\"");
		};
	}

	private TaskChange move(TaskPath path, Duration delay) {
		if (path.keyOrId() == null) {
			return TaskChange.NOT_FOUND;
		}
		return this.tasks.reschedule(path.name(), path.keyOrId(), delay) ? TaskChange.DONE
				: this.store.reschedule(path.name(), path.keyOrId(), delay);
	}

	private static Duration delay(@Nullable String text) {
		if (text == null) {
			throw invalid("The action \"reschedule\" needs a delay, such as \"PT5M\"");
		}
		try {
			Duration delay = DurationStyle.detectAndParse(text);
			if (!delay.isNegative()) {
				return delay;
			}
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			// The message below names the remedy
		}
		throw invalid("The delay must be a duration from now on, such as \"PT5M\", not \"" + text + "\"");
	}

	/**
	 * Pauses or resumes a name, or requeues or deletes its dead tasks. During a pause no
	 * task of the name starts: in memory on this node, if the tasks are durable on all
	 * nodes. Of the dead tasks the oldest deaths come first. One call handles at most 500
	 * of them. The caller repeats the call with the cursor of the reply while tasks
	 * remain.
	 * @param name the name
	 * @param action {@code pause}, {@code resume}, {@code requeue-dead} or
	 * {@code delete-dead}
	 * @param error text that the error of a task contains; {@code null} for all dead
	 * tasks
	 * @param group {@link GroupDescriptor#group()}, for exactly the tasks of this group;
	 * {@code null} for all dead tasks
	 * @param cursor the cursor of the reply before; {@code null} for the first call
	 * @return a {@link PauseDescriptor} or a {@link StepDescriptor}; {@code null} if the
	 * name is not known
	 * @throws InvalidEndpointRequestException if there is no such action, group or
	 * cursor, if there are both an error and a group, or if the action takes neither; if
	 * the tasks of the name are not durable and so none is kept when it is dead, or if
	 * the store cannot pause names
	 */
	@WriteOperation
	@RegisterReflectionForBinding({ PauseDescriptor.class, StepDescriptor.class })
	public @Nullable OperationResponseBody changeName(@Selector String name, String action, @Nullable String error,
			@Nullable String group, @Nullable String cursor) {
		boolean pause = action.equals("pause");
		if (pause || action.equals("resume")) {
			if (error != null || group != null) {
				throw invalid(
						"Only \"requeue-dead\" and \"delete-dead\" take an error or a group, not \"" + action + "\"");
			}
			return setPaused(name, pause) ? new PauseDescriptor(pause || this.store.isPausedByPolicy(name)) : null;
		}
		boolean requeue = action.equals("requeue-dead");
		if (!requeue && !action.equals("delete-dead")) {
			throw invalid(
					"The action on a name must be \"pause\", \"resume\", \"requeue-dead\" or \"delete-dead\", not \""
							+ action + "\"");
		}
		if (!this.store.isKnown(name)) {
			if (!this.tasks.isKnown(name)) {
				return null;
			}
			throw invalid("The tasks of \"" + name + "\" are not durable, so none of them is kept when it is dead");
		}
		StoredTasks.DeadSelection which = which(error, group);
		return StepDescriptor
			.of(requeue ? this.store.requeueDead(name, which, cursor) : this.store.deleteDead(name, which, cursor));
	}

	private static StoredTasks.DeadSelection which(@Nullable String error, @Nullable String group) {
		if (error != null && group != null) {
			throw invalid("A request takes an error or a group, not both");
		}
		return new StoredTasks.DeadSelection((error != null && !error.isEmpty()) ? error : null, group);
	}

	private boolean setPaused(String name, boolean paused) {
		return this.store.isKnown(name) ? this.store.setPaused(name, paused) : this.tasks.setPaused(name, paused);
	}

	/**
	 * The recurring tasks among the pending tasks of a name that are due first.
	 */
	List<TaskDescriptor> schedules(String name, int limit, boolean showValues) {
		List<TaskDescriptor> next = this.store.isKnown(name) ? this.store.pending(name, null, limit)
				: this.tasks.memoryTasks().first(name, limit).stream().map(TaskDescriptor::of).toList();
		return shown(page(next.stream().filter((task) -> task.schedule() != null).toList(), limit), showValues);
	}

	/**
	 * Ends or resumes the claims of durable tasks by this node.
	 * @param action {@code pause} or {@code resume}
	 * @return whether this node claims tasks from now on
	 * @throws InvalidEndpointRequestException if there is no such action, or no store
	 */
	@WriteOperation
	public boolean control(String action) {
		switch (action) {
			case "pause" -> this.store.node().pause();
			case "resume" -> this.store.node().resume();
			default -> throw invalid("The action must be \"pause\" or \"resume\", not \"" + action + "\"");
		}
		return this.store.node().isClaiming();
	}

	static InvalidEndpointRequestException invalid(String reason) {
		return new InvalidEndpointRequestException(reason, reason);
	}

	static InvalidEndpointRequestException invalid(String reason, Throwable cause) {
		return new InvalidEndpointRequestException(reason, reason, cause);
	}

	/**
	 * The result of a change of a task.
	 */
	public enum TaskChange {

		/** The task is changed. */
		DONE,

		/** There is no such task, or the task that was to be requeued is not dead. */
		NOT_FOUND,

		/** The task is running or dead, and stays as it is. */
		NOT_PENDING,

		/** The task stays dead, because its key has a pending task. */
		KEY_PENDING;

		static TaskChange of(StoredTasks.Change change) {
			return valueOf(change.name());
		}

	}

	/**
	 * A page of names with their figures.
	 *
	 * @param tasks the figures by name
	 * @param totals the figures of all names that the search finds, on this page or not
	 * @param nodes the nodes that share the store, the one that reported last first;
	 * {@code null} without a store and after the first page
	 * @param cursor where the next page begins, {@code null} if there is none
	 */
	public record TasksDescriptor(Map<String, CountsDescriptor> tasks, TotalsDescriptor totals,
			@Nullable List<NodeDescriptor> nodes, @Nullable String cursor) implements OperationResponseBody {

	}

	/**
	 * The figures of several names together.
	 *
	 * @param names how many names these are
	 * @param pending how many tasks have not begun
	 * @param running how many have begun and not ended
	 * @param completed how many ended with a result
	 * @param failed how many ended with an exception
	 * @param cancelled how many were cancelled
	 * @param expired how many were too late to be started
	 * @param overdue how many stored tasks are past their due time and have not begun
	 * @param dead how many stored tasks have failed for good
	 * @param waiting how many tasks are due and held back by policies or pauses
	 * @param estimated whether the figures of a name are estimates
	 */
	public record TotalsDescriptor(int names, long pending, long running, long completed, long failed, long cancelled,
			long expired, long overdue, long dead, long waiting, boolean estimated) {

		/**
		 * Adds figures.
		 * @param names the figures of each name
		 * @return the sums
		 */
		public static TotalsDescriptor of(Collection<CountsDescriptor> names) {
			return new TotalsDescriptor(names.size(), sum(names, CountsDescriptor::pending),
					sum(names, CountsDescriptor::running), sum(names, CountsDescriptor::completed),
					sum(names, CountsDescriptor::failed), sum(names, CountsDescriptor::cancelled),
					sum(names, CountsDescriptor::expired), sum(names, CountsDescriptor::overdue),
					sum(names, CountsDescriptor::dead), sum(names, CountsDescriptor::waiting),
					names.stream().anyMatch(CountsDescriptor::estimated));
		}

		private static long sum(Collection<CountsDescriptor> names, ToLongFunction<CountsDescriptor> figure) {
			return names.stream().mapToLong(figure).sum();
		}

	}

	/**
	 * A node that shares the store. A node reports every few seconds, and is listed up to
	 * ten minutes after its last report.
	 *
	 * @param id the node, as {@code timingwheel.store.node-id}
	 * @param thisNode whether it is the node that answers
	 * @param claiming whether it claims tasks
	 * @param inFlight how many tasks it has claimed and not settled
	 * @param age how long ago it has reported this
	 */
	public record NodeDescriptor(String id, boolean thisNode, boolean claiming, int inFlight, Duration age) {

		static NodeDescriptor of(StoreNode.Reported node) {
			return new NodeDescriptor(node.id(), node.thisNode(), node.claiming(), node.inFlight(), node.age());
		}

	}

	/**
	 * The figures of one name.
	 *
	 * @param durable whether its tasks are stored
	 * @param pending how many have not begun
	 * @param running how many have begun and not ended
	 * @param completed how many ended with a result
	 * @param failed how many ended with an exception
	 * @param cancelled how many were cancelled
	 * @param expired how many were too late to be started
	 * @param overdue how many stored tasks are past their due time and have not begun
	 * @param dead how many stored tasks have failed for good
	 * @param paused whether none of its tasks starts until the name is resumed
	 * @param waiting how many tasks are due and held back by the policy of the name or by
	 * its pause
	 * @param estimated whether the large ones of the figures of stored tasks are
	 * estimates
	 */
	public record CountsDescriptor(boolean durable, long pending, long running, long completed, long failed,
			long cancelled, long expired, long overdue, long dead, boolean paused, long waiting, boolean estimated) {

		/**
		 * Each node counts the tasks that have ended on this node. The figures of stored
		 * tasks are the same on all nodes.
		 */
		static CountsDescriptor of(TaskCounts counts, long waiting, boolean paused, @Nullable StoredTaskCounts stored) {
			if (stored == null) {
				return new CountsDescriptor(false, counts.pending(), counts.running(), counts.completed(),
						counts.failed(), counts.cancelled(), counts.expired(), 0, 0, paused, waiting, false);
			}
			return new CountsDescriptor(true, stored.pending(), stored.running(), counts.completed(), counts.failed(),
					counts.cancelled(), counts.expired(), stored.overdue(), stored.dead(), paused, stored.waiting(),
					stored.estimated());
		}

	}

	/**
	 * The figures of a name, and its tasks.
	 *
	 * @param name the name
	 * @param counts its figures
	 * @param next the pending tasks that are due first
	 * @param dead the stored tasks that died last, {@code null} for tasks in memory and
	 * after the first page
	 * @param cursor where the next page of pending tasks begins, {@code null} if there is
	 * none
	 * @param sampled {@code true} if the pending tasks are those of a sample, since there
	 * are more than 100,000 in memory; otherwise {@code null}
	 */
	public record NameDescriptor(String name, CountsDescriptor counts, List<TaskDescriptor> next,
			@Nullable List<TaskDescriptor> dead, @Nullable String cursor,
			@Nullable Boolean sampled) implements OperationResponseBody {

	}

	/**
	 * Dead tasks of a name, grouped by their errors, those that died last first.
	 *
	 * @param name the name
	 * @param groups the groups, the one with the latest death first
	 * @param examined how many dead tasks are in the groups
	 * @param complete whether the groups contain all dead tasks of the name
	 * @param cursor where the groups of the tasks that died earlier follow, {@code null}
	 * if there are none
	 */
	public record DeadDescriptor(String name, List<GroupDescriptor> groups, int examined, boolean complete,
			@Nullable String cursor) implements OperationResponseBody {

		/** One hundred groups then take no more than 90 KB. */
		private static final int MAX_ERROR_BYTES = 700;

		static DeadDescriptor of(String name, DeadGroups dead, boolean showValues) {
			return new DeadDescriptor(name,
					dead.groups()
						.stream()
						.map((group) -> new GroupDescriptor(
								showValues ? PageSize.beginOf(group.error(), MAX_ERROR_BYTES) : MASK, group.group(),
								group.count(), group.first(), group.last(), group.id()))
						.toList(),
					dead.examined(), dead.complete(), dead.cursor());
		}

	}

	/**
	 * Dead tasks with the same error.
	 *
	 * @param error the first 250 characters of the error, or fewer if these take more
	 * than 700 bytes of JSON
	 * @param group the id of the group, by which {@code requeue-dead} and
	 * {@code delete-dead} mean exactly these tasks. It does not show the error
	 * @param count how many tasks
	 * @param first when the first of them died
	 * @param last when the last of them died
	 * @param id the id of the one that died last
	 */
	public record GroupDescriptor(String error, String group, int count, Instant first, Instant last, String id) {

	}

	/**
	 * The result of a pause or its end.
	 *
	 * @param paused whether the name is paused on this node from now on: {@code true}
	 * also after the end of a pause, if {@code timingwheel.tasks.<name>.paused} pauses
	 * stored tasks
	 */
	public record PauseDescriptor(boolean paused) implements OperationResponseBody {

	}

	/**
	 * What one call has done to dead tasks.
	 *
	 * @param affected how many it has requeued or deleted
	 * @param skipped how many stay dead because their keys have pending tasks
	 * @param remaining whether to repeat the call with the cursor
	 * @param cursor where the next call goes on, {@code null} if nothing remains
	 */
	public record StepDescriptor(int affected, int skipped, boolean remaining,
			@Nullable String cursor) implements OperationResponseBody {

		static StepDescriptor of(StoredTasks.DeadStep step) {
			return new StepDescriptor(step.affected(), step.skipped(), step.remaining(), step.cursor());
		}

	}

	/**
	 * A task.
	 *
	 * @param id the id, which no other task has
	 * @param name the task's name
	 * @param key its key, {@code null} if it has none
	 * @param dueAt when it is due
	 * @param state the state of a stored task, {@code null} for a task in memory
	 * @param attempt the number of the next or current attempt of a stored task,
	 * {@code null} for a task in memory
	 * @param deliveries how often a stored task has begun, {@code null} for a task in
	 * memory
	 * @param error the last failure of a stored task, {@code null} if there was none
	 * @param schedule the schedule of a recurring task, such as {@code every(PT5M)};
	 * {@code null} for another task
	 * @param next when the next regular run of a recurring task is due, {@code null} if
	 * this depends on the end of the present run
	 * @param unknown {@code true} for a stored task whose method this node does not have,
	 * {@code null} for another task
	 * @param diedAt when a dead task died, {@code null} for another task
	 */
	public record TaskDescriptor(String id, String name, @JsonInclude(Include.ALWAYS) @Nullable String key,
			Instant dueAt, @Nullable State state, @Nullable Integer attempt, @Nullable Integer deliveries,
			@Nullable String error, @Nullable String schedule, @Nullable Instant next, @Nullable Boolean unknown,
			@Nullable Instant diedAt) implements OperationResponseBody {

		static TaskDescriptor of(PendingTaskSnapshot task) {
			return new TaskDescriptor(task.id(), task.name(), task.key(), task.dueAt(), null, null, null, null,
					task.schedule(), task.next(), null, null);
		}

		static TaskDescriptor of(StoredTaskDetails task) {
			StoredTaskDetails.Times schedule = task.schedule();
			return new TaskDescriptor(task.id(), task.name(), task.key(), task.dueAt(), task.state(), task.attempt(),
					task.deliveries(), task.error(), (schedule != null) ? schedule.text() : null,
					(schedule != null) ? next(task, schedule) : null, task.unknown() ? Boolean.TRUE : null,
					task.diedAt());
		}

		/**
		 * The time after the present run, or after the present attempts at a run.
		 */
		private static @Nullable Instant next(StoredTaskDetails task, StoredTaskDetails.Times stored) {
			Instant dueAt = task.dueAt();
			Instant scheduledAt = stored.scheduledAt();
			boolean begun = task.state() != State.PENDING || task.attempt() > 1;
			if (scheduledAt.isAfter(dueAt) || (!begun && scheduledAt.equals(dueAt))) {
				return scheduledAt;
			}
			try {
				Schedule schedule = Schedule.parse(stored.text());
				return schedule.isFixedDelay() ? null : schedule.next(scheduledAt, dueAt);
			}
			catch (IllegalArgumentException ex) {
				// A newer release has stored a schedule that this one does not know.
				return null;
			}
		}

		/**
		 * A list shows as much of an error as the groups of the dead tasks do.
		 */
		TaskDescriptor withBeginOfError() {
			return (this.error != null) ? withValues(this.key, DeadGroups.beginOf(this.error)) : this;
		}

		TaskDescriptor masked() {
			return withValues((this.key != null) ? MASK : null, (this.error != null) ? MASK : null);
		}

		private TaskDescriptor withValues(@Nullable String key, @Nullable String error) {
			return new TaskDescriptor(this.id, this.name, key, this.dueAt, this.state, this.attempt, this.deliveries,
					error, this.schedule, this.next, this.unknown, this.diedAt);
		}

	}

}
