package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.actuate.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.NameDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TasksDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TotalsDescriptor;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.StoredTasks.Position;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * All tasks of the application: those in memory, and the stored ones if there is a store.
 * A request that is refused ends with a {@link RefusedRequest}. Thread-safe.
 */
final class TaskView {

	/** How many names, pending tasks and dead tasks a page has at most. */
	static final int LIMIT = 100;

	/** The due time of the last task of a page in seconds and nanoseconds, and its id. */
	private static final Pattern CURSOR = Pattern.compile("(-?\\d{1,15})\\.(\\d{1,9})-(.{1,100})");

	private final DelayedTaskRegistry memory;

	private final @Nullable StoredTasks stored;

	TaskView(DelayedTaskRegistry memory, @Nullable StoredTasks stored) {
		this.memory = memory;
		this.stored = stored;
	}

	/** For a request that needs a store. */
	private StoredTasks store() {
		if (this.stored == null) {
			throw RefusedRequest.invalid("There are no durable tasks: timingwheel.store.type is not set");
		}
		return this.stored;
	}

	StoreNode node() {
		return store().node();
	}

	/** The names of other nodes are at most a few seconds old. */
	boolean isStored(String name) {
		return this.stored != null && (this.stored.owns(name) || this.stored.counts().recent().containsKey(name));
	}

	/** {@code null} without a store. */
	@Nullable List<StoreNode.Reported> nodes() {
		return (this.stored != null) ? this.stored.node().nodes() : null;
	}

	/** The figures of all names that contain a text, sorted. */
	NavigableMap<String, CountsDescriptor> counts(@Nullable String search) {
		Map<String, StoredTaskCounts> counts = (this.stored != null) ? this.stored.counts().all() : Map.of();
		Set<String> names = new HashSet<>(this.memory.names());
		names.addAll(counts.keySet());
		NavigableMap<String, CountsDescriptor> result = new TreeMap<>();
		String text = (search != null) ? search.toLowerCase(Locale.ROOT) : "";
		names.stream()
			.filter((name) -> name.toLowerCase(Locale.ROOT).contains(text))
			.forEach((name) -> result.put(name, counts(name, counts.get(name))));
		return result;
	}

	private CountsDescriptor counts(String name, @Nullable StoredTaskCounts stored) {
		boolean paused = (stored != null) ? node().isPaused(name) : this.memory.isPaused(name);
		return CountsDescriptor.of(this.memory.counts(name), this.memory.waiting(name), paused, stored);
	}

	TasksDescriptor names(@Nullable String search, @Nullable String cursor) {
		NavigableMap<String, CountsDescriptor> names = counts(search);
		NavigableMap<String, CountsDescriptor> rest = (cursor != null) ? names.tailMap(cursor, false) : names;
		List<StoreNode.Reported> nodes = (cursor == null) ? nodes() : null;
		PageSize size = PageSize.ofNames();
		if (nodes != null) {
			nodes.forEach((node) -> size.takeRoomFor(node.id()));
		}
		Map<String, CountsDescriptor> page = size.firstOf(rest.entrySet(), LIMIT);
		return new TasksDescriptor(page, TotalsDescriptor.of(names.values()), nodes,
				(page.size() < rest.size()) ? List.copyOf(page.keySet()).get(page.size() - 1) : null);
	}

	ForecastDescriptor forecast(String period, int limit) {
		return ForecastDescriptor.read(period, limit, this.memory, this.stored);
	}

	NameDescriptor name(String name, int limit, @Nullable String cursor, boolean showErrors) {
		Position after = (cursor != null) ? position(cursor) : null;
		StoredTaskCounts counts = (this.stored != null) ? this.stored.counts().of(name) : null;
		boolean durable = counts != null;
		if (!durable && !this.memory.names().contains(name)) {
			throw noName(name);
		}
		// One more task shows whether there is another page.
		List<TaskDescriptor> next = pending(name, durable, after, limit + 1);
		List<TaskDescriptor> page = page(next, limit, showErrors);
		List<TaskDescriptor> dead = (durable && after == null)
				? page(store().dead(name, limit).stream().map(TaskDescriptor::of).toList(), limit, showErrors) : null;
		return new NameDescriptor(name, counts(name, counts), page, dead,
				(page.size() < next.size()) ? cursor(page.get(page.size() - 1)) : null);
	}

	private List<TaskDescriptor> pending(String name, boolean durable, @Nullable Position after, int limit) {
		if (durable) {
			return store().pending(name, after, limit).stream().map(TaskDescriptor::of).toList();
		}
		return this.memory.memoryTasks()
			.page(name, (after != null) ? new PendingTaskSnapshot.Position(after.dueAt(), after.id()) : null, limit)
			.stream()
			.map(TaskDescriptor::of)
			.toList();
	}

	/** As many tasks as fit into a page, and the beginnings of their errors. */
	private static List<TaskDescriptor> page(List<TaskDescriptor> tasks, int limit, boolean showErrors) {
		PageSize size = PageSize.ofTasks();
		return tasks.stream()
			.limit(limit)
			.map(TaskDescriptor::withBeginOfError)
			.takeWhile((task) -> size.hasRoomFor(task.name(), task.key(), task.error(), task.schedule()))
			.map((task) -> showErrors ? task : task.masked())
			.toList();
	}

