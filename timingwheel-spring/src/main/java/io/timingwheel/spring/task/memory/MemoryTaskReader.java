package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Spliterator;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Reads the pending tasks in memory for operators: one by its key or id, pages in the
 * order in which the tasks are due, and forecasts. If there are many tasks, pages and
 * forecasts look at a sample. Thread-safe.
 *
 * @since 0.1
 */
public final class MemoryTaskReader {

	/** How many tasks a forecast looks at. */
	private static final int MAX_VISITS = 50_000;

	/** How many tasks a page is chosen from. */
	private static final int MAX_LOOKED_AT = 100_000;

	private final TaskDirectory directory;

	private final TaskEnvironment environment;

	private final ShownSlots shown = new ShownSlots();

	MemoryTaskReader(TaskDirectory directory, TaskEnvironment environment) {
		this.directory = directory;
		this.environment = environment;
	}

	/**
	 * Reads a pending task, without making a future for it.
	 * @param name its name
	 * @param keyOrId its key or, if no task has this key, its id
	 * @return the task, empty if there is none
	 */
	public Optional<PendingTaskSnapshot> find(String name, String keyOrId) {
		NamedTasks tasks = this.directory.get(name);
		PendingTaskSnapshot byKey = read(tasks, TaskKeys.of(keyOrId), (task) -> true);
		if (byKey != null) {
			return Optional.of(byKey);
		}
		long sequence = this.environment.sequenceOf(keyOrId);
		Object slot = slotOf(tasks, sequence);
		return Optional.ofNullable((slot != null) ? read(tasks, slot, (task) -> task.sequence() == sequence) : null);
	}

	/**
	 * Reads a task under the lock of its key, since a replacement may change the task.
	 */
	private @Nullable PendingTaskSnapshot read(NamedTasks tasks, Object slot, Predicate<PendingTask> condition) {
		AtomicReference<@Nullable PendingTaskSnapshot> read = new AtomicReference<>();
		tasks.pending().computeIfPresent(slot, (key, task) -> {
			if (condition.test(task)) {
				read.setPlain(describe(task, task.sequence(), task.dueEpochNanos()));
			}
			return task;
		});
		return read.getPlain();
	}

	/**
	 * Reads the pending tasks of a name that are due first.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, in the order in which they are due
	 */
	public List<PendingTaskSnapshot> first(String name, int limit) {
		return page(name, null, limit);
	}

	/**
	 * Reads a page of the pending tasks of a name, in the order in which they are due.
	 * Holds no lock. If the name has many tasks, a short page is chosen from a sample of
	 * them, see {@link #isSampled}; the sample of the next page is the same.
	 * @param name the name
	 * @param after the last task of the page before, {@code null} for the first page
	 * @param limit how many at most
	 * @return the tasks, in this order
	 */
	public List<PendingTaskSnapshot> page(String name, PendingTaskSnapshot.@Nullable Position after, int limit) {
		NamedTasks tasks = this.directory.get(name);
		FirstDue first = new FirstDue(limit);
		if (after != null) {
			first.startAfter(TaskClock.sinceEpoch(after.dueAt()), this.environment.sequenceOf(after.id()));
		}
		for (Spliterator<PendingTask> part : PendingSample.of(tasks.pending(), Math.max(limit, MAX_LOOKED_AT))) {
			part.forEachRemaining((task) -> {
				if (first.mayHave(task)) {
					first.add(task);
				}
			});
		}
		return first.sorted().stream().map((one) -> describe(one.task(), one.sequence(), one.dueEpochNanos())).toList();
	}

	/**
	 * Whether a short page of the pending tasks of a name has only tasks of a sample,
	 * since the name has more than about 100,000 tasks.
	 * @param name the name
	 * @return whether tasks may be missing that are due earlier than the last task of a
	 * page
	 */
	public boolean isSampled(String name) {
		return this.directory.get(name).pending().mappingCount() > MAX_LOOKED_AT;
	}

	/**
	 * Counts how many tasks in memory fall due in equal spans of the time ahead, by their
	 * names. Looks at no more than about 50,000 tasks, and holds no lock. If there are
	 * more, looks at all tasks of the names that have few, and estimates the counts of
	 * the others from a part of their tasks.
	 * @param from when the first span begins
	 * @param span the length of a span
	 * @param spans the number of spans
	 * @return the counts of each name that has pending tasks
	 */
	public List<PendingForecast> forecast(Instant from, Duration span, int spans) {
		List<NamedTasks> names = this.directory.all()
			.stream()
			.filter((tasks) -> !tasks.pending().isEmpty())
			.sorted(Comparator.comparingLong((tasks) -> tasks.pending().mappingCount()))
			.toList();
		List<PendingForecast> result = new ArrayList<>();
		int visits = MAX_VISITS;
		for (NamedTasks tasks : names) {
			int share = visits / (names.size() - result.size());
			visits -= (int) Math.min(share, tasks.pending().mappingCount());
			result.add(PendingForecast.of(tasks, TaskClock.sinceEpoch(from), TaskClock.nanos(span), spans, share));
		}
		return result;
	}

	/**
	 * The slot where a task with an id was found. Another task may have the slot by now.
	 */
	@Nullable Object slotOf(NamedTasks tasks, long sequence) {
		if (sequence == 0) {
			return null;
		}
		Object unkeyed = new TaskKeys.Unkeyed(sequence);
		if (tasks.pending().containsKey(unkeyed)) {
			return unkeyed;
		}
		Object shown = this.shown.get(sequence);
		PendingTask candidate = (shown != null) ? tasks.pending().get(shown) : null;
		if (candidate != null && candidate.sequence() == sequence) {
			return shown;
		}
		for (PendingTask task : tasks.pending().values()) {
			if (task.sequence() == sequence) {
				return task.slot();
			}
		}
		return null;
	}

	private PendingTaskSnapshot describe(PendingTask task, long sequence, long dueEpochNanos) {
		this.shown.add(sequence, task.slot());
		return new PendingTaskSnapshot(this.environment.idOf(sequence), task.definition().name(),
				TaskKeys.text(task.slot()), TaskClock.toInstant(dueEpochNanos), task.schedule(), task.next());
	}

}
