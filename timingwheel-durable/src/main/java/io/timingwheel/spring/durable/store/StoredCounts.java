package io.timingwheel.spring.durable.store;

/**
 * How many tasks of a name are stored, by their states.
 *
 * @param pending how many have not begun
 * @param overdue how many of these are past their due time
 * @param running how many have begun
 * @param estimated whether those of these figures that are large are estimates
 * @since 0.1
 */
public record StoredCounts(long pending, long overdue, long running, long dead, boolean estimated) {

	public static final StoredCounts NONE = new StoredCounts(0, 0, 0, 0);

	public StoredCounts(long pending, long overdue, long running, long dead) {
		this(pending, overdue, running, dead, false);
	}

	public StoredCounts plus(StoredCounts other) {
		return new StoredCounts(this.pending + other.pending, this.overdue + other.overdue,
				this.running + other.running, this.dead + other.dead, this.estimated || other.estimated);
	}

}
