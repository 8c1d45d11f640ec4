package io.timingwheel.spring.task.memory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The tasks that are due first among many, found in one pass. A task that comes too late
 * for the selection costs two comparisons and no memory. Not thread-safe.
 */
final class FirstDue {

	private static final Comparator<Candidate> BY_DUE = Comparator.comparingLong(Candidate::dueEpochNanos)
		.thenComparingLong(Candidate::sequence);

	private final int limit;

	/** The selected tasks, the last one first. */
	private final PriorityQueue<Candidate> selected = new PriorityQueue<>(BY_DUE.reversed());

	private long afterDue = Long.MIN_VALUE;

	private long afterSequence;

	/** When the last selected task is due, once as many as possible are selected. */
	private long lastDue = Long.MAX_VALUE;

	/**
	 * Creates an empty selection.
	 * @param limit how many tasks it has at most
	 */
	FirstDue(int limit) {
		this.limit = limit;
	}

	/**
	 * Leaves out the tasks up to a position.
	 * @param dueEpochNanos when the task at this position is due
	 * @param sequence the sequence of this task
	 */
	void startAfter(long dueEpochNanos, long sequence) {
		this.afterDue = dueEpochNanos;
		this.afterSequence = sequence;
	}

	/**
	 * Whether a task may belong to the selection, by its due time. Reads only this field
	 * of the task in most cases.
	 */
	boolean mayHave(PendingTask task) {
		long due = task.dueEpochNanos();
		return due <= this.lastDue && due >= this.afterDue
				&& (due > this.afterDue || task.sequence() > this.afterSequence);
	}

	void add(PendingTask task) {
		if (this.limit == 0) {
			return;
		}
		this.selected.add(new Candidate(task, task.dueEpochNanos(), task.sequence()));
		if (this.selected.size() > this.limit) {
			this.selected.remove();
		}
		if (this.selected.size() == this.limit) {
			this.lastDue = this.selected.element().dueEpochNanos();
		}
	}

	List<Candidate> sorted() {
		List<Candidate> sorted = new ArrayList<>(this.selected);
		sorted.sort(BY_DUE);
		return sorted;
	}

	/**
	 * A task and its place in the order when it was selected. A heartbeat may have moved
	 * the task since.
	 */
	record Candidate(PendingTask task, long dueEpochNanos, long sequence) {

	}

}
