package io.timingwheel.spring.task.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Spliterator;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Takes a sample of many pending tasks, since a look at all of them would take too long:
 * with a million tasks, most of them are in no cache of the processor.
 */
final class PendingSample {

	/** How many tasks of a sample are neighbours in the map. */
	private static final int NEIGHBOURS = 64;

	private PendingSample() {
	}

	/**
	 * Takes parts of a map, spread evenly over its table. The hash of a key decides where
	 * its task is in the table. The parts are the same at each call, as long as the map
	 * does not grow.
	 * @param pending the tasks
	 * @param visits about how many tasks the parts have, at most; all tasks if there are
	 * no more
	 */
	static List<Spliterator<PendingTask>> of(ConcurrentHashMap<Object, PendingTask> pending, int visits) {
		List<Spliterator<PendingTask>> parts = List.of(pending.values().spliterator());
		long size = pending.mappingCount();
		if (size <= visits) {
			return parts;
		}
		long wanted = size / NEIGHBOURS;
		for (int count = 0; parts.size() < wanted && parts.size() > count;) {
			count = parts.size();
			parts = halves(parts);
		}
		double step = (double) size / visits;
		List<Spliterator<PendingTask>> sample = new ArrayList<>();
		for (double i = 0; i < parts.size(); i += step) {
			sample.add(parts.get((int) i));
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
