package io.timingwheel.spring.durable.jdbc;

import java.util.List;

import io.timingwheel.spring.durable.LeasedTask;

/**
 * What a claim took of one limited name.
 *
 * @param rows the tasks
 * @param time the time by the database's clock
 * @param startAt when more tasks may start, {@link Long#MAX_VALUE} if this time is
 * unknown
 * @param heldBack whether other tasks may be due and wait for the end of a running task
 * @param more whether there is more to claim at once, such as a new suspect
 */
record TakenTasks(List<ClaimedRow> rows, TimeReading time, long startAt, boolean heldBack, boolean more) {

	/** How long after failed attempts to lock a name the next claim tries again. */
	private static final long LOCKED_MILLIS = 20;

	/**
	 * Nothing, since other nodes had the lock of the name.
	 */
	static TakenTasks locked(TimeReading time) {
		return new TakenTasks(List.of(), time, time.millis() + LOCKED_MILLIS, true, false);
	}

	List<LeasedTask> tasks() {
		return this.rows.stream().map(ClaimedRow::task).toList();
	}

}
