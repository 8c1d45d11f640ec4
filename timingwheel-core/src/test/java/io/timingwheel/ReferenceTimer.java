package io.timingwheel;

/**
 * What the reference knows of one timer.
 */
final class ReferenceTimer {

	enum State {

		PENDING, FIRED, CANCELLED

	}

	final int id;

	/** Who scheduled it: the order among equal deadlines is promised per thread. */
	final int caller;

	/** In nanoseconds since the wheel's creation. */
	long deadline;

	/** The tick at which it fires. */
	long tick;

	/** Whether it was moved or refused, and with it lost its place among its equals. */
	boolean moved;

	/** Whether an executor refused it, so that the tick of the next try is not known. */
	boolean backingOff;

	State state = State.PENDING;

	/** Its place in the list of pending timers. */
	int position;

	Runnable task;

	TimerHandle handle;

	ReferenceTimer(int id, int caller) {
		this.id = id;
		this.caller = caller;
	}

	@Override
	public String toString() {
		return "#" + this.id + "(" + this.state + ", tick " + this.tick + ")";
	}

}
