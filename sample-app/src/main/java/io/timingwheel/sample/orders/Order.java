package io.timingwheel.sample.orders;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * An order. Immutable: a transition makes a new one.
 *
 * @param id the id
 * @param item what was ordered
 * @param status whether it waits for its payment, was paid, or was closed unpaid
 * @param createdAt when it was placed
 * @param closesAt when it closes unless it is paid
 * @param settledAt when it was paid or closed, {@code null} while it is pending
 */
record Order(long id, String item, Status status, Instant createdAt, Instant closesAt, @Nullable Instant settledAt) {

	enum Status {

		PENDING, PAID, CLOSED

	}

	static Order placed(long id, String item, Duration paymentWindow) {
		Instant now = Instant.now();
		return new Order(id, item, Status.PENDING, now, now.plus(paymentWindow), null);
	}

	/**
	 * Pays the order. Paying twice is the same as paying once.
	 * @return the paid order
	 * @throws OrderClosedException if the payment comes too late
	 */
	Order pay() {
		return switch (this.status) {
			case PENDING -> settle(Status.PAID);
			case PAID -> this;
			case CLOSED -> throw new OrderClosedException(this.id);
		};
	}

	/**
	 * Closes the order, unless it was paid.
	 * @return the order, closed or as it was
	 */
	Order closeIfUnpaid() {
		return (this.status == Status.PENDING) ? settle(Status.CLOSED) : this;
	}

	private Order settle(Status outcome) {
		return new Order(this.id, this.item, outcome, this.createdAt, this.closesAt, Instant.now());
	}

}
