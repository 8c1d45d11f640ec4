package io.timingwheel.spring.actuate.internal;

/**
 * How many tasks of a name are stored, by their states. Overdue tasks are pending, too,
 * and a policy may hold back those of them that wait. Large figures may be estimates.
 */
public record StoredTaskCounts(long pending, long overdue, long running, long dead, boolean estimated, long waiting) {

	/** No tasks. */
	public static final StoredTaskCounts NONE = new StoredTaskCounts(0, 0, 0, 0, false, 0);

}
