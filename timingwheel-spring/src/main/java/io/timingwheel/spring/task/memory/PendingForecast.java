package io.timingwheel.spring.task.memory;

import java.util.Arrays;
import java.util.List;
import java.util.Spliterator;
import java.util.concurrent.ConcurrentHashMap;

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
		for (Spliterator<PendingTask> part : PendingSample.of(pending, visits)) {
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

}
