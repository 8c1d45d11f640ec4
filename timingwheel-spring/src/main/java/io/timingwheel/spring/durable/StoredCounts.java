package io.timingwheel.spring.durable;

/**
 * How many tasks of a name are stored, by their states.
 *
 * @param pending how many have not begun
 * @param overdue how many of the pending tasks are past their due time
 * @param running how many have begun
 * @param dead how many are dead
 * @since 0.1
 */
public record StoredCounts(long pending, long overdue, long running, long dead) {

	/** No tasks. */
	public static final StoredCounts NONE = new StoredCounts(0, 0, 0, 0);

	/**
	 * Adds other counts.
	 * @param other the counts to add
	 * @return the sum
	 */
	public StoredCounts plus(StoredCounts other) {
		return new StoredCounts(this.pending + other.pending, this.overdue + other.overdue,
				this.running + other.running, this.dead + other.dead);
	}

}
