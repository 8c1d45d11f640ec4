package io.timingwheel.spring.actuate.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.actuate.internal.StoredTasks.Due;
import io.timingwheel.spring.actuate.internal.StoredTasks.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ForecastDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.NameDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TasksDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TotalsDescriptor;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.memory.MemoryTaskReader;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot.Position;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.task.TaskRejectedException;

/**
 * All tasks of the application: those in memory, and the stored ones if there is a store.
 * A request that is refused ends with a {@link RefusedRequest}. Thread-safe.
 */
public record TaskView(DelayedTaskRegistry memory, @Nullable StoredTasks stored) {

	/** How many names, pending tasks and dead tasks a page has at most. */
	public static final int LIMIT = 100;

	private static final int SPANS = 60;

	/** The due time of the last task of a page in seconds and nanoseconds, and its id. */
	private static final Pattern CURSOR = Pattern.compile("(-?\\d{1,15})\\.(\\d{1,9})-(.{1,100})");

	private StoredTasks store() {
		if (this.stored == null) {
			throw RefusedRequest.invalid("There are no durable tasks: timingwheel.store.type is not set");
		}
		return this.stored;
	}

	public StoreNode node() {
		return store().node();
	}

	/** The names of other nodes are at most a few seconds old. */
	boolean isStored(String name) {
		return this.stored != null && (this.stored.owns(name) || this.stored.counts().recent().containsKey(name));
	}

	/** {@code null} without a store. */
	public @Nullable List<StoreNode.Reported> nodes() {
		return (this.stored != null) ? this.stored.node().nodes() : null;
	}

