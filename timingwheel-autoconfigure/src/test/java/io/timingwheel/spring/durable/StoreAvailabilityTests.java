package io.timingwheel.spring.durable;

import io.timingwheel.spring.durable.StoreAvailability.Caller;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class StoreAvailabilityTests {

	private static final IllegalStateException GONE = new IllegalStateException("gone");

	private final StoreAvailability availability = new StoreAvailability();

	@Test
	void isBackWhenAllWhoFailedHaveSucceeded() {
		this.availability.failed(Caller.CLAIM, GONE);
		this.availability.failed(Caller.SETTLE, GONE);
		assertThat(this.availability.downSince()).isNotNull();
		this.availability.succeeded(Caller.CLAIM);
		assertThat(this.availability.error()).isSameAs(GONE);
		this.availability.succeeded(Caller.SETTLE);
		assertIsBack();
	}

	@Test
	void isBackWhenOneWhoFailedHasNothingMoreToSay() {
		this.availability.failed(Caller.RENEW, GONE);
		this.availability.failed(Caller.CLAIM, GONE);
		this.availability.idle(Caller.RENEW);
		assertThat(this.availability.error()).isSameAs(GONE);
		this.availability.succeeded(Caller.CLAIM);
		assertIsBack();
	}

	@Test
	void isNotBackUntilSomebodyHasSucceeded() {
		this.availability.failed(Caller.RENEW, GONE);
		this.availability.idle(Caller.RENEW);
		assertThat(this.availability.downSince()).isNotNull();
		this.availability.succeeded(Caller.CLAIM);
		assertIsBack();
	}

	private void assertIsBack() {
		assertThat(this.availability.error()).isNull();
		assertThat(this.availability.downSince()).isNull();
	}

}
