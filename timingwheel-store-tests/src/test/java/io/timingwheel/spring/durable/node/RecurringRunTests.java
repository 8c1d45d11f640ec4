package io.timingwheel.spring.durable.node;

import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import io.timingwheel.spring.task.Missed;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The next time after runs of a schedule that is due every second. */
class RecurringRunTests extends NodeTestSupport {

	private static final long TIME = 1_000_000;

	private static final long NEXT = TIME + 1000;

	@Test
	void aRetryThatWasStoredLateLeavesTheNextTimeItsRun() {
		// The retry was to come after 999 ms, and the request took 5 ms.
		assertThat(next(Missed.ALL, 2, NEXT + 4, 1)).isEqualTo(NEXT);
		assertThat(next(Missed.ONCE, 2, NEXT + 4, 1)).as("one run for all times that have passed")
			.isEqualTo(NEXT + 1000);
		assertThat(next(Missed.SKIP, 2, NEXT + 4, 1)).isEqualTo(NEXT + 1000);
	}

	@Test
	void aRunThatWasPutOffStandsForTheTimesBeforeItUntilAnAttemptFails() {
		assertThat(next(Missed.ALL, 2, TIME + 500, 1)).isEqualTo(NEXT);
		assertThat(next(Missed.ALL, 1, NEXT + 2004, 1)).as("put off").isEqualTo(NEXT + 3000);
		assertThat(next(Missed.ALL, 2, NEXT + 2004, 1)).as("a retry of a run that was put off").isEqualTo(NEXT);
		assertThat(next(Missed.ALL, 2, TIME - 500, 1)).as("a retry of an additional run").isEqualTo(TIME);
	}

	private long next(Missed missed, int attempt, long dueAt, long latenessMillis) {
		LeasedTask task = new LeasedTask("id", 1, NAME, "key", "1", null, dueAt, true, attempt, attempt, 0,
				new StoredSchedule("every(PT1S)", TIME));
		DurableHandler handler = NumberHandler.of(NAME, this.runs::add, Runnable::run, null, missed);
		Run run = begun(task, handler, () -> TimeUnit.MILLISECONDS.toNanos(latenessMillis + 1), Long.MAX_VALUE);
		run.start(TimeUnit.MILLISECONDS.toNanos(latenessMillis));
		DueTime due = ((Settlement.Repeat) run.end(null)).next();
		assertThat(due.absolute()).isTrue();
		return due.millis();
	}

}