	/** The figures of all names that contain a text, sorted. */
	public NavigableMap<String, CountsDescriptor> counts(@Nullable String search) {
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

	public TasksDescriptor names(@Nullable String search, @Nullable String cursor) {
		NavigableMap<String, CountsDescriptor> names = counts(search);
		NavigableMap<String, CountsDescriptor> rest = (cursor != null) ? names.tailMap(cursor, false) : names;
		List<StoreNode.Reported> nodes = (cursor == null) ? nodes() : null;
		int room = 90_000 - ((nodes != null) ? nodes.stream().mapToInt((node) -> nameBytes(node.id())).sum() : 0);
		List<Map.Entry<String, CountsDescriptor>> page = PageSize.firstOf(rest.entrySet(), LIMIT, room,
				(name) -> nameBytes(name.getKey()));
		return new TasksDescriptor(toMap(page), TotalsDescriptor.of(names.values()), nodes,
				(page.size() < rest.size()) ? page.get(page.size() - 1).getKey() : null);
	}

	private static int nameBytes(String name) {
		return 210 + PageSize.bytes(name);
	}

	private static <T> Map<String, T> toMap(List<Map.Entry<String, T>> entries) {
		Map<String, T> map = new LinkedHashMap<>();
		entries.forEach((entry) -> map.put(entry.getKey(), entry.getValue()));
		return map;
	}

	/** A forecast of at most {@code limit} names, those with the most tasks first. */
	public ForecastDescriptor forecast(String period, int limit) {
		Duration span = RefusedRequest.read(period,
				(text) -> Duration.ofMillis(DurationStyle.detectAndParse(text).toMillis() / SPANS),
				(length) -> !length.isNegative() && !length.isZero() && length.compareTo(Duration.ofDays(365)) < 0,
				"The forecast must be a duration from 60 ms to 60 years, such as \"PT1H\", not \"" + period + "\"");
		Instant from = this.memory.clock().now();
		List<Map.Entry<String, Due>> names = new ArrayList<>();
		new MemoryTaskReader(this.memory).forecast(from, span, SPANS)
			.forEach((name, counts) -> names.add(Map.entry(name, new Due(counts, false))));
		boolean complete = true;
		if (this.stored != null) {
			Map<String, Due> forecast = this.stored.counts().forecast(span, SPANS, LIMIT);
			complete = forecast.size() < LIMIT;
			names.addAll(forecast.entrySet());
		}
		names.removeIf((name) -> name.getValue().counts().size() == SPANS && total(name) == 0);
		names.sort(Comparator.comparing((name) -> -total(name)));
		Map<String, Due> shown = toMap(
				PageSize.firstOf(names, limit, 95_000, (name) -> 45 + 9 * SPANS + PageSize.bytes(name.getKey())));
		return new ForecastDescriptor(from, span, shown, complete && shown.size() == names.size());
	}

	private static long total(Map.Entry<String, Due> name) {
		return name.getValue().counts().stream().mapToLong(Long::longValue).sum();
	}

	public NameDescriptor name(String name, int limit, @Nullable String cursor, boolean showErrors) {
		Position after = (cursor != null) ? position(cursor) : null;
		StoredTaskCounts counts = (this.stored != null) ? this.stored.counts().of(name) : null;
		boolean durable = counts != null;
		if (!durable && !this.memory.names().contains(name)) {
			throw noName(name);
		}
		// One more task shows whether there is another page.
		List<TaskDescriptor> next = pending(name, durable, after, limit + 1);
		List<TaskDescriptor> page = page(next, limit, showErrors);
		List<TaskDescriptor> dead = (durable && after == null) ? page(store().dead(name, limit), limit, showErrors)
				: null;
		TaskDescriptor last = (page.size() < next.size()) ? page.get(page.size() - 1) : null;
		return new NameDescriptor(name, counts(name, counts), page, dead,
				(last != null) ? cursor(last.dueAt(), last.id()) : null);
	}

	private List<TaskDescriptor> pending(String name, boolean durable, @Nullable Position after, int limit) {
		return durable ? store().pending(name, after, limit)
				: new MemoryTaskReader(this.memory).page(name, after, limit).stream().map(TaskDescriptor::of).toList();
	}

	/**
	 * As many tasks as fit into one of the two lists of an answer, with the beginnings of
	 * their errors.
	 */
	private static List<TaskDescriptor> page(List<TaskDescriptor> tasks, int limit, boolean showErrors) {
		return PageSize
			.firstOf(tasks.stream().map(TaskDescriptor::withBeginOfError).toList(), limit, 47_000,
					(task) -> 310 + PageSize.bytes(task.name(), task.key(), task.error(), task.schedule()))
			.stream()
			.map((task) -> shown(task, showErrors))
			.toList();
	}

	private static TaskDescriptor shown(TaskDescriptor task, boolean showErrors) {
		return showErrors ? task : task.masked();
	}

	public static Position position(String cursor) {
		Matcher matcher = CURSOR.matcher(cursor);
		if (!matcher.matches()) {
			throw RefusedRequest.invalid(
					"The cursor \"%s\" is not one of an earlier reply: leave it out to begin anew".formatted(cursor));
		}
		return new Position(Instant.ofEpochSecond(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))),
				matcher.group(3));
	}

	public static String cursor(Instant time, String id) {
		return time.getEpochSecond() + "." + time.getNano() + "-" + id;
	}

	/** The recurring ones among the pending tasks of a name that are due first. */
	public List<TaskDescriptor> schedules(String name, int limit, boolean showErrors) {
		List<TaskDescriptor> next = pending(name, isStored(name), null, limit);
		return page(next.stream().filter((task) -> task.schedule() != null).toList(), limit, showErrors);
	}

	public TaskDescriptor get(String name, String keyOrId, boolean showErrors) {
		TaskDescriptor task = new MemoryTaskReader(this.memory).find(name, keyOrId)
			.map(TaskDescriptor::of)
			.or(() -> (this.stored != null) ? this.stored.find(name, keyOrId) : Optional.empty())
			.orElseThrow(() -> noTask(name, keyOrId));
		return shown(task, showErrors);
	}

	public void cancel(String name, String keyOrId) {
		if (!this.memory.cancel(name, keyOrId) && (this.stored == null || !this.stored.cancel(name, keyOrId))) {
			throw noTask(name, keyOrId);
		}
	}

	public void reschedule(String name, String keyOrId, Duration delay) {
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

	public void requeue(String name, String id) {
		check(store().requeue(name, id),
				RefusedRequest.notFound("No dead task of \"%s\" has the id \"%s\"".formatted(name, id)));
	}

	private static void check(StoredTasks.Change change, RefusedRequest notFound) {
		switch (change) {
			case DONE -> {
			}
			case NOT_FOUND -> throw notFound;
			case NOT_PENDING -> throw RefusedRequest
				.conflict("The task is running or dead: only a pending task can be moved, and a dead one requeued");
			case KEY_PENDING -> throw RefusedRequest.conflict("The key of the task has a pending task");
		}
	}

	/** In memory on this node, if the tasks are stored on all. */
	public void setPaused(String name, boolean paused) {
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

	public DeadDescriptor deadByError(String name, @Nullable String cursor, boolean showErrors) {
		checkStored(name);
		return store().dead().byError(name, cursor).shown(showErrors);
	}

	public StepDescriptor changeDead(String name, boolean requeue, StoredTasks.DeadSelection which,
			@Nullable String cursor) {
		checkStored(name);
		if (which.text() != null && which.group() != null) {
			throw RefusedRequest.invalid("A request takes an error or a group, not both");
		}
		return store().dead().change(name, requeue, which, cursor);
	}

	private void checkStored(String name) {
		if (!isStored(name)) {
			throw this.memory.isKnown(name)
					? RefusedRequest.invalid(
							"The tasks of \"" + name + "\" are not durable, so none of them is kept when it is dead")
					: noName(name);
		}
	}

	private static RefusedRequest noName(String name) {
		return RefusedRequest.notFound("No task has the name \"" + name + "\"");
	}

	private static RefusedRequest noTask(String name, String keyOrId) {
		return RefusedRequest.notFound("No task of \"%s\" has the key or id \"%s\"".formatted(name, keyOrId));
	}

}
