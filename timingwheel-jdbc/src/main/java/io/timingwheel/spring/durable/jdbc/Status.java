package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.StoredTask.State;

/**
 * How {@link State} is stored.
 */
final class Status {

	static final int PENDING = State.PENDING.ordinal();

	static final int RUNNING = State.RUNNING.ordinal();

	static final int DEAD = State.DEAD.ordinal();

	private static final State[] STATES = State.values();

	private Status() {
	}

	static State of(int status) {
		return STATES[status];
	}

}
