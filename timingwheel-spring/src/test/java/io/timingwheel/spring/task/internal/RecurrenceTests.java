package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Random;

import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The next time of a schedule after runs of any length, late starts and retries. */
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

	/** Beside the times of the schedule, one by one. */
	@Test
	void ofRandomRunsNoTimeIsMissedAndNoneComesTwice() {
		Random random = new Random(17);
		List<Schedule> schedules = List.of(Schedule.every(Duration.ofMillis(7_919)),
				Schedule.cron("*/5 * * * * *", ZoneId.of("Europe/Berlin")));
		for (int i = 0; i < 100_000; i++) {
			Schedule schedule = schedules.get(i % 2);
			Instant scheduledAt = schedule.next(START.plusSeconds(random.nextInt(2 * 86_400)));
			int period = (int) Duration.between(scheduledAt, schedule.next(scheduledAt)).toMillis();
			Instant startedAt = scheduledAt.plusMillis(random.nextInt(4 * period) * random.nextInt(2));
			Instant endedAt = startedAt.plusMillis(random.nextInt(4 * period) * random.nextInt(2));
			Missed missed = Missed.values()[random.nextInt(3)];
			Instant covered = switch (missed) {
				case ALL -> scheduledAt;
				case ONCE -> startedAt;
				case SKIP -> endedAt;
			};
			Instant expected = schedule.next(scheduledAt);
			while (!expected.isAfter(covered)) {
				expected = schedule.next(expected);
			}
			assertThat(new Recurrence(scheduledAt, scheduledAt, startedAt).next(schedule, missed, endedAt))
				.isEqualTo(expected);
		}
	}

	private static Instant minute(int minute) {
		return START.plus(Duration.ofMinutes(minute));
	}

}
