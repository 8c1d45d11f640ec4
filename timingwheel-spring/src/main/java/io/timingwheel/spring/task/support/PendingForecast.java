package io.timingwheel.spring.task.support;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Spliterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How many pending tasks of a name fall due in equal spans of the time ahead. Immutable.
 *
 * @param name the name
 * @param counts the counts of the spans
 * @param estimated whether the counts were estimated from a sample, since there are too
 * many tasks to look at
 * @since 0.1
 */
public record PendingForecast(String name, List<Long> counts, boolean estimated) {

	/** How many tasks of a sample are neighbours in the map. */
	private static final int NEIGHBOURS = 64;

	/**
	 * Counts tasks.
	 * @param tasks the tasks of the name
	 * @param fromEpochNanos when the first span begins
	 * @param spanNanos the length of a span
	 * @param spans the number of spans
	 * @param visits about how many tasks to look at, at most
	 */
	static PendingForecast of(NamedTasks tasks, long fromEpochNanos, long spanNanos, int spans, int visits) {
		long[] counts = new long[spans];
		ConcurrentHashMap<Object, PendingTask> pending = tasks.pending();
		long size = pending.mappingCount();
		long visited = 0;
		for (Spliterator<PendingTask> part : sample(pending, size, visits)) {
			long[] seen = new long[1];
			part.forEachRemaining((task) -> {
				seen[0]++;
				long ahead = task.dueEpochNanos() - fromEpochNanos;
				if (ahead >= 0 && ahead / spanNanos < spans) {
					counts[(int) (ahead / spanNanos)]++;
				}
			});
			visited += seen[0];
		}
		boolean estimated = size > visits;
		double factor = (estimated && visited > 0) ? (double) size / visited : 1;
		return new PendingForecast(tasks.name(),
				Arrays.stream(counts).map((count) -> Math.round(count * factor)).boxed().toList(), estimated);
	}

	/**
	 * Parts of a map, spread evenly over its table, where hashes decide the places.
	 */
	private static List<Spliterator<PendingTask>> sample(ConcurrentHashMap<Object, PendingTask> pending, long size,
			int visits) {
		List<Spliterator<PendingTask>> parts = List.of(pending.values().spliterator());
		if (size <= visits) {
			return parts;
		}
		long wanted = size / NEIGHBOURS;
		for (int count = 0; parts.size() < wanted && parts.size() > count;) {
			count = parts.size();
			parts = halves(parts);
		}
		int step = (int) Math.max(1, size / visits);
		List<Spliterator<PendingTask>> sample = new ArrayList<>();
		for (int i = ThreadLocalRandom.current().nextInt(step); i < parts.size(); i += step) {
			sample.add(parts.get(i));
		}
		return sample;
	}

	private static List<Spliterator<PendingTask>> halves(List<Spliterator<PendingTask>> parts) {
		List<Spliterator<PendingTask>> halves = new ArrayList<>(2 * parts.size());
		for (Spliterator<PendingTask> part : parts) {
			Spliterator<PendingTask> half = part.trySplit();
			if (half != null) {
				halves.add(half);
			}
			halves.add(part);
		}
		return halves;
	}

}
