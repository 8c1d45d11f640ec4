package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.LeasedTask;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LookAheadTests {

	private static final int ROOM = 1000;

	private static final Duration SETTING = Duration.ofSeconds(2);

	private final LookAhead lookAhead = new LookAhead(SETTING, 0);

	private long millis;

	private static Claimed claimed(boolean begun) {
		return new Claimed(List.of(new LeasedTask("id", 1, "name", null, "{}", null, 500, begun, 1, 0, 0, false)), 0,
				Long.MAX_VALUE);
	}

	private void claim(boolean begun, int free) {
		claim(claimed(begun), free, ROOM - free);
	}

	private void claim(Claimed claimed, int free, int waiting) {
		this.lookAhead.claimed(claimed, free, () -> waiting, TimeUnit.MILLISECONDS.toNanos(this.millis));
	}

	private void claimForSeconds(int seconds, int free) {
		for (int i = 0; i < 20 * seconds; i++) {
			this.millis += 50;
			claim(false, free);
		}
	}

	@Test
	void withRoomForAllTasksTheLookAheadIsThatOfTheSettings() {
		claimForSeconds(10, 400);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING);
		assertThat(this.lookAhead.maxSleepMillis(1000)).isEqualTo(1000);
	}

	@Test
	void withoutRoomForTheTasksThatAreDueLaterTheLookAheadShrinks() {
		claim(false, 250);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING.dividedBy(2));
	}

	@Test
	void theTasksOfTheOldLookAheadRunBeforeTheLookAheadChangesAgain() {
		claim(false, 250);
		this.millis = 999;
		claim(false, 250);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING.dividedBy(2));
		this.millis = 1000;
		claim(false, 250);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING.dividedBy(4));
	}

	@Test
	void aBacklogThatIsDueChangesNothing() {
		claim(true, 0);
		claim(new Claimed(List.of(), 0, Long.MAX_VALUE), 0, ROOM);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING);
	}

	@Test
	void longBodiesLeaveTheLookAheadAsItIsIfTheRestHasRoom() {
		claim(claimed(false), 330, 20);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING);
		claim(claimed(false), 2, 20);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING.dividedBy(2));
	}

	@Test
	void aTaskThatWaitsInTheOnlyPlaceMakesTheLookAheadShrink() {
		claim(claimed(false), 0, 1);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING.dividedBy(2));
	}

	@Test
	void theLookAheadIsLongerThanTheNodeSleeps() {
		claimForSeconds(30, 0);
		assertThat(this.lookAhead.current()).isEqualTo(Duration.ofMillis(LookAhead.MIN_MILLIS));
		assertThat(this.lookAhead.maxSleepMillis(1000)).isEqualTo(LookAhead.MIN_MILLIS / 2)
			.isGreaterThan(Claimed.MAX_PAUSE_MILLIS);
		assertThat(this.lookAhead.maxSleepMillis(20)).isEqualTo(20);
	}

	@Test
	void theLookAheadGrowsAgainWhenMostOfTheRoomIsFree() {
		claimForSeconds(30, 0);
		claimForSeconds(30, 625);
		assertThat(this.lookAhead.current()).isEqualTo(Duration.ofMillis(LookAhead.MIN_MILLIS));
		claimForSeconds(30, 626);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING);
	}

	@Test
	void aShortLookAheadOfTheSettingsStays() {
		LookAhead lookAhead = new LookAhead(Duration.ofMillis(20), 0);
		lookAhead.claimed(claimed(false), 0, () -> ROOM, 0);
		assertThat(lookAhead.current()).isEqualTo(Duration.ofMillis(20));
		assertThat(lookAhead.maxSleepMillis(1000)).isEqualTo(1000);
	}

	/**
	 * At a steady rate the node holds the tasks of the look-ahead.
	 */
	@Test
	void atASteadyRateTheLookAheadSettles() {
		for (int rate : List.of(450, 700, 1000, 2000)) {
			LookAhead lookAhead = new LookAhead(SETTING, 0);
			Duration before = Duration.ZERO;
			for (int second = 0; second < 30; second++) {
				before = lookAhead.current();
				int held = (int) Math.min(0.75 * ROOM, rate * before.toMillis() / 1000);
				lookAhead.claimed(claimed(false), ROOM - held, () -> held, TimeUnit.SECONDS.toNanos(2L * second));
			}
			assertThat(lookAhead.current()).as("rate %d", rate).isEqualTo(before);
			assertThat(rate * before.toMillis() / 1000).as("rate %d", rate).isLessThan(ROOM * 3 / 4);
		}
	}

}
