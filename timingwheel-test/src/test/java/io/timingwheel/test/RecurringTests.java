package io.timingwheel.test;

import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code @Recurring} methods and the schedules of users, in memory and in an H2 database
 * that outlives the contexts.
 */
class RecurringTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Duration HOUR = Duration.ofHours(1);

	private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

	private static final TaskId REPORT = TaskId.of("report", "recurring");

	private static final TaskId REMIND = TaskId.of("remind", 1);

	private final JdbcDataSource dataSource = new JdbcDataSource();

	private Connection keepAlive;

	private ApplicationContext context;

	private VirtualTime time;

	private DelayedTaskOperations tasks;

	private Runs runs;

	private Instant start;

	private boolean lazy;

	@BeforeEach
	void openDatabase() throws Exception {
		this.dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID());
		this.keepAlive = this.dataSource.getConnection();
	}

	@AfterEach
	void closeDatabase() throws Exception {
		this.keepAlive.close();
	}

	// Methods, in memory and in the store

	@ParameterizedTest
	@ValueSource(classes = { Report.class, StoredReport.class })
	void aMethodRunsAtOnceAndInItsRhythmAndIsFoundMovedAndCancelledByItsName(Class<?> report) {
		run(report, () -> {
			this.time.advance(Duration.ofSeconds(90));
			assertThat(seconds("report")).isEqualTo("0 60");
			assertThat(seconds("later")).isEqualTo("7 67");
			DelayedTask<?> task = this.tasks.find(REPORT).orElseThrow();
			assertThat(task.dueAt()).isEqualTo(this.start.plusSeconds(120));
			assertThat(task.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
			assertThat(this.tasks.reschedule(REPORT, Duration.ofSeconds(10))).isTrue();
			this.time.advance(MINUTE);
			assertThat(seconds("report")).as("an additional run, and the rhythm as before").isEqualTo("0 60 100 120");
			assertThat(this.tasks.cancel(REPORT)).isTrue();
			this.time.advance(HOUR);
			assertThat(this.runs.of("report")).hasSize(4);
		}, "period=1m");
	}

	@ParameterizedTest
	@ValueSource(classes = { Report.class, StoredReport.class })
	void beansThatAreCreatedLateHaveVirtualTimeToo(Class<?> report) {
		this.lazy = true;
		run(report, () -> {
			this.tasks.task(() -> this.runs.add("template")).after(MINUTE);
			this.time.advance(Duration.ofSeconds(90));
			assertThat(seconds("report")).isEqualTo("0 60");
			assertThat(seconds("template")).isEqualTo("60");
		}, "period=1m");
	}

	@Test
	void aLazyBeanIsCreatedForItsStoredTasksInVirtualTime() {
		this.lazy = true;
		run(Reminder.class, () -> {
			this.tasks.enqueue(REMIND, MINUTE, "a");
			this.time.advance(MINUTE);
			assertThat(seconds("a")).isEqualTo("60");
			this.context.getBean(Reminder.class).remind("b");
			this.time.advance(HOUR);
			assertThat(seconds("b")).isEqualTo("3660");
		});
	}

	@Test
	void theNamesOfMethodsAreKnownBeforeTheirFirstRuns() {
		IllegalStateException failure = new IllegalStateException("no");
		run(Report.class, () -> {
			assertThatIllegalArgumentException().isThrownBy(() -> this.time.failNext("reprot", failure))
				.withMessageEndingWith("The names are [report, report.later]");
			this.time.failNext("report", failure);
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ZERO)).isSameAs(failure);
		}, "period=1m");
	}

	@ParameterizedTest
	@ValueSource(classes = { Report.class, StoredReport.class })
	void runAllLeavesSchedulesAloneAndEachTestBeginsWithTheDeclaredOnes(Class<?> report) {
		run(report, () -> {
			this.time.reset();
			this.tasks.task(() -> {
			}).id(TaskId.of("code", 1)).on(Schedule.every(MINUTE));
			this.tasks.schedule(Duration.ofSeconds(150), () -> {
			});
			this.time.runAll();
			assertThat(this.runs.of("report")).hasSize(3);
			this.time.reset();
			assertThat(this.time.pending("code")).isZero();
			assertThat(this.tasks.find(REPORT).orElseThrow().dueAt()).isBetween(this.time.now(),
					this.time.now().plusSeconds(60));
		}, "period=1m");
	}

	@ParameterizedTest
	@ValueSource(classes = { Failing.class, StoredFailing.class })
	void aRunThatFailsIsTriedAgainUntilTheNextTimeAndTheNextRunFollows(Class<?> failing) {
		run(failing, () -> {
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ofSeconds(59)))
				.satisfies((ex) -> assertThat(ex.getSuppressed()).as("one of each later attempt").hasSize(5));
			assertThat(seconds("failing")).as("attempts after 1, 2, 4, 8, 16 s; the next one would be too late")
				.isEqualTo("0 1 3 7 15 31");
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ofSeconds(1)));
			assertThat(this.runs.of("failing")).hasSize(7);
			assertThat(this.runs.contexts()).extracting(DelayedTaskContext::attempt)
				.containsExactly(1, 2, 3, 4, 5, 6, 1);
			assertThat(this.tasks.find(TaskId.of("failing", "recurring"))).isPresent();
		});
	}

	// Methods in memory

	@Test
	void cronIsByTheWallClockInItsZoneAlsoWhenTheClockIsSet() {
		run(Nightly.class, () -> {
			for (int test = 0; test < 2; test++) {
				this.time.reset();
				this.runs.clear();
				this.time.advance(Duration.ofDays(400));
				assertThat(this.runs.of("nightly")).hasSize(400)
					.allMatch((at) -> at.atZone(BERLIN).toLocalTime().equals(LocalTime.of(3, 0)));
				// The clock will be set back to another time of the day.
				this.time.advance(Duration.ofHours(5));
			}
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { Report.class, Nightly.class })
	void aMethodThatIsSwitchedOffDoesNotRun(Class<?> bean) {
		run(bean, () -> {
			this.time.advance(Duration.ofDays(2));
			assertThat(this.runs.all()).isEmpty();
		}, "period=-", "report.cron=-");
	}

	@Test
	void aRunThatIsLongerThanItsPeriodIsNotOverlappedAndAFixedDelayCountsFromItsEnd() {
		run(Slow.class, () -> {
			this.time.advance(Duration.ofMillis(3500));
			assertThat(this.runs.names()).containsExactlyInAnyOrder("once", "skip", "all", "pause");
			this.context.getBean(Slow.class).future.complete(null);
			this.time.advance(Duration.ofMillis(2000));
			assertThat(since("once", ChronoUnit.MILLIS)).isEqualTo("0 3500 4000 5000");
			assertThat(since("skip", ChronoUnit.MILLIS)).isEqualTo("0 4000 5000");
			assertThat(since("all", ChronoUnit.MILLIS)).isEqualTo("0 3500 3500 3500 4000 5000");
			assertThat(since("pause", ChronoUnit.MILLIS)).isEqualTo("0 4500 5500");
		});
	}

	@Test
	void aRunThatFailsGoesToTheExceptionHandlerAndTheNextFollows() {
		run(Throwing.class, () -> {
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ZERO)).withMessage("no");
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(MINUTE)).withMessage("no");
			assertThat(this.context.getBean(DelayedTaskRegistry.class).counts("throwing").failed()).isEqualTo(2);
			assertThat(this.tasks.pendingCount()).isOne();
		});
	}

	// Methods in the store

	@Test
	void aNodeThatStartsWithTheSameDefinitionGoesOnWithTheStoredTime() {
		List<Instant> next = new ArrayList<>();
		run(StoredReport.class, () -> {
			this.time.advance(Duration.ofSeconds(90));
			next.add(this.tasks.find(REPORT).orElseThrow().dueAt());
		}, "period=1m");
		run(StoredReport.class,
				() -> assertThat(this.tasks.find(REPORT)).get().extracting(DelayedTask::dueAt).isEqualTo(next.get(0)),
				"period=1m");
	}

	@Test
	void theDefinitionThatCameLastStands() {
		run(StoredReport.class, () -> {
			VirtualTime timeOfOlder = this.time;
			Runs runsOfOlder = this.runs;
			run(StoredReport.class, () -> {
				assertThat(schedule()).contains("every(PT2M)");
				timeOfOlder.advance(Duration.ofMinutes(5));
				assertThat(runsOfOlder.of("report")).as("the older node runs it too, by the newer definition")
					.hasSize(3);
			}, "period=2m");
			run(StoredReport.class, () -> assertThat(schedule()).contains("every(PT1M)"), "period=1m");
		}, "period=1m");
	}

	@Test
	void aCancelEndsTheRunsUntilAnyNodeStarts() {
		run(StoredReport.class, () -> {
			assertThat(this.tasks.cancel(REPORT)).isTrue();
			this.time.advance(HOUR);
			assertThat(this.runs.of("report")).isEmpty();
			run(StoredReport.class, () -> assertThat(schedule()).contains("every(PT1M)"), "period=1m");
			this.time.advance(Duration.ofMinutes(5));
			assertThat(this.runs.of("report")).as("the node that has cancelled it runs it again").hasSizeGreaterThan(4);
		}, "period=1m");
	}

	@ParameterizedTest
	@ValueSource(classes = { Nightly.class, StoredReport.class })
	void aMethodThatIsGoneOrSwitchedOffLeavesItsScheduleToBeSeenAndDeleted(Class<?> later) {
		run(StoredReport.class, () -> {
		}, "period=1m");
		run(later, () -> {
			this.time.advance(HOUR);
			assertThat(this.runs.of("report")).isEmpty();
			assertThat(schedule()).contains("every(PT1M)");
			assertThat(this.context.getBean(StoredTasks.class).counts().unknown()).isPositive();
			assertThat(this.tasks.cancel(REPORT)).isTrue();
			assertThat(this.tasks.find(REPORT)).isEmpty();
		}, "period=-");
	}

	@Test
	void timesThatPassedWhileNobodyWasThere() {
		run(Missing.class, () -> {
			this.time.advance(Duration.ZERO);
			this.context.getBean(DurableTaskAdmin.class).pause();
			this.time.advance(Duration.ofMinutes(11));
			this.context.getBean(DurableTaskAdmin.class).resume();
			this.time.advance(Duration.ofMinutes(5));
			assertThat(seconds("once")).isEqualTo("0 660 900");
			assertThat(seconds("skip")).isEqualTo("0 900");
			assertThat(seconds("all")).isEqualTo("0 660 660 900");
		});
	}

	@Test
	void aRunWhoseEndIsLostIsRepeatedAndEachRunMayBeDeliveredTwice() {
		run(StoredReport.class, () -> {
			this.time.advance(Duration.ZERO);
			this.time.crashBeforeAcknowledge("report");
			this.time.advance(Duration.ofMinutes(3));
			assertThat(this.runs.of("report")).hasSize(5)
				.startsWith(this.start, this.start.plusSeconds(60))
				.endsWith(this.start.plusSeconds(120), this.start.plusSeconds(180));
			this.runs.clear();
			this.time.deliverTwice(true);
			this.time.advance(Duration.ofMinutes(2));
			assertThat(seconds("report")).isEqualTo("240 240 300 300");
		}, "period=1m");
	}

	// Schedules of users

	@Test
	void eachKeyHasOneScheduleWhichAMoveLeavesAsItIs() {
		run(StoredReport.class, () -> {
			TaskId other = TaskId.of("remind", 2);
			DelayedTask<?> first = this.tasks.recur(REMIND, Schedule.every(MINUTE), "a");
			assertThat(first.dueAt()).isEqualTo(this.start.plusSeconds(60));
			this.tasks.recur(other, Schedule.fixedDelay(Duration.ofSeconds(95)), "b");
			this.tasks.recur(REMIND, Schedule.every(MINUTE), "c");
			assertThat(this.tasks.reschedule(REMIND, Duration.ofSeconds(10))).isTrue();
			this.time.advance(Duration.ofSeconds(10));
			assertThat(this.tasks.find(REMIND).orElseThrow().dueAt()).isEqualTo(this.start.plusSeconds(60));
			this.time.advance(Duration.ofSeconds(190));
			assertThat(reminded()).containsExactly("c", "c", "b", "c", "c", "b");
			assertThat(this.tasks.cancel(REMIND)).isTrue();
			assertThat(this.tasks.cancel(REMIND)).isFalse();
			this.time.advance(Duration.ofSeconds(100));
			assertThat(reminded()).hasSize(7).endsWith("b");
			this.tasks.recur(other, Schedule.every(HOUR), "d");
			assertThat(this.tasks.find(other).orElseThrow().dueAt()).isEqualTo(this.time.now().plus(HOUR));
		}, "period=1h");
	}

	@Test
	void aMethodWithAScheduleHasNoOtherTasksAndSchedules() {
		run(StoredReport.class, () -> {
			TaskId other = TaskId.of("report", "other");
			for (ThrowingCallable call : List.<ThrowingCallable>of(() -> this.tasks.enqueue(other, MINUTE),
					() -> this.tasks.enqueue(REPORT, Instant.now()),
					() -> this.tasks.enqueueAll(List.of(DurableCall.of(other, MINUTE))),
					() -> this.tasks.recur(other, Schedule.every(MINUTE)))) {
				assertThatIllegalArgumentException().isThrownBy(call)
					.withMessageContaining("\"report\" belongs to a @Recurring method")
					.withMessageContaining("reschedule");
			}
		}, "period=1h");
	}

	/** Starts an application with a bean, runs a test, and ends the application. */
	private void run(Class<?> beanClass, Runnable test, String... properties) {
		String name = beanClass.getSimpleName().toLowerCase();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class,
					TaskExecutionAutoConfiguration.class, VirtualTimeAutoConfiguration.class,
					TimingWheelAutoConfiguration.class, TimingWheelJdbcStoreAutoConfiguration.class,
					TimingWheelStoreAutoConfiguration.class))
			.withBean("dataSource", DataSource.class, () -> this.dataSource)
			.withUserConfiguration(Initialization.class, Runs.class)
			.withBean(name, beanClass)
			.withInitializer((context) -> {
				if (this.lazy) {
					context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor());
				}
			})
			.withPropertyValues("timingwheel.store.type=jdbc", "timingwheel.store.jdbc.initialize-schema=always",
					"timingwheel.store.backoff.initial=1s")
			.withPropertyValues(properties)
			.run((context) -> {
				ApplicationContext outer = this.context;
				use(context);
				test.run();
				this.context = null;
				if (outer != null) {
					use(outer);
				}
			});
	}

	private void use(ApplicationContext application) {
		this.context = application;
		this.time = application.getBean(VirtualTime.class);
		this.tasks = application.getBean(DelayedTaskOperations.class);
		this.runs = application.getBean(Runs.class);
		this.start = this.time.now();
	}

	private String seconds(String name) {
		return since(name, ChronoUnit.SECONDS);
	}

	/** The times of the runs since the start. */
	private String since(String name, ChronoUnit unit) {
		return String.join(" ",
				this.runs.of(name).stream().map((at) -> String.valueOf(unit.between(this.start, at))).toList());
	}

	private List<String> reminded() {
		return this.runs.names().stream().filter((name) -> name.length() == 1).toList();
	}

	private Optional<String> schedule() {
		return this.context.getBean(DelayedTaskStore.class)
			.find(Target.of(REPORT, Target.Kind.SCHEDULE))
			.map((task) -> task.schedule().text());
	}

	@Configuration(proxyBeanMethods = false)
	@Import(DatabaseInitializationDependencyConfigurer.class)
	static class Initialization {

	}

	record Report(Runs runs) {

		@Recurring(every = "${period}", name = "report")
		public void report() {
			this.runs.run("report");
		}

		@Recurring(every = "${period}", initialDelay = "#{3 + 4}s")
		public void later() {
			this.runs.run("later");
		}

	}

	static class Reminder {

		final Runs runs;

		Reminder(Runs runs) {
			this.runs = runs;
		}

		@Delayed(delay = "1h", name = "remind", key = "#text", durable = true)
		public void remind(String text) {
			this.runs.run(text);
		}

	}

	static class StoredReport extends Reminder {

		StoredReport(Runs runs) {
			super(runs);
		}

		@Recurring(every = "${period}", name = "report", durable = true)
		public void report() {
			this.runs.run("report");
		}

		@Recurring(every = "${period}", initialDelay = "#{3 + 4}s", durable = true)
		public void later() {
			this.runs.run("later");
		}

	}

	record Failing(Runs runs) {

		@Recurring(every = "1m", name = "failing",
				policy = @TaskPolicy(maxAttempts = 20, backoff = @Backoff(initial = "1s")))
		public CompletableFuture<Void> run() {
			this.runs.run("failing");
			return CompletableFuture.failedFuture(new IllegalStateException("failed"));
		}

	}

	record StoredFailing(Runs runs) {

		@Recurring(every = "1m", name = "failing", durable = true, policy = @TaskPolicy(maxAttempts = 20))
		public void run() {
			this.runs.run("failing");
			throw new IllegalStateException("failed");
		}

	}

	record Nightly(Runs runs) {

		@Recurring(cron = "${report.cron:0 0 3 * * *}", zone = "Europe/Berlin")
		void run() {
			this.runs.run("nightly");
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
			this.runs.run(name);
			return this.future;
		}

	}

	record Throwing() {

		@Recurring(every = "1m", name = "throwing")
		public void run() {
			throw new IllegalStateException("no");
		}

	}

	record Missing(Runs runs) {

		@Recurring(every = "5m", name = "once", durable = true)
		public void once() {
			this.runs.run("once");
		}

		@Recurring(every = "5m", name = "skip", durable = true, missed = Missed.SKIP)
		public void skip() {
			this.runs.run("skip");
		}

		@Recurring(every = "5m", name = "all", durable = true, missed = Missed.ALL)
		public void all() {
			this.runs.run("all");
		}

	}

}
