package io.timingwheel.spring.durable.node;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that a time of the store is never converted to an earlier time of the wheel, and
 * seldom to a later one.
 */
class StoreClockTests {

	/** By how much the wheel's clock is ahead. */
	private static final long AHEAD = 1_000_000_000L;

	private long received;

	private final StoreClock clock = new StoreClock(() -> this.received);

	@Test
	void theFirstReplyGivesTheEstimate() {
		assertThat(reply(10, micros(800))).isEqualTo(micros(800));
	}

	@Test
	void aFasterReplyImprovesTheEstimate() {
		reply(10, micros(800));
		assertThat(reply(11, micros(200))).isEqualTo(micros(200));
	}

	@Test
	void aSlowerReplyIsTrustedMoreTheLaterItComes() {
		reply(10, micros(200));
		assertThat(reply(11, micros(4_000))).isBetween(micros(200), micros(205));
		assertThat(reply(1_011, micros(4_000))).isBetween(micros(700), micros(710));
		assertThat(reply(11_011, micros(4_000))).isEqualTo(micros(4_000));
	}

	@Test
	void aReplyAfterSecondsMakesNoTaskLate() {
		reply(10, micros(200));
		assertThat(heard(20, micros(3_000_000), 0)).isLessThan(micros(2_000));
		assertThat(reply(3_021, micros(300))).isEqualTo(micros(300));
	}

	@Test
	void aRequestWithinAMillisecondOfTheLastDoesNotCountAsAClockSetBack() {
		heard(10, micros(1), 0);
		assertThat(heard(11, micros(1_010), micros(990))).isLessThan(micros(10));
	}

	@Test
	void theEstimateFollowsAClockThatWasSetBack() {
		reply(10_000, micros(200));
		assertThat(heard(20, micros(5_000_300), micros(5_000_000))).isEqualTo(micros(5_000_300));
	}

	@Test
	void theEstimateFollowsAClockThatWasSetForward() {
		reply(10, micros(200));
		assertThat(reply(5_000_010, -micros(5_000_000_000L))).isEqualTo(-micros(5_000_000_000L));
	}

	@Test
	void withTwoClocksTheEstimateIsTooLowByAtMostTheRequestAndAMillisecond() {
		for (long now = 1_000; now < 1_100; now += 2) {
			reply(now, micros(200));
			assertThat(heard(now - 49, micros(50_300), micros(50_000))).isGreaterThanOrEqualTo(micros(50_000 - 1_000));
		}
	}

	/** A reply to a request that was sent at the time that the store returns. */
	private long reply(long now, long took) {
		return heard(now, took, Math.min(0, took));
	}

	/**
	 * Tells the clock of a reply.
	 * @param received when the reply came, in nanoseconds after the store's time
	 * @param sent when the request was sent, in nanoseconds after the store's time
	 * @return the error of the estimate, in nanoseconds
	 */
	private long heard(long now, long received, long sent) {
		long wheel = AHEAD + TimeUnit.MILLISECONDS.toNanos(now);
		this.received = wheel + received;
		return this.clock.heard(now, wheel + sent) - AHEAD;
	}

	private static long micros(long micros) {
		return TimeUnit.MICROSECONDS.toNanos(micros);
	}

}
