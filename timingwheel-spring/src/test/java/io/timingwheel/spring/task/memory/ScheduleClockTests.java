package io.timingwheel.spring.task.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.timingwheel.spring.task.memory.VirtualTasks.NAME;
import static io.timingwheel.spring.task.memory.VirtualTasks.id;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The times of schedules in memory: while somebody sets the clock of the machine, and
 * after a move, a failure and an additional run, as operators see them.
 */
class ScheduleClockTests {

	private static final Instant NOON = Instant.parse("2026-01-10T12:00:00Z");

	private static final PolicySettings TWO_ATTEMPTS = new PolicySettings(2,
			new BackoffSettings(Duration.ofMinutes(5), null, null, null), null, null, null, null);

	/** How far somebody has set the clock ahead. */
	private Duration ahead = Duration.ZERO;

	private final VirtualTasks tasks = new VirtualTasks(TWO_ATTEMPTS, new HandOverExecutors(false), (time) -> {
		long start = time.nanoTime();
		InstantSource clock = () -> NOON.plusNanos(time.nanoTime() - start).plus(this.ahead);
		return clock.withZone(ZoneOffset.UTC);
	});

	private final long start = this.tasks.time.nanoTime();

	/** The minutes that have passed in truth before each run. */
	private final List<Long> ran = new ArrayList<>();

	/** The next times that operators saw during the runs. */
	private final List<@Nullable Instant> nextDuringRuns = new ArrayList<>();

	private boolean failing;

	private void begin(String schedule) {
		TaskDefinition definition = new TaskDefinition(this.tasks.registry, NAME, () -> this.tasks.executor, null) {

			@Override
			protected @Nullable Object run(Object payload) {
				ScheduleClockTests test = ScheduleClockTests.this;
				test.ran.add(Duration.ofNanos(test.tasks.time.nanoTime() - test.start).toMinutes());
				test.nextDuringRuns.add(snapshot().next());
				if (test.failing) {
					throw new IllegalStateException("failed");
				}
				return null;
			}

		};
		TaskSubmission.repeat(definition, "key", IfPending.REPLACE, "payload", Schedule.parse(schedule), Missed.ONCE,
				null);
	}

	@ParameterizedTest
	@CsvSource({ "every(PT1H), 300, 180", "every(PT1H), -300, 180", "fixedDelay(PT1H), 300, 180",
			"fixedDelay(PT1H), -300, 180", "'cron(0 0 * * * *, Z)', 10, 170", "'cron(0 0 * * * *, Z)', -10, 190" })
	void periodsStayAndOneRunOfACronExpressionIsLateOrEarlyIfTheClockIsSet(String schedule, long change, long third) {
		begin(schedule);
		advance(90);
		this.ahead = Duration.ofMinutes(change);
		advance(120);
		assertThat(this.ran).containsExactly(60L, 120L, third);
	}

	@ParameterizedTest
	@ValueSource(strings = { "every(PT1H)", "cron(0 0 * * * *, Z)" })
	void aRunAndAMoveLeaveTheNextRegularTime(String schedule) {
		begin(schedule);
		assertDue(60);
		move(10);
		assertDue(10);
		advance(10);
		assertDue(60);
		advance(50);
		assertDue(120);
		move(150);
		assertDue(210);
		advance(150);
		assertDue(240);
		assertThat(this.nextDuringRuns).hasSize(3).containsOnlyNulls();
	}

	@Test
	void theLastAttemptIsFollowedByTheNextRegularRun() {
		this.failing = true;
		begin("every(PT1H)");
		advance(60);
		assertDue(65);
		advance(5);
		assertDue(120);
	}

	@Test
	void aStallBetweenTheReadingsOfTheClocksDoesNotShiftTheDueTimes() {
		ManualTimeSource time = new ManualTimeSource();
		long start = time.nanoTime();
		Instant noon = Instant.parse("2026-01-10T12:00:00Z");
		AtomicReference<Duration> stall = new AtomicReference<>(Duration.ofMillis(100));
		InstantSource wall = () -> {
			time.advance(stall.getAndSet(Duration.ZERO));
			return noon.plusNanos(time.nanoTime() - start);
		};
		Clock clock = wall.withZone(ZoneOffset.UTC);
		assertThat(new TaskClock(time, clock, null).now()).isEqualTo(noon.plusMillis(100));
	}

	private void move(int minutes) {
		assertThat(this.tasks.template.reschedule(id("key"), Duration.ofMinutes(minutes))).isTrue();
	}

	private void advance(int minutes) {
		this.tasks.advance(Duration.ofMinutes(minutes));
	}

	private void assertDue(long minutes) {
		assertThat(snapshot().dueAt()).isEqualTo(NOON.plus(Duration.ofMinutes(minutes)));
		assertThat(snapshot().next()).isEqualTo(snapshot().dueAt());
	}

	private PendingTaskSnapshot snapshot() {
		return new MemoryTaskReader(this.tasks.registry).find(NAME, "key").orElseThrow();
	}

}
