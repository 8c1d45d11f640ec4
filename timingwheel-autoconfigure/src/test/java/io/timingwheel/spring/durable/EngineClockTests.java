package io.timingwheel.spring.durable;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A time of the engine is never taken for an earlier one of the wheel, and seldom for a
 * later one.
 */
class EngineClockTests {

	/** By how much the wheel's clock is ahead. */
	private static final long AHEAD = 1_000_000_000L;

	private final EngineClock clock = new EngineClock();

	@Test
	void theFirstReplyCounts() {
		reply(10, micros(800));
		assertThat(lateness(20)).isEqualTo(micros(800));
	}

	@Test
	void aFasterReplyCountsFromNowOn() {
		reply(10, micros(800));
		reply(11, micros(200));
		assertThat(lateness(20)).isEqualTo(micros(200));
	}

	@Test
	void aSlowerReplyCountsForLessTheLaterItComes() {
		reply(10, micros(200));
		reply(11, micros(4_000));
		assertThat(lateness(20)).isBetween(micros(200), micros(205));
		reply(1_011, micros(4_000));
		assertThat(lateness(2_000)).isBetween(micros(700), micros(710));
		reply(11_011, micros(4_000));
		assertThat(lateness(12_000)).isEqualTo(micros(4_000));
	}

	@Test
	void aReplyThatIsMuchSlowerMayBeThatOfAClockThatWasSetBack() {
		reply(10, micros(200));
		reply(11, micros(6_000));
		assertThat(lateness(20)).isEqualTo(micros(6_000));
		reply(12, micros(300));
		assertThat(lateness(20)).isEqualTo(micros(300));
	}

	@Test
	void aClockThatWasSetForwardIsFollowed() {
		reply(10, micros(200));
		reply(5_000_010, -micros(5_000_000_000L));
		assertThat(lateness(5_000_020)).isEqualTo(-micros(5_000_000_000L));
	}

	private void reply(long now, long took) {
		this.clock.heard(now, AHEAD + TimeUnit.MILLISECONDS.toNanos(now) + took);
	}

	private long lateness(long time) {
		return this.clock.toWheelNanos(time) - AHEAD - TimeUnit.MILLISECONDS.toNanos(time);
	}

	private static long micros(long micros) {
		return TimeUnit.MICROSECONDS.toNanos(micros);
	}

}
