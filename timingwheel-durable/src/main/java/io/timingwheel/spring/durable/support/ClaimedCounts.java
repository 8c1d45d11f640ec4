package io.timingwheel.spring.durable.support;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.LeasedTask;

/**
 * How many tasks of each name a claim has taken.
 */
final class ClaimedCounts {

	private final Map<String, Count> counts = new HashMap<>();

	private int due;

	private ClaimedCounts() {
	}

	static ClaimedCounts of(List<LeasedTask> tasks) {
		ClaimedCounts counts = new ClaimedCounts();
		String name = null;
		Count count = new Count();
		for (LeasedTask task : tasks) {
			// Most tasks have the name of the task before.
			if (!task.name().equals(name)) {
				name = task.name();
				count = counts.counts.computeIfAbsent(name, (key) -> new Count());
			}
			if (task.begun()) {
				count.due++;
				counts.due++;
			}
			else {
				count.soon++;
			}
		}
		return counts;
	}

	/**
	 * The names of the tasks.
	 */
	Set<String> names() {
		return this.counts.keySet();
	}

	/**
	 * How many tasks have begun with the claim.
	 */
	int due() {
		return this.due;
	}

	/**
	 * How many tasks of a name have begun with the claim.
	 */
	int due(String name) {
		Count count = this.counts.get(name);
		return (count != null) ? count.due : 0;
	}

	/**
	 * How many tasks of a name are due later.
	 */
	int soon(String name) {
		Count count = this.counts.get(name);
		return (count != null) ? count.soon : 0;
	}

	private static final class Count {

		private int due;

		private int soon;

	}

}
