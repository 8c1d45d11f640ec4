package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
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

}