	private static Position position(String cursor) {
		Matcher matcher = CURSOR.matcher(cursor);
		if (!matcher.matches()) {
			throw RefusedRequest.invalid(
					"The cursor \"%s\" is not one of an earlier reply: leave it out to begin anew".formatted(cursor));
		}
		return new Position(Instant.ofEpochSecond(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))),
				matcher.group(3));
	}

	private static String cursor(TaskDescriptor task) {
		return task.dueAt().getEpochSecond() + "." + task.dueAt().getNano() + "-" + task.id();
	}

	/** The recurring ones among the pending tasks of a name that are due first. */
	List<TaskDescriptor> schedules(String name, int limit, boolean showErrors) {
		List<TaskDescriptor> next = pending(name, isStored(name), null, limit);
		return page(next.stream().filter((task) -> task.schedule() != null).toList(), limit, showErrors);
	}

	TaskDescriptor get(String name, String keyOrId, boolean showErrors) {
		TaskDescriptor task = this.memory.memoryTasks()
			.find(name, keyOrId)
			.map(TaskDescriptor::of)
			.or(() -> (this.stored != null) ? this.stored.find(name, keyOrId).map(TaskDescriptor::of)
					: Optional.empty())
			.orElseThrow(() -> noTask(name, keyOrId));
		return showErrors ? task : task.masked();
	}

	void cancel(String name, String keyOrId) {
		if (!this.memory.cancel(name, keyOrId) && (this.stored == null || !this.stored.cancel(name, keyOrId))) {
			throw noTask(name, keyOrId);
		}
	}

	void reschedule(String name, String keyOrId, Duration delay) {
		try {
			if (!this.memory.reschedule(name, keyOrId, delay)) {
				check((this.stored != null) ? this.stored.reschedule(name, keyOrId, delay)
						: StoredTasks.Change.NOT_FOUND, noTask(name, keyOrId));
			}
		}
		catch (TaskRejectedException ex) {
			throw RefusedRequest.conflict(String.valueOf(ex.getMessage()));
		}
	}

	void requeue(String name, String id) {
		check(store().requeue(name, id),
				RefusedRequest.notFound("No dead task of \"%s\" has the id \"%s\"".formatted(name, id)));
	}

	private static void check(StoredTasks.Change change, RefusedRequest notFound) {
		switch (change) {
			case DONE -> {
			}
			case NOT_FOUND -> throw notFound;
			case NOT_PENDING ->
				throw RefusedRequest.conflict("The task is running or dead: only a pending task can be moved");
			case KEY_PENDING -> throw RefusedRequest.conflict("The key of the task has a pending task");
		}
	}

	/** In memory on this node, if the tasks are stored on all. */
	void setPaused(String name, boolean paused) {
		if (!isStored(name)) {
			if (!this.memory.setPaused(name, paused)) {
				throw noName(name);
			}
			return;
		}
		try {
			node().setPaused(name, paused);
		}
		catch (UnsupportedOperationException ex) {
			throw RefusedRequest.invalid(String.valueOf(ex.getMessage()));
		}
		if (!paused && node().isPausedByPolicy(name)) {
			throw RefusedRequest.conflict(("The tasks of \"%1$s\" stay paused on this node, since"
					+ " timingwheel.tasks.%1$s.paused is true. Nodes without this property start them")
				.formatted(name));
		}
	}

	DeadDescriptor deadByError(String name, @Nullable String cursor, boolean showErrors) {
		if (!isStored(name)) {
			throw noName(name);
		}
		return dead((dead) -> DeadDescriptor.of(name, dead.byError(name, cursor), showErrors));
	}

	StepDescriptor changeDead(String name, boolean requeue, StoredTasks.DeadSelection which, @Nullable String cursor) {
		if (!isStored(name)) {
			throw this.memory.isKnown(name)
					? RefusedRequest.invalid(
							"The tasks of \"" + name + "\" are not durable, so none of them is kept when it is dead")
					: noName(name);
		}
		if (which.text() != null && which.group() != null) {
			throw RefusedRequest.invalid("A request takes an error or a group, not both");
		}
		return dead((dead) -> StepDescriptor
			.of(requeue ? dead.requeueAll(name, which, cursor) : dead.deleteAll(name, which, cursor)));
	}

	/** Makes a request with a group or a cursor, which a user may have made up. */
	private <T> T dead(Function<StoredTasks.Dead, T> request) {
		try {
			return request.apply(store().dead());
		}
		catch (IllegalArgumentException ex) {
			throw RefusedRequest.invalid(String.valueOf(ex.getMessage()));
		}
	}

	static RefusedRequest noName(String name) {
		return RefusedRequest.notFound("No task has the name \"" + name + "\"");
	}

	private static RefusedRequest noTask(String name, String keyOrId) {
		return RefusedRequest.notFound("No task of \"%s\" has the key or id \"%s\"".formatted(name, keyOrId));
	}

}
