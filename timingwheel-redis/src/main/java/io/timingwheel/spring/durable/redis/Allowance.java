package io.timingwheel.spring.durable.redis;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * How many tasks may be claimed: of all names together, and of each name the tasks that
 * are due and those that are due soon. Names are numbers here. A limit of a name may
 * become less than 0, since a task that was due soon may be due when it is claimed. Not
 * thread-safe.
 */
final class Allowance {

	private int total;

	private final int[] due;

	private final int[] soon;

	Allowance(int total, int[] due, int[] soon) {
		this.total = total;
		this.due = due;
		this.soon = soon;
	}

	/**
	 * An allowance with other numbers.
	 * @param change gives a new number for each number of this allowance
	 */
	Allowance map(IntUnaryOperator change) {
		return new Allowance(change.applyAsInt(this.total), Arrays.stream(this.due).map(change).toArray(),
				Arrays.stream(this.soon).map(change).toArray());
	}

	int total() {
		return this.total;
	}

	int due(int name) {
		return this.due[name];
	}

	int soon(int name) {
		return this.soon[name];
	}

	/**
	 * Subtracts a task that was claimed.
	 */
	void subtract(int name, boolean due) {
		this.total--;
		of(due)[name]--;
	}

	/**
	 * Subtracts a task, if the allowance has one.
	 * @return whether there was one
	 */
	boolean trySubtract(int name, boolean due) {
		if (this.total <= 0 || of(due)[name] <= 0) {
			return false;
		}
		subtract(name, due);
		return true;
	}

	/**
	 * Adds a task.
	 */
	void add(int name, boolean due) {
		this.total++;
		of(due)[name]++;
	}

	private int[] of(boolean due) {
		return due ? this.due : this.soon;
	}

}
