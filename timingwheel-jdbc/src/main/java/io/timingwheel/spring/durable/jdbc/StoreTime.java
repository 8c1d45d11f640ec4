package io.timingwheel.spring.durable.jdbc;

import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The time of the tasks, in milliseconds since the epoch: the database's clock and an
 * offset, or a clock that a test has set in its place. A statement that reads the time
 * has one parameter for both. Immutable.
 *
 * @param offset gives what to add to the database's clock
 * @param clock the clock in its place, {@code null} for the database's own
 */
record StoreTime(LongSupplier offset, @Nullable LongSupplier clock) {

	boolean isGiven() {
		return this.clock != null;
	}

	long now(Dialect dialect, JdbcOperations jdbc) {
		return (this.clock != null) ? this.clock.getAsLong() : dialect.now(jdbc) + this.offset.getAsLong();
	}

	/**
	 * A time that has just arrived.
	 * @param millis milliseconds since the epoch
	 */
	TimeReading reading(long millis) {
		return new TimeReading(millis, System.nanoTime(), !isGiven());
	}

	/**
	 * The parameter of a statement: the time if it is given, else what the statement adds
	 * to the time that it reads.
	 */
	long parameter() {
		return (this.clock != null) ? this.clock.getAsLong() : this.offset.getAsLong();
	}

}
