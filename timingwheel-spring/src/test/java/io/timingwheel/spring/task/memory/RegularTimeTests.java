package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The next regular time of a task in memory, as operators see it.
 */
class RegularTimeTests {

	private static final Instant NOON = Instant.parse("2026-01-10T12:00:00Z");

	private static final TaskId ID = TaskId.of("work", "key");

	private static final PolicySettings TWO_ATTEMPTS = new PolicySettings(2,
			new BackoffSettings(Duration.ofMinutes(5), null, null, null), null, null, null, null);

	private final VirtualTasks tasks = new VirtualTasks(Map.of("work", TWO_ATTEMPTS), (time) -> {
		long start = time.nanoTime();
		InstantSource clock = () -> NOON.plusNanos(time.nanoTime() - start);
		return clock.withZone(ZoneOffset.UTC);
	});

	/** The next time as each run has seen it. */
	private final List<@Nullable Long> seenByRuns = new ArrayList<>();

	private boolean failing;

	@ParameterizedTest
	@ValueSource(strings = { "every(PT1H)", "cron(0 0 * * * *, Z)" })
	void aRunAndAMoveLeaveTheNextRegularTime(String schedule) {
		begin(Schedule.parse(schedule));
		assertThat(dueAt()).isEqualTo(60);
		assertThat(next()).isEqualTo(60);
		move(10);
		assertThat(dueAt()).isEqualTo(10);
		assertThat(next()).as("before an additional run").isEqualTo(60);
		advance(10);
		assertThat(this.seenByRuns).as("during the additional run").containsExactly(60L);
		assertThat(next()).isEqualTo(60);
		advance(50);
		assertThat(this.seenByRuns).as("during a regular run").containsExactly(60L, 120L);
		assertThat(dueAt()).isEqualTo(120);
		assertThat(next()).isEqualTo(120);
		move(150);
		assertThat(dueAt()).isEqualTo(210);
		assertThat(next()).as("after a run that was put off").isEqualTo(240);
		advance(150);
		assertThat(dueAt()).isEqualTo(240);
		assertThat(next()).isEqualTo(240);
	}

	@Test
	void betweenTwoAttemptsTheNextRegularTimeIsThatOfTheNextRun() {
		this.failing = true;
		begin(Schedule.every(Duration.ofHours(1)));
		advance(60);
		assertThat(dueAt()).isEqualTo(65);
		assertThat(next()).isEqualTo(120);
		advance(5);
		assertThat(this.seenByRuns).containsExactly(120L, 120L);
		assertThat(dueAt()).isEqualTo(120);
		assertThat(next()).isEqualTo(120);
	}

	@Test
	void theNextTimeAfterAFixedDelayIsKnownOnlyAfterTheRun() {
		begin(Schedule.fixedDelay(Duration.ofHours(1)));
		assertThat(next()).isEqualTo(60);
		advance(60);
		assertThat(this.seenByRuns).hasSize(1).containsOnlyNulls();
		assertThat(next()).isEqualTo(120);
	}

	private void begin(Schedule schedule) {
		TaskDefinition<String> definition = new TaskDefinition<>(this.tasks.registry, ID.name(),
				() -> this.tasks.executor, null) {

			@Override
			protected @Nullable Object run(String payload) {
				RegularTimeTests.this.seenByRuns.add(next());
				if (RegularTimeTests.this.failing) {
					throw new IllegalStateException("failed");
				}
				return null;
			}

			@Override
			protected void handleError(Throwable error, String payload) {
			}

		};
		TaskSubmission.recur(definition, ID.key(), "payload", schedule, Missed.ONCE, null);
	}

	private void move(int minutes) {
		assertThat(this.tasks.template.reschedule(ID, Duration.ofMinutes(minutes))).isTrue();
	}

	private void advance(int minutes) {
		this.tasks.advance(Duration.ofMinutes(minutes));
	}

	private long dueAt() {
		return minutes(snapshot().dueAt());
	}

	private @Nullable Long next() {
		Instant next = snapshot().next();
		return (next != null) ? minutes(next) : null;
	}

	private PendingTaskSnapshot snapshot() {
		return this.tasks.registry.memoryTasks().find(ID.name(), ID.key()).orElseThrow();
	}

	private static long minutes(Instant time) {
		return Duration.between(NOON, time).toMinutes();
	}

}
