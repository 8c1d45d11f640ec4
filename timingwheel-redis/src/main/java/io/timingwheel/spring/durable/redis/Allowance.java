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

	/**
	 * The total, and for each name the tasks that are due and those that are due soon.
	 */
	private final int[] values;

	Allowance(int total, int names) {
		this.values = new int[1 + 2 * names];
		this.values[0] = total;
	}

	private Allowance(int[] values) {
		this.values = values;
	}

	/**
	 * An allowance with other numbers.
	 * @param change gives a new number for each number of this allowance
	 */
	Allowance map(IntUnaryOperator change) {
		return new Allowance(Arrays.stream(this.values).map(change).toArray());
	}

	void set(int name, int due, int soon) {
		this.values[index(name, true)] = due;
		this.values[index(name, false)] = soon;
	}

	/**
	 * An allowance with the same numbers, but with at most this total.
	 */
	Allowance withAtMost(int total) {
		Allowance copy = new Allowance(this.values.clone());
		copy.values[0] = Math.max(0, Math.min(this.values[0], total));
		return copy;
	}

	int total() {
		return this.values[0];
	}

	int due(int name) {
		return this.values[index(name, true)];
	}

	int soon(int name) {
		return this.values[index(name, false)];
	}

	void add(int name, boolean due) {
		this.values[0]++;
		this.values[index(name, due)]++;
	}

	void subtract(int name, boolean due) {
		this.values[0]--;
		this.values[index(name, due)]--;
	}

	/**
	 * Subtracts a task, if the allowance has one.
	 * @return whether there was one
	 */
	boolean trySubtract(int name, boolean due) {
		boolean has = this.values[0] > 0 && this.values[index(name, due)] > 0;
		if (has) {
			subtract(name, due);
		}
		return has;
	}

	private static int index(int name, boolean due) {
		return 1 + 2 * name + (due ? 0 : 1);
	}

}
