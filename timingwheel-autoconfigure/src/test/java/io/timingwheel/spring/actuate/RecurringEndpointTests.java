package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.Set;

import io.timingwheel.spring.actuate.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails.State;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the endpoint shows of recurring tasks.
 */
class RecurringEndpointTests {

	private static final Instant NOON = Instant.parse("2026-01-10T12:00:00Z");

	@Test
	void aTaskInMemoryHasItsScheduleAndItsNextTime() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class))
			.withBean(Hourly.class)
			.run((context) -> {
				DelayedTasksEndpoint endpoint = new DelayedTasksEndpoint(context.getBean(DelayedTaskRegistry.class),
						null, Show.ALWAYS, Set.of());
				TaskDescriptor task = task(endpoint);
				assertThat(task).isNotNull();
				assertThat(task.schedule()).isEqualTo("every(PT1H)");
				assertThat(task.next()).isEqualTo(task.dueAt()).isAfter(Instant.now().plus(Duration.ofMinutes(59)));
				assertThat(task.masked().schedule()).isEqualTo("every(PT1H)");
				assertThat(context.getBean(DelayedTaskOperations.class)
					.reschedule(TaskId.of("hourly", "recurring"), Duration.ofMinutes(10))).isTrue();
				TaskDescriptor moved = task(endpoint);
				assertThat(moved.dueAt()).isBefore(task.dueAt());
				assertThat(Duration.between(task.next(), moved.next()).abs()).as("the regular time stays")
					.isLessThan(Duration.ofMinutes(1));
				assertThat(endpoint.cancel("hourly", "recurring").getStatus()).isEqualTo(204);
			});
	}

	private static TaskDescriptor task(DelayedTasksEndpoint endpoint) {
		return (TaskDescriptor) endpoint
			.task(SecurityContext.NONE, new String[] { "hourly", "recurring" }, null, null, null)
			.getBody();
	}

	@Test
	void aStoredTaskHasTheNextTimeOfItsSchedule() {
		assertThat(next(State.PENDING, 1, "every(PT1H)", NOON, NOON)).isEqualTo(NOON);
		assertThat(next(State.PENDING, 2, "every(PT1H)", NOON.plusSeconds(9), NOON)).as("a retry")
			.isEqualTo(NOON.plusSeconds(3600));
		assertThat(next(State.RUNNING, 1, "every(PT1H)", NOON, NOON)).isEqualTo(NOON.plusSeconds(3600));
		assertThat(next(State.RUNNING, 1, "every(PT1H)", NOON.minusSeconds(9), NOON)).as("an additional run")
			.isEqualTo(NOON);
		assertThat(next(State.PENDING, 1, "every(PT1H)", NOON.plusSeconds(4000), NOON)).as("put off")
			.isEqualTo(NOON.plusSeconds(7200));
		assertThat(next(State.PENDING, 1, "of a newer release", NOON, NOON)).isEqualTo(NOON);
		assertThat(next(State.RUNNING, 1, "fixedDelay(PT1H)", NOON, NOON)).isNull();
		assertThat(next(State.RUNNING, 1, "of a newer release", NOON, NOON)).isNull();
	}

	private static Instant next(State state, int attempt, String schedule, Instant dueAt, Instant scheduledAt) {
		TaskDescriptor task = TaskDescriptor.of(new StoredTaskDetails("id", "name", "key", dueAt, state, attempt, 0,
				null, new StoredTaskDetails.Times(schedule, scheduledAt), null, false));
		assertThat(task.schedule()).isEqualTo(schedule);
		return task.next();
	}

	static class Hourly {

		@Recurring(every = "1h", initialDelay = "1h", name = "hourly")
		public void run() {
		}

	}

}
