package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.Nullable;

/**
 * Reads the pending tasks in memory for operators: one by its key or id, pages in the
 * order in which the tasks are due, and forecasts. Thread-safe.
 */
public final class MemoryTaskReader {

	private static final Comparator<Place> BY_DUE = Comparator.comparingLong(Place::dueEpochNanos)
		.thenComparingLong(Place::sequence);

	/** Processors share the work on a name with more tasks than this. */
	private static final long PARALLEL = 100_000;

	private final DelayedTaskRegistry tasks;

	public MemoryTaskReader(DelayedTaskRegistry tasks) {
		this.tasks = tasks;
	}

	/** Reads a pending task, without making a future for it. */
	public Optional<PendingTaskSnapshot> find(String name, String keyOrId) {
		NamedTasks tasks = this.tasks.get(name);
		PendingTask found = tasks.find(keyOrId);
		return Optional
			.ofNullable((found != null) ? tasks.read(found.slot, (task) -> NamedTasks.with(keyOrId).test(task)
					? describe(task, task.dueEpochNanos, task.sequence) : null) : null);
	}

	/**
	 * Reads a page of pending tasks in the order in which they are due, without a lock.
	 * Looks at all tasks of the name, since those that wait for a permit or for their
	 * executor are not on the wheel.
	 * @param after the last task of the page before, {@code null} for the first page
	 */
	public List<PendingTaskSnapshot> page(String name, PendingTaskSnapshot.@Nullable Position after, int limit) {
		Place start = (after != null)
				? new Place(null, TaskClock.sinceEpoch(after.dueAt()), TaskKeys.Id.parse(after.id()).sequence())
				: new Place(null, Long.MIN_VALUE, 0);
		PriorityQueue<Place> first = new PriorityQueue<>(BY_DUE.reversed());
		AtomicLong last = new AtomicLong(Long.MAX_VALUE);
		this.tasks.get(name).pending.forEachValue(PARALLEL, (task) -> {
			long due = task.dueEpochNanos;
			// Most of many tasks cost no more than this.
			if (due > last.get() || due < start.dueEpochNanos()) {
				return;
			}
			Place place = new Place(task, due, task.sequence);
			if (BY_DUE.compare(place, start) > 0) {
				synchronized (first) {
					first.add(place);
					if (first.size() > limit) {
						first.remove();
						last.set(first.element().dueEpochNanos());
					}
				}
			}
		});
		return first.stream()
			.sorted(BY_DUE)
			.map((place) -> describe(Objects.requireNonNull(place.task()), place.dueEpochNanos(), place.sequence()))
			.toList();
	}

	public Map<String, List<Long>> forecast(Instant from, Duration span, int spans) {
		long start = TaskClock.sinceEpoch(from);
		long length = TaskClock.nanos(span);
		Map<String, List<Long>> result = new HashMap<>();
		for (NamedTasks tasks : this.tasks.all()) {
			// Each thread counts for itself.
			boolean parallel = tasks.pending.mappingCount() > PARALLEL;
			long[] counts = StreamSupport.stream(tasks.pending.values().spliterator(), parallel)
				.mapToLong((task) -> task.dueEpochNanos - start)
				.filter((ahead) -> ahead >= 0 && ahead < spans * length)
				.collect(() -> new long[spans], (sums, ahead) -> sums[(int) (ahead / length)]++,
						(sums, others) -> Arrays.setAll(sums, (i) -> sums[i] + others[i]));
			result.put(tasks.name, LongStream.of(counts).boxed().toList());
		}
		return result;
	}

	private static PendingTaskSnapshot describe(PendingTask task, long dueEpochNanos, long sequence) {
		Repetition repetition = task.repetition();
		return new PendingTaskSnapshot(TaskKeys.idOf(task.slot, sequence), task.tasks().name, TaskKeys.text(task.slot),
				TaskClock.toInstant(dueEpochNanos), (repetition != null) ? repetition.schedule.toString() : null,
				(repetition != null) ? repetition.nextRun(dueEpochNanos) : null);
	}

	/** Where a task was in the order. A heartbeat may have moved the task since. */
	private record Place(@Nullable PendingTask task, long dueEpochNanos, long sequence) {

	}

	/**
	 * A task in memory that has not begun, as it was at one moment. Times are by the wall
	 * clock. Immutable.
	 *
	 * @param id identifies this one scheduling; never reused
	 * @param schedule the text of its schedule, {@code null} for none
	 * @param next when its next run is due; {@code null} without a schedule, and during a
	 * run
	 */
	public record PendingTaskSnapshot(String id, String name, @Nullable String key, Instant dueAt,
			@Nullable String schedule, @Nullable Instant next) {

		/**
		 * A place in the order in which tasks are due. The ids order the tasks that are
		 * due at the same time. A position stays valid when its task is gone.
		 */
		public record Position(Instant dueAt, String id) {

		}

	}

}
