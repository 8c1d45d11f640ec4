package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;

import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The next time of a schedule after runs of any length, late starts and retries.
 */
class RecurrenceTests {

	private static final Instant START = Instant.parse("2026-03-28T00:00:00Z");

	private static final Schedule HOURLY = Schedule.every(Duration.ofHours(1));

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource(textBlock = """
			# a run, missed, scheduled, due, started, ended, next
			in time,                          ONCE, 0,  0,   0,   10,  60
			late stands for all to its start, ONCE, 0,  0,   150, 160, 180
			late stands for its own time,     ALL,  0,  0,   150, 160, 60
			long leaves its times due,        ONCE, 0,  0,   0,   150, 60
			long skips its times,             SKIP, 0,  0,   0,   150, 180
			additional leaves the next time,  ONCE, 60, 10,  10,  20,  60
			additional leaves the next time,  SKIP, 60, 10,  10,  20,  60
			additional leaves the next time,  ALL,  60, 10,  10,  20,  60
			additional and long,              ONCE, 60, 10,  10,  130, 60
			additional and long,              SKIP, 60, 10,  10,  130, 180
			moved stands for the times before, ONCE, 0, 130, 130, 140, 180
			moved stands for the times before, ALL, 0,  130, 130, 140, 180
			""")
	void theNextTimeFollowsFromTheRun(String run, Missed missed, int scheduledAt, int dueAt, int startedAt, int endedAt,
			int next) {
		assertThat(new Recurrence(minute(scheduledAt), minute(dueAt), minute(startedAt)).next(HOURLY, missed,
				minute(endedAt)))
			.isEqualTo(minute(next));
	}

	private static Instant minute(int minute) {
		return START.plus(Duration.ofMinutes(minute));
	}

	/**
	 * A million runs with random lengths, late starts and additional runs. No time of a
	 * schedule is missed, and none has two runs.
	 */
	@Test
	void ofAMillionTimesNoneIsMissedAndNoneComesTwice() {
		Random random = new Random(17);
		for (int i = 0; i < 36; i++) {
			run(Schedule.every(Duration.ofMillis(1 + random.nextInt(10_000))), Missed.values()[i % 3], random);
		}
		for (Missed missed : Missed.values()) {
			run(Schedule.cron("*/5 * * * * *", ZoneId.of("Europe/Berlin")), missed, random);
		}
		run(Schedule.cron("0 */3 * * * *", ZoneId.of("Australia/Lord_Howe")), Missed.ONCE, random);
	}

	private static void run(Schedule schedule, Missed missed, Random random) {
		Instant scheduledAt = Objects.requireNonNull(schedule.next(START));
		Instant now = scheduledAt;
		long period = Duration.between(scheduledAt, Objects.requireNonNull(schedule.next(scheduledAt))).toMillis();
		Instant covered = START;
		for (int i = 0; i < 25_000; i++) {
			boolean additional = random.nextInt(50) == 0 && scheduledAt.isAfter(now);
			Instant dueAt = additional ? now : scheduledAt;
			Instant startedAt = now.isAfter(dueAt) ? now : dueAt;
			startedAt = startedAt.plusMillis((random.nextInt(20) == 0) ? (long) (random.nextDouble() * 5 * period) : 1);
			Instant endedAt = startedAt
				.plusMillis((random.nextInt(10) == 0) ? (long) (random.nextDouble() * 4 * period) : 1);
			if (!additional) {
				// Without descriptions, which would take longer than the schedules.
				if (!scheduledAt.isAfter(covered)) {
					throw new AssertionError("Twice: " + scheduledAt + " of " + schedule);
				}
				if (missed != Missed.SKIP && times(schedule, covered, scheduledAt) != 0) {
					throw new AssertionError("Missed before " + scheduledAt + " of " + schedule);
				}
				covered = (missed == Missed.ALL) ? scheduledAt : latest(schedule, scheduledAt, startedAt);
			}
			scheduledAt = Objects
				.requireNonNull(new Recurrence(scheduledAt, dueAt, startedAt).next(schedule, missed, endedAt));
			if (missed == Missed.SKIP && !scheduledAt.isAfter(endedAt)) {
				throw new AssertionError("Not skipped: " + scheduledAt + " of " + schedule);
			}
			now = endedAt;
		}
	}

	/**
	 * The last time of the schedule up to another time.
	 */
	private static Instant latest(Schedule schedule, Instant known, Instant upTo) {
		return Stream.iterate(known, (time) -> time != null && !time.isAfter(upTo), schedule::next)
			.reduce(known, (earlier, later) -> later);
	}

	/**
	 * How many times of the schedule are between two of its times.
	 */
	private static long times(Schedule schedule, Instant from, Instant to) {
		if (from.equals(START)) {
			return 0;
		}
		return Stream.iterate(schedule.next(from), (time) -> time != null && time.isBefore(to), schedule::next).count();
	}

}
