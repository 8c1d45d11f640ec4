package io.timingwheel.spring.task.memory;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The slots of the tasks that were shown last, by their sequences. Operators take the id
 * of a task from a list, and an index of all tasks would cost memory for each.
 * Thread-safe.
 */
final class ShownSlots {

	/** Twenty pages. */
	static final int MAX = 2000;

	private final Map<Long, Object> slots = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<Long, Object> eldest) {
			return size() > MAX;
		}

	};

	synchronized void add(long sequence, Object slot) {
		this.slots.remove(sequence);
		this.slots.put(sequence, slot);
	}

	/**
	 * The slot where a task was when it was shown.
	 * @return the slot, {@code null} if it was not shown lately
	 */
	synchronized @Nullable Object get(long sequence) {
		return this.slots.get(sequence);
	}

}
