package io.timingwheel.spring.durable.store;

/**
 * How many tasks of a name are stored, by their states.
 *
 * @param pending how many have not begun
 * @param overdue how many of these are past their due time
 * @param running how many have begun
 * @param estimated whether those of these figures that are large are estimates
 * @param waiting how many of the overdue tasks a policy may hold back. A store gives 0,
 * as only nodes know policies
 * @since 0.1
 */
public record StoredCounts(long pending, long overdue, long running, long dead, boolean estimated, long waiting) {

	public static final StoredCounts NONE = new StoredCounts(0, 0, 0, 0);

	/** Exact counts of a name that no policy holds back. */
	public StoredCounts(long pending, long overdue, long running, long dead) {
		this(pending, overdue, running, dead, false);
	}

	/** Counts of a name that no policy holds back. */
	public StoredCounts(long pending, long overdue, long running, long dead, boolean estimated) {
		this(pending, overdue, running, dead, estimated, 0);
	}

	/** The same counts with all overdue tasks waiting. */
	public StoredCounts heldBack() {
		return new StoredCounts(this.pending, this.overdue, this.running, this.dead, this.estimated, this.overdue);
	}

	public StoredCounts plus(StoredCounts other) {
		return new StoredCounts(this.pending + other.pending, this.overdue + other.overdue,
				this.running + other.running, this.dead + other.dead, this.estimated || other.estimated,
				this.waiting + other.waiting);
	}

}
