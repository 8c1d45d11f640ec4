package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.scheduling.support.CronExpression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ScheduleTests {

	private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

	private static final Instant NOON = Instant.parse("2026-01-10T12:00:00Z");

	@ParameterizedTest(name = "{0}, {1}, {2}: {3}")
	@CsvSource({ "Europe/Berlin, 2026-03-29, 0 0 * * * *, 23", "Europe/Berlin, 2026-10-25, 0 0 * * * *, 25",
			"America/New_York, 2026-03-08, 0 0 * * * *, 23", "America/New_York, 2026-11-01, 0 0 * * * *, 25",
			"Europe/Berlin, 2026-03-29, 0 30 2 * * *, 0", "Europe/Berlin, 2026-10-25, 0 30 2 * * *, 2",
			"America/New_York, 2026-11-01, 0 30 1 * * *, 2", "Australia/Lord_Howe, 2026-04-05, 0 45 1 * * *, 1",
			"Australia/Lord_Howe, 2026-04-05, 0 15 1 * * *, 1", "Australia/Lord_Howe, 2026-04-05, 0 0 * * * *, 24",
			"Australia/Lord_Howe, 2026-04-05, 0 * * * * *, 1470", "Australia/Lord_Howe, 2026-10-04, 0 * * * * *, 1410",
			"Europe/Berlin, 2026-03-29, 0 0 3 * * *, 1" })
	void aDayOfAClockChangeHasSoManyTimes(String zoneId, LocalDate day, String expression, int count) {
		ZoneId zone = ZoneId.of(zoneId);
		List<Instant> times = times(Schedule.cron(expression, zone), day.atStartOfDay(zone).toInstant().minusMillis(1),
				day.plusDays(1).atStartOfDay(zone).toInstant());
		assertThat(times).hasSize(count).doesNotHaveDuplicates().isSorted();
		CronExpression cron = CronExpression.parse(expression);
		assertThat(times).extracting((time) -> time.atZone(zone).toLocalDateTime())
			.allMatch((local) -> local.equals(cron.next(local.minusNanos(1))));
	}

	private static List<Instant> times(Schedule schedule, Instant after, Instant end) {
		List<Instant> times = new ArrayList<>();
		for (Instant time = schedule.next(after); time != null && time.isBefore(end); time = schedule.next(time)) {
			times.add(time);
		}
		return times;
	}

	@Test
	void everyKeepsItsRhythm() {
		Schedule schedule = Schedule.every(Duration.ofMinutes(5));
		assertThat(schedule.next(NOON)).isEqualTo(NOON.plusSeconds(300));
		assertThat(schedule.next(NOON, NOON.plusSeconds(299))).isEqualTo(NOON.plusSeconds(300));
		assertThat(schedule.next(NOON, NOON.plusSeconds(300))).isEqualTo(NOON.plusSeconds(600));
		assertThat(schedule.next(NOON, NOON.plusSeconds(3601))).isEqualTo(NOON.plusSeconds(3900));
		assertThat(schedule.next(NOON, NOON.minusSeconds(1000))).isEqualTo(NOON.plusSeconds(300));
		assertThat(Schedule.every(Duration.ofMillis(1)).next(NOON, NOON.plus(Duration.ofDays(10_000))))
			.isEqualTo(NOON.plus(Duration.ofDays(10_000)).plusMillis(1));
	}

	@Test
	void aFixedDelayCountsFromTheLaterTime() {
		Schedule schedule = Schedule.fixedDelay(Duration.ofSeconds(10));
		assertThat(schedule.isFixedDelay()).isTrue();
		assertThat(schedule.next(NOON, NOON.plusSeconds(7))).isEqualTo(NOON.plusSeconds(17));
	}

	@Test
	void theTextOfAScheduleIsReadAgain() {
		for (Schedule schedule : List.of(Schedule.cron("0 0 3 * * MON-FRI", BERLIN),
				Schedule.cron("0 0,15,30 3 ? * 5#2", ZoneId.of("Z")), Schedule.cron("@hourly", ZoneId.of("+02:00")),
				Schedule.every(Duration.ofMinutes(90)), Schedule.fixedDelay(Duration.ofMillis(1500)))) {
			Schedule read = Schedule.parse(schedule.toString());
			assertThat(read).isEqualTo(schedule).hasSameHashCodeAs(schedule);
			assertThat(read.next(NOON)).isEqualTo(Objects.requireNonNull(schedule.next(NOON)));
		}
		assertThat(Schedule.cron(" 0  0 3 * * * ", BERLIN)).hasToString("cron(0 0 3 * * *, Europe/Berlin)");
		assertThat(Schedule.every(Duration.ofMinutes(5))).hasToString("every(PT5M)");
		assertThat(Schedule.fixedDelay(Duration.ofSeconds(30))).hasToString("fixedDelay(PT30S)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "every", "every(5m)", "every(PT0S)", "cron(0 0 3 * * *)", "cron(x, Europe/Berlin)",
			"cron(0 0 3 * * *, Nowhere)", "sometimes(PT5M)", "every(PT5M) " })
	void aTextThatIsNoScheduleIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Schedule.parse(text));
	}

	@Test
	void aCronExpressionThatNeverMatchesIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Schedule.cron("0 0 0 30 2 *", BERLIN))
			.withMessageContaining("0 0 0 30 2 *")
			.withMessageContaining("never");
		assertThatIllegalArgumentException().isThrownBy(() -> Schedule.cron("-", BERLIN));
	}

	@Test
	void aPeriodThatIsTooShortOrHasAFractionIsRefused() {
		for (Duration period : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofNanos(999_999),
				Duration.ofNanos(1_500_000), Duration.ofDays(40_000))) {
			assertThatIllegalArgumentException().isThrownBy(() -> Schedule.every(period))
				.withMessageContaining("at least 1ms");
			assertThatIllegalArgumentException().isThrownBy(() -> Schedule.fixedDelay(period));
		}
	}

	@Test
	void aTextThatIsTooLongForAStoreIsRefused() {
		String minutes = "0" + ",59".repeat(100);
		assertThatIllegalArgumentException().isThrownBy(() -> Schedule.cron("0 " + minutes + " * * * *", BERLIN))
			.withMessageContaining("255");
	}

}
