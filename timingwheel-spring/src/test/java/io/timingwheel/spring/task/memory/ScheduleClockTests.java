package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Schedules in memory while somebody sets the clock of the machine.
 */
class ScheduleClockTests {

	private static final Instant NOON = Instant.parse("2026-01-10T12:00:00Z");

	private static final TaskId ID = TaskId.of("work", 1);

	/** How far somebody has set the clock ahead. */
	private Duration ahead = Duration.ZERO;

	private final VirtualTasks tasks = new VirtualTasks((time) -> {
		long start = time.nanoTime();
		InstantSource clock = () -> NOON.plusNanos(time.nanoTime() - start).plus(this.ahead);
		return clock.withZone(ZoneOffset.UTC);
	});

	private final long start = this.tasks.time.nanoTime();

	/** The minutes that have passed in truth before each run. */
	private final List<Long> ran = new ArrayList<>();

	@ParameterizedTest
	@CsvSource({ "every(PT1H), PT5H", "every(PT1H), PT-5H", "fixedDelay(PT1H), PT5H", "fixedDelay(PT1H), PT-5H" })
	void periodsStayAsTheyAre(String schedule, Duration change) {
		begin(Schedule.parse(schedule));
		this.tasks.advance(Duration.ofMinutes(90));
		this.ahead = change;
		this.tasks.advance(Duration.ofMinutes(120));
		assertThat(this.ran).containsExactly(60L, 120L, 180L);
	}

	@Test
	void oneRunOfACronExpressionIsLateAndTheNextIsNotIfTheClockIsSetForward() {
		begin(Schedule.cron("0 0 * * * *", ZoneOffset.UTC));
		this.tasks.advance(Duration.ofMinutes(90));
		this.ahead = Duration.ofMinutes(10);
		this.tasks.advance(Duration.ofMinutes(120));
		assertThat(this.ran).containsExactly(60L, 120L, 170L);
	}

	@Test
	void oneRunOfACronExpressionIsEarlyAndTheNextIsNotIfTheClockIsSetBack() {
		begin(Schedule.cron("0 0 * * * *", ZoneOffset.UTC));
		this.tasks.advance(Duration.ofMinutes(90));
		this.ahead = Duration.ofMinutes(-10);
		this.tasks.advance(Duration.ofMinutes(120));
		assertThat(this.ran).containsExactly(60L, 120L, 190L);
	}

	private void begin(Schedule schedule) {
		this.tasks.template
			.task(() -> this.ran.add(Duration.ofNanos(this.tasks.time.nanoTime() - this.start).toMinutes()))
			.id(ID)
			.on(schedule);
	}

}
