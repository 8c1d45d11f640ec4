package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code @Recurring} methods and schedules of the template, in memory.
 */
class RecurringTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
						VirtualTimeAutoConfiguration.class, TimingWheelAutoConfiguration.class))
		.withBean("runs", Runs.class);

	private ApplicationContext context;

	private VirtualTime time;

	private DelayedTaskOperations tasks;

	private Runs runs;

	@Test
	void everyBeginsAtOnceAndKeepsItsRhythm() {
		run(Every.class, () -> {
			Instant start = this.time.now();
			this.time.advance(Duration.ofSeconds(25));
			assertThat(this.runs.of("every")).containsExactly(start, start.plusSeconds(10), start.plusSeconds(20));
			assertThat(this.runs.of("later")).containsExactly(start.plusSeconds(7), start.plusSeconds(17));
		});
	}

	@Test
	void cronIsByTheWallClockInItsZone() {
		run(Nightly.class, () -> {
			Instant start = this.time.now();
			this.time.advance(Duration.ofDays(400));
			List<Instant> expected = new ArrayList<>();
			Schedule schedule = Schedule.cron("0 0 3 * * *", ZoneId.of("Europe/Berlin"));
			for (Instant next = Objects.requireNonNull(schedule.next(start)); !next
				.isAfter(this.time.now()); next = Objects.requireNonNull(schedule.next(next))) {
				expected.add(next);
			}
			assertThat(this.runs.of("nightly")).hasSize(400).isEqualTo(expected);
		}, "report.zone=Europe/Berlin");
	}

	@Test
	void aCronExpressionFollowsTheWallClockWhenItIsSet() {
		run(Nightly.class, () -> {
			this.time.advance(Duration.ofDays(3).plusHours(5).plusMinutes(17));
			this.time.reset();
			this.runs.clear();
			ZonedDateTime now = this.time.now().atZone(ZoneId.of("UTC"));
			ZonedDateTime today = now.truncatedTo(ChronoUnit.DAYS).plusHours(3);
			ZonedDateTime next = today.isAfter(now) ? today : today.plusDays(1);
			this.time.advance(Duration.ofDays(2));
			assertThat(this.runs.of("nightly")).containsExactly(next.toInstant(), next.plusDays(1).toInstant());
		}, "report.zone=UTC");
	}

	@Test
	void aMethodThatIsSwitchedOffDoesNotRun() {
		run(Switched.class, () -> {
			this.time.advance(Duration.ofDays(2));
			assertThat(this.runs.of("switched")).isEmpty();
		}, "report.cron=-");
	}

	@ParameterizedTest
	@CsvSource({ "once, '0 3500 4000 5000'", "skip, '0 4000 5000'", "all, '0 3500 3500 3500 4000 5000'" })
	void aRunThatIsLongerThanItsPeriodIsNotOverlapped(String name, String expected) {
		run(Slow.class, () -> {
			Slow slow = this.context.getBean(Slow.class);
			Instant start = this.time.now();
			this.time.advance(Duration.ofMillis(3500));
			assertThat(this.runs.of(name)).hasSize(1);
			slow.future.complete(null);
			this.time.advance(Duration.ofMillis(1500));
			assertThat(this.runs.of(name).stream().map((at) -> String.valueOf(Duration.between(start, at).toMillis())))
				.containsExactly(expected.split(" "));
		});
	}

	@Test
	void aFixedDelayCountsFromTheEndOfTheFuture() {
		run(Slow.class, () -> {
			Slow slow = this.context.getBean(Slow.class);
			Instant start = this.time.now();
			this.time.advance(Duration.ofMillis(3500));
			slow.future.complete(null);
			this.time.advance(Duration.ofMillis(2500));
			assertThat(this.runs.of("pause")).containsExactly(start, start.plusMillis(4500), start.plusMillis(5500));
		});
	}

	@Test
	void aRunThatFailsGoesToTheExceptionHandlerAndTheNextFollows() {
		run(Failing.class, () -> {
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ZERO)).withMessage("sync");
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(MINUTE)).withMessage("async");
			this.time.onFailure(VirtualTime.OnFailure.COLLECT);
			this.time.advance(MINUTE);
			assertThat(this.runs.of("sync")).hasSize(3);
			assertThat(this.runs.of("async")).hasSize(2);
			DelayedTaskRegistry registry = this.context.getBean(DelayedTaskRegistry.class);
			assertThat(registry.counts("failing.sync").failed()).isEqualTo(3);
			assertThat(registry.counts("failing.async").failed()).isEqualTo(2);
			assertThat(this.tasks.pendingCount()).isEqualTo(2);
		});
	}

	@Test
	void thePolicyRetriesARunUntilTheNextTime() {
		run(Retried.class, () -> {
			this.time.onFailure(VirtualTime.OnFailure.COLLECT);
			Instant start = this.time.now();
			this.time.advance(Duration.ofSeconds(12));
			assertThat(this.runs.of("often")).as("attempts after 2, 4 s; the next one would come too late")
				.containsExactly(start, start.plusSeconds(2), start.plusSeconds(6), start.plusSeconds(10),
						start.plusSeconds(12));
			assertThat(this.runs.of("twice")).containsExactly(start, start.plusSeconds(2), start.plusSeconds(10),
					start.plusSeconds(12));
			DelayedTaskRegistry registry = this.context.getBean(DelayedTaskRegistry.class);
			assertThat(registry.counts("often").failed()).isEqualTo(1);
			assertThat(registry.counts("twice").failed()).isEqualTo(2);
			assertThat(this.time.failures()).as("one of each attempt").hasSize(9);
		});
	}

	@Test
	void runAllLeavesSchedulesAlone() {
		run(Every.class, () -> {
			this.tasks.schedule(Duration.ofSeconds(21), () -> {
			});
			this.time.runAll();
			assertThat(this.runs.of("every")).hasSize(3);
			this.time.reset();
			assertThat(this.context.getBean(DelayedTaskRegistry.class).pendingCount()).isEqualTo(2);
		});
	}

	@Test
	void theTaskOfAMethodIsFoundMovedAndCancelledByItsName() {
		run(Every.class, () -> {
			TaskId id = TaskId.of("every", "recurring");
			Instant start = this.time.now();
			this.time.advance(SECOND);
			assertThat(this.tasks.find(id)).get().extracting(DelayedTask::dueAt).isEqualTo(start.plusSeconds(10));
			assertThat(this.tasks.reschedule(id, Duration.ofSeconds(2))).isTrue();
			this.time.advance(Duration.ofSeconds(20));
			assertThat(this.runs.of("every")).as("an additional run, and the rhythm as before")
				.containsExactly(start, start.plusSeconds(3), start.plusSeconds(10), start.plusSeconds(20));
			assertThat(this.tasks.cancel(id)).isTrue();
			this.time.advance(MINUTE);
			assertThat(this.runs.of("every")).hasSize(4);
		});
	}

	@Test
	void aScheduleOfTheTemplateRunsUntilItIsCancelledOrFails() {
		run(Nothing.class, () -> {
			Instant start = this.time.now();
			DelayedTask<?> task = this.tasks.task(() -> this.runs.add("code"))
				.id(TaskId.of("code", 1))
				.on(Schedule.every(SECOND));
			assertThat(task.dueAt()).isEqualTo(start.plusSeconds(1));
			this.time.advance(SECOND.multipliedBy(2));
			assertThat(this.runs.of("code")).containsExactly(start.plusSeconds(1), start.plusSeconds(2));
			assertThat(this.tasks.cancel(TaskId.of("code", 1))).isTrue();
			assertThat(task.isCancelled()).isTrue();
			DelayedTask<?> failing = this.tasks.task(() -> {
				throw new IllegalStateException("once");
			}).name("code").on(Schedule.fixedDelay(SECOND));
			this.time.onFailure(VirtualTime.OnFailure.COLLECT);
			this.time.advance(MINUTE);
			assertThat(failing.status()).isEqualTo(DelayedTask.Status.FAILED);
			assertThat(this.runs.of("code")).hasSize(2);
			assertThat(this.tasks.pendingCount()).isZero();
		});
	}

	@Test
	void aScheduleThatHasNoFurtherTimeEndsWithoutAResult() {
		run(Nothing.class, () -> {
			assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> this.tasks.task(() -> {
			}).on(Schedule.cron("0 0 0 31 4 *", ZoneId.of("UTC"))));
			assertThat(this.time.pending("unnamed")).isZero();
		});
	}

	@Test
	void theContextOfARunTellsItsTask() {
		run(Context.class, () -> {
			Instant start = this.time.now();
			this.time.advance(SECOND);
			DelayedTaskContext seen = Objects.requireNonNull(this.context.getBean(Context.class).seen);
			assertThat(seen.name()).isEqualTo("context.run");
			assertThat(seen.taskId()).isEqualTo(TaskId.of("context.run", "recurring"));
			assertThat(seen.dueAt()).isEqualTo(start);
		});
	}

	private void run(Class<?> beanClass, Runnable test, String... properties) {
		this.runner.withPropertyValues(properties)
			.withBean(StringUtils.uncapitalize(beanClass.getSimpleName()), beanClass)
			.run((application) -> {
				this.context = application;
				this.time = application.getBean(VirtualTime.class);
				this.tasks = application.getBean(DelayedTaskOperations.class);
				this.runs = application.getBean(Runs.class);
				test.run();
			});
	}

	record Every(Runs runs) {

		@Recurring(every = "10s", name = "every")
		public void every() {
			this.runs.add("every");
		}

		@Recurring(every = "${period:10s}", initialDelay = "#{3 + 4}s")
		public void later() {
			this.runs.add("later");
		}

	}

	record Nightly(Runs runs) {

		@Recurring(cron = "0 0 3 * * *", zone = "${report.zone}")
		void run() {
			this.runs.add("nightly");
		}

	}

	record Switched(Runs runs) {

		@Recurring(cron = "${report.cron}")
		public void run() {
			this.runs.add("switched");
		}

		@Recurring(every = "${report.cron}")
		public void every() {
			this.runs.add("switched");
		}

	}

	static class Slow {

		final CompletableFuture<Void> future = new CompletableFuture<>();

		private final Runs runs;

		Slow(Runs runs) {
			this.runs = runs;
		}

		@Recurring(every = "1s")
		public CompletableFuture<Void> once() {
			return run("once");
		}

		@Recurring(every = "1s", missed = Missed.SKIP)
		public CompletableFuture<Void> skip() {
			return run("skip");
		}

		@Recurring(every = "1s", missed = Missed.ALL)
		public CompletableFuture<Void> all() {
			return run("all");
		}

		@Recurring(fixedDelay = "1s")
		public CompletableFuture<Void> pause() {
			return run("pause");
		}

		private CompletableFuture<Void> run(String name) {
			this.runs.add(name);
			return this.future;
		}

	}

	record Failing(Runs runs) {

		@Recurring(every = "1m")
		public void sync() {
			this.runs.add("sync");
			throw new IllegalStateException("sync");
		}

		@Recurring(every = "1m", initialDelay = "30s")
		public CompletableFuture<Void> async() {
			this.runs.add("async");
			return CompletableFuture.failedFuture(new IllegalStateException("async"));
		}

	}

	record Retried(Runs runs) {

		@Recurring(every = "10s", name = "often",
				policy = @TaskPolicy(maxAttempts = 5, backoff = @Backoff(initial = "2s", multiplier = 2)))
		public void often() {
			this.runs.add("often");
			throw new IllegalStateException("often");
		}

		@Recurring(every = "10s", name = "twice",
				policy = @TaskPolicy(maxAttempts = 2, backoff = @Backoff(initial = "2s")))
		public CompletableFuture<Void> twice() {
			this.runs.add("twice");
			return CompletableFuture.failedFuture(new IllegalStateException("twice"));
		}

	}

	static class Context {

		private DelayedTaskContext seen;

		@Recurring(every = "1m")
		public void run() {
			this.seen = DelayedTaskContext.current().orElseThrow();
		}

	}

	static class Nothing {

	}

}
