package io.timingwheel.spring.durable.redis;

import java.util.Map;
import java.util.TreeMap;

import io.timingwheel.spring.durable.StoredCounts;

/**
 * Counts the tasks of each name in all partitions. Thread-safe.
 */
final class TaskCounts {

	/** How many values {@code counts.lua} replies for each name. */
	private static final int WIDTH = 5;

	private final Partitions partitions;

	private final ScriptRunner scripts;

	TaskCounts(Partitions partitions, ScriptRunner scripts) {
		this.partitions = partitions;
		this.scripts = scripts;
	}

	/**
	 * Counts tasks.
	 * @param names the names; none for all names
	 * @return the counts of the names that have tasks
	 */
	Map<String, StoredCounts> read(Object... names) {
		Map<String, StoredCounts> counts = new TreeMap<>();
		for (ScriptReply reply : this.scripts.run(Script.COUNTS.onEach(this.partitions.count(), names))) {
			for (int i = 0; i < reply.size(); i += WIDTH) {
				StoredCounts count = new StoredCounts(reply.number(i + 1), reply.number(i + 2), reply.number(i + 3),
						reply.number(i + 4));
				counts.merge(reply.text(i), count, StoredCounts::plus);
			}
		}
		counts.values().removeIf(StoredCounts.NONE::equals);
		return counts;
	}

}
