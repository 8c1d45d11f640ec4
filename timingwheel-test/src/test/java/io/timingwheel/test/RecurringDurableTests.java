package io.timingwheel.test;

import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Durable {@code @Recurring} methods and schedules of users, with an H2 database that
 * outlives the contexts.
 */
class RecurringDurableTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final TaskId REPORT = TaskId.of("report", "recurring");

	private final JdbcDataSource dataSource = new JdbcDataSource();

	private Connection keepAlive;

	@BeforeEach
	void openDatabase() throws Exception {
		this.dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID());
		this.keepAlive = this.dataSource.getConnection();
	}

	@AfterEach
	void closeDatabase() throws Exception {
		this.keepAlive.close();
	}

	@Test
	void aMethodRunsAtEachTimeAndIsFoundByItsName() {
		run(Report.class, (context) -> {
			VirtualTime time = time(context);
			Instant start = time.now();
			time.advance(Duration.ofMinutes(10));
			assertThat(runs(context)).hasSize(11).startsWith(start, start.plusSeconds(60)).doesNotHaveDuplicates();
			DelayedTask<?> task = tasks(context).find(REPORT).orElseThrow();
			assertThat(task.dueAt()).isEqualTo(start.plus(Duration.ofMinutes(11)));
			assertThat(task.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
		}, "period=1m");
	}

	@Test
	void aNodeThatStartsWithTheSameDefinitionGoesOnWithTheStoredTime() {
		List<Instant> next = new ArrayList<>();
		run(Report.class, (context) -> {
			time(context).advance(Duration.ofSeconds(90));
			next.add(tasks(context).find(REPORT).orElseThrow().dueAt());
		}, "period=1m");
		run(Report.class,
				(context) -> assertThat(tasks(context).find(REPORT)).get()
					.extracting(DelayedTask::dueAt)
					.isEqualTo(next.get(0)),
				"period=1m");
	}

	@Test
	void theDefinitionThatCameLastStands() {
		run(Report.class, (context) -> {
			VirtualTime time = time(context);
			run(Report.class, (later) -> {
				assertThat(schedule(context)).contains("every(PT2M)");
				time.advance(Duration.ofMinutes(5));
				assertThat(runs(context)).as("the older node runs it too, by the newer definition").hasSize(3);
			}, "period=2m");
			run(Report.class, (later) -> assertThat(schedule(context)).contains("every(PT1M)"), "period=1m");
		}, "period=1m");
	}

	@Test
	void aCancelEndsTheRunsUntilAnyNodeStarts() {
		run(Report.class, (context) -> {
			VirtualTime time = time(context);
			time.advance(Duration.ZERO);
			assertThat(tasks(context).cancel(REPORT)).isTrue();
			time.advance(Duration.ofHours(1));
			assertThat(runs(context)).hasSize(1);
			run(Report.class, (later) -> assertThat(schedule(context)).contains("every(PT1M)"), "period=1m");
			time.advance(Duration.ofMinutes(5));
			assertThat(runs(context)).as("the node that has cancelled it runs it again").hasSizeGreaterThan(5);
		}, "period=1m");
	}

	@ParameterizedTest
	@ValueSource(classes = { Runs.class, Report.class })
	void aMethodThatIsGoneOrSwitchedOffLeavesItsScheduleToBeSeenAndDeleted(Class<?> later) {
		run(Report.class, (context) -> {
		}, "period=1m");
		run(later, (context) -> {
			time(context).advance(Duration.ofHours(1));
			assertThat(runs(context)).isEmpty();
			assertThat(schedule(context)).contains("every(PT1M)");
			assertThat(context.getBean(StoredTasks.class).counts().unknown()).isEqualTo(1);
			assertThat(tasks(context).cancel(REPORT)).isTrue();
			assertThat(tasks(context).find(REPORT)).isEmpty();
		}, "period=-");
	}

	@ParameterizedTest
	@CsvSource({ "once, '0 660 900'", "skip, '0 900'", "all, '0 660 660 900'" })
	void timesThatPassedWhileNobodyWasThere(String name, String expected) {
		List<Instant> start = new ArrayList<>();
		run(ThreeMethods.class, (context) -> {
			VirtualTime time = time(context);
			start.add(time.now());
			time.advance(Duration.ZERO);
			context.getBean(DurableTaskAdmin.class).pause();
			time.advance(Duration.ofMinutes(11));
			context.getBean(DurableTaskAdmin.class).resume();
			time.advance(Duration.ofMinutes(5));
			assertThat(context.getBean(Runs.class)
				.of(name)
				.stream()
				.map((at) -> String.valueOf(Duration.between(start.get(0), at).toSeconds())))
				.containsExactly(expected.split(" "));
		});
	}

	@Test
	void aRunThatFailsIsTriedAgainUntilTheNextTimeAndIsNeverDead() {
		run(Failing.class, (context) -> {
			VirtualTime time = time(context);
			time.onFailure(VirtualTime.OnFailure.COLLECT);
			Instant start = time.now();
			time.advance(Duration.ofSeconds(59));
			List<Instant> first = runs(context);
			assertThat(first).as("attempts after 1, 2, 4, 8, 16 s; the next would be too late")
				.containsExactly(start, start.plusSeconds(1), start.plusSeconds(3), start.plusSeconds(7),
						start.plusSeconds(15), start.plusSeconds(31));
			time.advance(Duration.ofSeconds(1));
			assertThat(runs(context)).hasSize(7);
			StoredTask task = context.getBean(DelayedTaskStore.class)
				.find(Target.of(TaskId.of("failing", "recurring"), Target.Kind.SCHEDULE))
				.orElseThrow();
			assertThat(task.state()).isEqualTo(StoredTask.State.SCHEDULED);
			assertThat(context.getBean(Failing.class).dueAt).containsOnly(start, start.plusSeconds(60));
		}, "timingwheel.store.backoff.initial=1s", "timingwheel.store.max-attempts=20");
	}

	@Test
	void thePolicyLimitsTheAttemptsOfARun() {
		run(FailingTwice.class, (context) -> {
			VirtualTime time = time(context);
			time.onFailure(VirtualTime.OnFailure.COLLECT);
			time.advance(Duration.ofSeconds(59));
			assertThat(runs(context)).hasSize(2);
			time.advance(Duration.ofSeconds(1));
			assertThat(runs(context)).hasSize(3);
		});
	}

	@Test
	void aRunWhoseEndTheStoreDoesNotHearOfIsRepeated() {
		run(Report.class, (context) -> {
			VirtualTime time = time(context);
			Instant start = time.now();
			time.advance(Duration.ZERO);
			time.crashBeforeAcknowledge("report");
			time.advance(Duration.ofMinutes(3));
			assertThat(runs(context)).hasSize(5)
				.startsWith(start, start.plusSeconds(60))
				.endsWith(start.plusSeconds(120), start.plusSeconds(180));
		}, "period=1m");
	}

	@Test
	void eachRunIsDeliveredTwice() {
		run(Report.class, (context) -> {
			VirtualTime time = time(context);
			Instant start = time.now();
			time.deliverTwice(true);
			time.advance(MINUTE);
			assertThat(runs(context)).containsExactly(start, start, start.plusSeconds(60), start.plusSeconds(60));
		}, "period=1m");
	}

	@Test
	void aFixedDelayCountsFromTheEnd() {
		run(Pause.class, (context) -> {
			VirtualTime time = time(context);
			Instant start = time.now();
			time.advance(Duration.ofSeconds(35));
			assertThat(runs(context)).containsExactly(start.plusSeconds(5), start.plusSeconds(15),
					start.plusSeconds(25), start.plusSeconds(35));
		});
	}

	@Test
	void aMethodWithAFutureHasEndedWithTheFuture() {
		run(Futures.class, (context) -> {
			VirtualTime time = time(context);
			time.onFailure(VirtualTime.OnFailure.COLLECT);
			time.advance(MINUTE);
			assertThat(runs(context)).hasSize(2);
			assertThat(time.failures()).singleElement().extracting(Throwable::getMessage).isEqualTo("failed");
		}, "timingwheel.store.max-attempts=1");
	}

	@Test
	void eachTestStartsWithTheDeclaredSchedulesAlone() {
		run(Report.class, (context) -> {
			VirtualTime time = time(context);
			tasks(context).recur(TaskId.of("remind", 1), Schedule.every(MINUTE), "text");
			time.advance(Duration.ofSeconds(90));
			time.reset();
			assertThat(time.pending("remind")).isZero();
			assertThat(tasks(context).find(REPORT)).get().extracting(DelayedTask::dueAt).isEqualTo(time.now());
		}, "period=1m");
	}

	// Schedules of users

	@Test
	void oneScheduleForEachKey() {
		run(Report.class, (context) -> {
			VirtualTime time = time(context);
			Report report = context.getBean(Report.class);
			Instant start = time.now();
			DelayedTask<?> first = tasks(context).recur(TaskId.of("remind", 1), Schedule.every(MINUTE), "a");
			assertThat(first.dueAt()).isEqualTo(start.plusSeconds(60));
			tasks(context).recur(TaskId.of("remind", 2), Schedule.fixedDelay(Duration.ofSeconds(95)), "b");
			tasks(context).recur(TaskId.of("remind", 1), Schedule.every(MINUTE), "c");
			time.advance(Duration.ofSeconds(200));
			assertThat(report.reminded()).containsExactly("c", "b", "c", "c", "b");
			assertThat(tasks(context).cancel(TaskId.of("remind", 1))).isTrue();
			assertThat(tasks(context).cancel(TaskId.of("remind", 1))).isFalse();
			time.advance(Duration.ofSeconds(100));
			assertThat(report.reminded()).containsExactly("c", "b", "c", "c", "b", "b");
			tasks(context).recur(TaskId.of("remind", 2), Schedule.every(Duration.ofHours(1)), "d");
			assertThat(tasks(context).find(TaskId.of("remind", 2))).get()
				.extracting(DelayedTask::dueAt)
				.isEqualTo(time.now().plus(Duration.ofHours(1)));
		}, "period=1h");
	}

	@Test
	void aMethodWithAScheduleHasNoOtherTasksAndSchedules() {
		run(Report.class, (context) -> {
			DelayedTaskOperations tasks = tasks(context);
			TaskId other = TaskId.of("report", "other");
			for (ThrowingCallable call : List.<ThrowingCallable>of(() -> tasks.enqueue(other, MINUTE),
					() -> tasks.enqueue(REPORT, Instant.now()),
					() -> tasks.enqueueAll(List.of(DurableCall.of(other, MINUTE))),
					() -> tasks.recur(other, Schedule.every(MINUTE)))) {
				assertThatIllegalArgumentException().isThrownBy(call)
					.withMessageContaining("\"report\" belongs to a @Recurring method")
					.withMessageContaining("reschedule");
			}
			time(context).advance(Duration.ZERO);
			assertThat(tasks.reschedule(REPORT, Duration.ofSeconds(10))).isTrue();
			time(context).advance(Duration.ofSeconds(10));
			assertThat(runs(context)).hasSize(2);
		}, "period=1h");
	}

	@Test
	void aMoveMakesAnAdditionalRun() {
		run(Report.class, (context) -> {
			VirtualTime time = time(context);
			Report report = context.getBean(Report.class);
			TaskId id = TaskId.of("remind", 1);
			Instant start = time.now();
			tasks(context).recur(id, Schedule.every(MINUTE), "a");
			assertThat(tasks(context).reschedule(id, Duration.ofSeconds(10))).isTrue();
			time.advance(Duration.ofSeconds(10));
			assertThat(report.reminded()).hasSize(1);
			assertThat(tasks(context).find(id)).get().extracting(DelayedTask::dueAt).isEqualTo(start.plusSeconds(60));
		}, "period=1h");
	}

	@Test
	void aScheduleIsStoredWithTheTransaction() {
		run(Report.class, (context) -> {
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			TaskId id = TaskId.of("remind", 1);
			transaction.executeWithoutResult((status) -> {
				tasks(context).recur(id, Schedule.every(MINUTE), "a");
				assertThat(tasks(context).find(id)).isPresent();
				status.setRollbackOnly();
			});
			assertThat(tasks(context).find(id)).isEmpty();
			transaction.executeWithoutResult((status) -> tasks(context).recur(id, Schedule.every(MINUTE), "a"));
			assertThat(tasks(context).find(id)).isPresent();
		}, "period=1h");
	}

	@Test
	void aBodyCanCancelItsOwnSchedule() {
		run(Ending.class, (context) -> {
			VirtualTime time = time(context);
			tasks(context).recur(TaskId.of("ending", 1), Schedule.every(MINUTE));
			time.advance(Duration.ofMinutes(10));
			assertThat(runs(context)).hasSize(1);
			assertThat(tasks(context).find(TaskId.of("ending", 1))).isEmpty();
			assertThat(time.tasks()).isEmpty();
		});
	}

	@Test
	void aTransactionalBodyAndTheNextTimeCommitTogether() {
		run(Transactional.class, (context) -> {
			VirtualTime time = time(context);
			time.onFailure(VirtualTime.OnFailure.COLLECT);
			Transactional bean = context.getBean(Transactional.class);
			TaskId id = TaskId.of("book", 1);
			Instant start = time.now();
			tasks(context).recur(id, Schedule.every(Duration.ofHours(1)));
			time.advance(Duration.ofHours(1));
			assertThat(bean.rows()).isEqualTo(1);
			assertThat(tasks(context).find(id)).get()
				.extracting(DelayedTask::dueAt)
				.isEqualTo(start.plus(Duration.ofHours(2)));
			bean.setFailing(true);
			time.advance(Duration.ofHours(1));
			assertThat(bean.rows()).isEqualTo(1);
			bean.setFailing(false);
			time.advance(MINUTE);
			assertThat(bean.rows()).isEqualTo(2);
			assertThat(tasks(context).find(id)).get()
				.extracting(DelayedTask::dueAt)
				.isEqualTo(start.plus(Duration.ofHours(3)));
		});
	}

	private void run(Class<?> beanClass, Consumer<ApplicationContext> test, String... properties) {
		ApplicationContextRunner runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class,
					TaskExecutionAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					VirtualTimeAutoConfiguration.class, TimingWheelAutoConfiguration.class,
					TimingWheelJdbcStoreAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withBean("dataSource", DataSource.class, () -> this.dataSource)
			.withUserConfiguration(Initialization.class)
			.withBean(Runs.class)
			.withPropertyValues("timingwheel.store.type=jdbc", "timingwheel.store.jdbc.initialize-schema=always")
			.withPropertyValues(properties);
		((beanClass != Runs.class) ? runner.withBean(beanClass) : runner).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context);
		});
	}

	private static VirtualTime time(ApplicationContext context) {
		return context.getBean(VirtualTime.class);
	}

	private static DelayedTaskOperations tasks(ApplicationContext context) {
		return context.getBean(DelayedTaskOperations.class);
	}

	private static Optional<String> schedule(ApplicationContext context) {
		return context.getBean(DelayedTaskStore.class)
			.find(Target.of(REPORT, Target.Kind.SCHEDULE))
			.map((task) -> task.schedule().text());
	}

	private static List<Instant> runs(ApplicationContext context) {
		return context.getBean(Runs.class).all();
	}

	@Configuration(proxyBeanMethods = false)
	@Import(DatabaseInitializationDependencyConfigurer.class)
	static class Initialization {

	}

	static class Report {

		private final List<String> reminded = new ArrayList<>();

		private final Runs runs;

		Report(Runs runs) {
			this.runs = runs;
		}

		@Recurring(every = "${period}", name = "report", durable = true)
		public void report() {
			this.runs.add("report");
		}

		@Delayed(delay = "1h", name = "remind", key = "#text", durable = true)
		public void remind(String text) {
			this.reminded.add(text);
		}

		List<String> reminded() {
			return this.reminded;
		}

	}

	record ThreeMethods(Runs runs) {

		@Recurring(every = "5m", name = "once", durable = true)
		public void once() {
			this.runs.add("once");
		}

		@Recurring(every = "5m", name = "skip", durable = true, missed = Missed.SKIP)
		public void skip() {
			this.runs.add("skip");
		}

		@Recurring(every = "5m", name = "all", durable = true, missed = Missed.ALL)
		public void all() {
			this.runs.add("all");
		}

	}

	static class Failing {

		final List<Instant> dueAt = new ArrayList<>();

		private final Runs runs;

		Failing(Runs runs) {
			this.runs = runs;
		}

		@Recurring(every = "1m", name = "failing", durable = true)
		public void run() {
			this.runs.add("failing");
			this.dueAt.add(DelayedTaskContext.current().orElseThrow().dueAt());
			throw new IllegalStateException("failed");
		}

	}

	record FailingTwice(Runs runs) {

		@Recurring(every = "1m", name = "failing", durable = true, policy = @TaskPolicy(maxAttempts = 2))
		public void run() {
			this.runs.add("failing");
			throw new IllegalStateException("failed");
		}

	}

	record Pause(Runs runs) {

		@Recurring(fixedDelay = "10s", initialDelay = "5s", name = "pause", durable = true)
		public void run() {
			this.runs.add("pause");
		}

	}

	record Futures(Runs runs) {

		@Recurring(every = "1m", name = "future", durable = true)
		public CompletableFuture<Void> run() {
			this.runs.add("future");
			return (this.runs.all().size() == 1) ? CompletableFuture.completedFuture(null)
					: CompletableFuture.failedFuture(new IllegalStateException("failed"));
		}

	}

	static class Ending {

		private final Runs runs;

		private final DelayedTaskOperations tasks;

		Ending(Runs runs, DelayedTaskOperations tasks) {
			this.runs = runs;
			this.tasks = tasks;
		}

		@Delayed(delay = "1h", name = "ending", durable = true)
		public void run() {
			this.runs.add("ending");
			assertThat(this.tasks.cancel(TaskId.of("ending", 1))).isTrue();
		}

	}

	static class Transactional {

		private final JdbcTemplate jdbc;

		private boolean failing;

		Transactional(DataSource dataSource) {
			this.jdbc = new JdbcTemplate(dataSource);
			this.jdbc.execute("create table booking (id integer)");
		}

		@Delayed(delay = "1h", name = "book", durable = true, transactional = true)
		public void book() {
			this.jdbc.update("insert into booking values (1)");
			if (this.failing) {
				throw new IllegalStateException("failed");
			}
		}

		void setFailing(boolean failing) {
			this.failing = failing;
		}

		long rows() {
			return this.jdbc.queryForObject("select count(*) from booking", Long.class);
		}

	}

}
