package io.timingwheel.spring.actuate.internal;

/**
 * How many tasks of a name are stored, by their states.
 *
 * @param pending how many have not begun
 * @param overdue how many of the pending tasks are past their due time
 * @param running how many have begun
 * @param dead how many are dead
 * @param estimated whether those of these figures that are large are estimates
 * @param waiting how many of the overdue tasks a policy may hold back
 * @since 0.1
 */
public record StoredTaskCounts(long pending, long overdue, long running, long dead, boolean estimated, long waiting) {

	/** No tasks. */
	public static final StoredTaskCounts NONE = new StoredTaskCounts(0, 0, 0, 0, false, 0);

}
