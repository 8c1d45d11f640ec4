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
import java.util.function.Consumer;

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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code @Recurring} methods and schedules of the template, in memory.
 */
class RecurringTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
					VirtualTimeAutoConfiguration.class, TimingWheelAutoConfiguration.class))
		.withBean(Runs.class);

	@Test
	void everyBeginsAtOnceAndKeepsItsRhythm() {
		run(Every.class, (context) -> {
			Runs runs = runs(context);
			VirtualTime time = context.getBean(VirtualTime.class);
			Instant start = time.now();
			time.advance(Duration.ofSeconds(25));
			assertThat(runs.of("every")).containsExactly(start, start.plusSeconds(10), start.plusSeconds(20));
			assertThat(runs.of("later")).containsExactly(start.plusSeconds(7), start.plusSeconds(17));
		});
	}

	@Test
	void cronIsByTheWallClockInItsZone() {
		run(Nightly.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			Instant start = time.now();
			time.advance(Duration.ofDays(400));
			List<Instant> expected = new ArrayList<>();
			Schedule schedule = Schedule.cron("0 0 3 * * *", ZoneId.of("Europe/Berlin"));
			for (Instant next = Objects.requireNonNull(schedule.next(start)); !next.isAfter(time.now()); next = Objects
				.requireNonNull(schedule.next(next))) {
				expected.add(next);
			}
			assertThat(runs(context).of("nightly")).hasSize(400).isEqualTo(expected);
		}, "report.zone=Europe/Berlin");
	}

	@Test
	void aCronExpressionFollowsTheWallClockWhenItIsSet() {
		run(Nightly.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			time.advance(Duration.ofDays(3).plusHours(5).plusMinutes(17));
			time.reset();
			runs(context).clear();
			ZonedDateTime now = time.now().atZone(ZoneId.of("UTC"));
			ZonedDateTime today = now.truncatedTo(ChronoUnit.DAYS).plusHours(3);
			ZonedDateTime next = today.isAfter(now) ? today : today.plusDays(1);
			time.advance(Duration.ofDays(2));
			assertThat(runs(context).of("nightly")).containsExactly(next.toInstant(), next.plusDays(1).toInstant());
		}, "report.zone=UTC");
	}

	@Test
	void aMethodThatIsSwitchedOffDoesNotRun() {
		run(Switched.class, (context) -> {
			context.getBean(VirtualTime.class).advance(Duration.ofDays(2));
			assertThat(runs(context).of("switched")).isEmpty();
		}, "report.cron=-");
	}

	@ParameterizedTest
	@CsvSource({ "once, '0 3500 4000 5000'", "skip, '0 4000 5000'", "all, '0 3500 3500 3500 4000 5000'" })
	void aRunThatIsLongerThanItsPeriodIsNotOverlapped(String name, String expected) {
		run(Slow.class, (context) -> {
			Slow slow = context.getBean(Slow.class);
			VirtualTime time = context.getBean(VirtualTime.class);
			Instant start = time.now();
			time.advance(Duration.ofMillis(3500));
			assertThat(runs(context).of(name)).hasSize(1);
			slow.future.complete(null);
			time.advance(Duration.ofMillis(1500));
			assertThat(
					runs(context).of(name).stream().map((at) -> String.valueOf(Duration.between(start, at).toMillis())))
				.containsExactly(expected.split(" "));
		});
	}

	@Test
	void aFixedDelayCountsFromTheEndOfTheFuture() {
		run(Slow.class, (context) -> {
			Slow slow = context.getBean(Slow.class);
			VirtualTime time = context.getBean(VirtualTime.class);
			Instant start = time.now();
			time.advance(Duration.ofMillis(3500));
			slow.future.complete(null);
			time.advance(Duration.ofMillis(2500));
			assertThat(runs(context).of("pause")).containsExactly(start, start.plusMillis(4500),
					start.plusMillis(5500));
		});
	}

	@Test
	void aRunThatFailsGoesToTheExceptionHandlerAndTheNextFollows() {
		run(Failing.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			assertThatIllegalStateException().isThrownBy(() -> time.advance(Duration.ZERO)).withMessage("sync");
			assertThatIllegalStateException().isThrownBy(() -> time.advance(MINUTE)).withMessage("async");
			time.onFailure(VirtualTime.OnFailure.COLLECT);
			time.advance(MINUTE);
			assertThat(runs(context).of("sync")).hasSize(3);
			assertThat(runs(context).of("async")).hasSize(2);
			DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
			assertThat(tasks.counts("failing.sync").failed()).isEqualTo(3);
			assertThat(tasks.counts("failing.async").failed()).isEqualTo(2);
			assertThat(tasks.pendingCount()).isEqualTo(2);
		});
	}

	@Test
	void thePolicyRetriesARunUntilTheNextTime() {
		run(Retried.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			time.onFailure(VirtualTime.OnFailure.COLLECT);
			Instant start = time.now();
			time.advance(Duration.ofSeconds(12));
			assertThat(runs(context).of("often")).as("attempts after 2, 4 s; the next one would come too late")
				.containsExactly(start, start.plusSeconds(2), start.plusSeconds(6), start.plusSeconds(10),
						start.plusSeconds(12));
			assertThat(runs(context).of("twice")).containsExactly(start, start.plusSeconds(2), start.plusSeconds(10),
					start.plusSeconds(12));
			DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
			assertThat(tasks.counts("often").failed()).isEqualTo(1);
			assertThat(tasks.counts("twice").failed()).isEqualTo(2);
			assertThat(time.failures()).as("one of each attempt").hasSize(9);
		});
	}

	@Test
	void runAllLeavesSchedulesAlone() {
		run(Every.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			context.getBean(DelayedTaskOperations.class).schedule(Duration.ofSeconds(21), () -> {
			});
			time.runAll();
			assertThat(runs(context).of("every")).hasSize(3);
			time.reset();
			assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isEqualTo(2);
		});
	}

	@Test
	void theTaskOfAMethodIsFoundMovedAndCancelledByItsName() {
		run(Every.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			TaskId id = TaskId.of("every", "recurring");
			Instant start = time.now();
			time.advance(SECOND);
			assertThat(tasks.find(id)).get().extracting(DelayedTask::dueAt).isEqualTo(start.plusSeconds(10));
			assertThat(tasks.reschedule(id, Duration.ofSeconds(2))).isTrue();
			time.advance(Duration.ofSeconds(20));
			assertThat(runs(context).of("every")).as("an additional run, and the rhythm as before")
				.containsExactly(start, start.plusSeconds(3), start.plusSeconds(10), start.plusSeconds(20));
			assertThat(tasks.cancel(id)).isTrue();
			time.advance(MINUTE);
			assertThat(runs(context).of("every")).hasSize(4);
		});
	}

	@Test
	void aScheduleOfTheTemplateRunsUntilItIsCancelledOrFails() {
		run(Runs.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			Runs runs = runs(context);
			Instant start = time.now();
			DelayedTask<?> task = tasks.task(() -> runs.add("code"))
				.id(TaskId.of("code", 1))
				.on(Schedule.every(SECOND));
			assertThat(task.dueAt()).isEqualTo(start.plusSeconds(1));
			time.advance(SECOND.multipliedBy(2));
			assertThat(runs.of("code")).containsExactly(start.plusSeconds(1), start.plusSeconds(2));
			assertThat(tasks.cancel(TaskId.of("code", 1))).isTrue();
			assertThat(task.isCancelled()).isTrue();
			DelayedTask<?> failing = tasks.task(() -> {
				throw new IllegalStateException("once");
			}).name("code").on(Schedule.fixedDelay(SECOND));
			time.onFailure(VirtualTime.OnFailure.COLLECT);
			time.advance(MINUTE);
			assertThat(failing.status()).isEqualTo(DelayedTask.Status.FAILED);
			assertThat(runs.of("code")).hasSize(2);
			assertThat(tasks.pendingCount()).isZero();
		});
	}

	@Test
	void aScheduleThatHasNoFurtherTimeEndsWithoutAResult() {
		run(Runs.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> tasks.task(() -> {
			}).on(Schedule.cron("0 0 0 31 4 *", ZoneId.of("UTC"))));
			assertThat(time.pending("unnamed")).isZero();
		});
	}

	@Test
	void theContextOfARunTellsItsTask() {
		run(Context.class, (context) -> {
			VirtualTime time = context.getBean(VirtualTime.class);
			Instant start = time.now();
			time.advance(SECOND);
			DelayedTaskContext seen = Objects.requireNonNull(context.getBean(Context.class).seen);
			assertThat(seen.name()).isEqualTo("context.run");
			assertThat(seen.taskId()).isEqualTo(TaskId.of("context.run", "recurring"));
			assertThat(seen.dueAt()).isEqualTo(start);
		});
	}

	private void run(Class<?> beanClass, Consumer<ApplicationContext> test, String... properties) {
		String name = Character.toLowerCase(beanClass.getSimpleName().charAt(0))
				+ beanClass.getSimpleName().substring(1);
		ApplicationContextRunner runner = this.runner.withPropertyValues(properties);
		((beanClass != Runs.class) ? runner.withBean(name, beanClass) : runner).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context);
		});
	}

	private static Runs runs(ApplicationContext context) {
		return context.getBean(Runs.class);
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

}
