package io.timingwheel;

/**
 * One timer of a {@link ReferenceWheel}.
 */
final class ReferenceTimer {

	enum State {

		PENDING, FIRED, CANCELLED

	}

	final int id;

	/** The caller that scheduled it. The order among equal deadlines holds per caller. */
	final int caller;

	/** Nanoseconds since the wheel's creation. */
	long deadline;

	/** The tick at which the timer fires. */
	long tick;

	/**
	 * Whether the timer has no certain place among equal deadlines: it was moved,
	 * refused, or overdue when it was scheduled.
	 */
	boolean moved;

	/** The group of timers with the same executor. */
	int group;

	/**
	 * Whether the timer waits for its executor. The time of the next try is not known.
	 */
	boolean waiting;

	/** Whether an executor refused the timer, or the timer was moved while it waited. */
	boolean refused;

	State state = State.PENDING;

	/** The index in the list of pending timers. */
	int position;

	Runnable task;

	TimerHandle handle;

	ReferenceTimer(int id, int caller) {
		this.id = id;
		this.caller = caller;
	}

	@Override
	public String toString() {
		return "#" + this.id + "(" + this.state + ", group " + this.group + ", tick " + this.tick + ")";
	}

}
