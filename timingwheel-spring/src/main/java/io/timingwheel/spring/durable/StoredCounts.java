package io.timingwheel.spring.durable;

/**
 * How many tasks of a name are stored.
 *
 * @param pending how many have not begun
 * @param overdue how many of these should have begun by now
 * @param running how many have begun
 * @param dead how many are given up
 */
public record StoredCounts(long pending, long overdue, long running, long dead) {

	/** No tasks. */
	public static final StoredCounts NONE = new StoredCounts(0, 0, 0, 0);

	/**
	 * The sum of two figures.
	 * @param other the figures to add
	 * @return the sum
	 */
	public StoredCounts plus(StoredCounts other) {
		return new StoredCounts(this.pending + other.pending, this.overdue + other.overdue,
				this.running + other.running, this.dead + other.dead);
	}

}
