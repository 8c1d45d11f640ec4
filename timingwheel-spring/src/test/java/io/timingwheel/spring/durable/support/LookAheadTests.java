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

	private final LookAhead lookAhead = new LookAhead(SETTING, ROOM, 0);

	private long millis;

	private void claim(boolean begun, int free) {
		LeasedTask task = new LeasedTask("id", 1, "name", null, "{}", null, 500, begun, 1, 0, 0, false);
		claim(List.of(task), free);
	}

	private void claim(List<LeasedTask> tasks, int free) {
		this.lookAhead.claimed(new Claimed(tasks, 0, Long.MAX_VALUE), free, TimeUnit.MILLISECONDS.toNanos(this.millis));
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
		claim(List.of(), 0);
		assertThat(this.lookAhead.current()).isEqualTo(SETTING);
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
		LookAhead lookAhead = new LookAhead(Duration.ofMillis(20), ROOM, 0);
		LeasedTask task = new LeasedTask("id", 1, "name", null, "{}", null, 500, false, 1, 0, 0, false);
		lookAhead.claimed(new Claimed(List.of(task), 0, Long.MAX_VALUE), 0, 0);
		assertThat(lookAhead.current()).isEqualTo(Duration.ofMillis(20));
		assertThat(lookAhead.maxSleepMillis(1000)).isEqualTo(1000);
	}

	/**
	 * At a steady rate the node holds the tasks of the look-ahead.
	 */
	@Test
	void atASteadyRateTheLookAheadSettles() {
		for (int rate : List.of(450, 700, 1000, 2000)) {
			LookAhead lookAhead = new LookAhead(SETTING, ROOM, 0);
			Duration before = Duration.ZERO;
			for (int second = 0; second < 30; second++) {
				before = lookAhead.current();
				int held = (int) Math.min(0.75 * ROOM, rate * before.toMillis() / 1000);
				LeasedTask task = new LeasedTask("id", 1, "name", null, "{}", null, 500, false, 1, 0, 0, false);
				lookAhead.claimed(new Claimed(List.of(task), 0, Long.MAX_VALUE), ROOM - held,
						TimeUnit.SECONDS.toNanos(2L * second));
			}
			assertThat(lookAhead.current()).as("rate %d", rate).isEqualTo(before);
			assertThat(rate * before.toMillis() / 1000).as("rate %d", rate).isLessThan(ROOM * 3 / 4);
		}
	}

}
