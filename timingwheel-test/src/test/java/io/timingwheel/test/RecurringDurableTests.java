package io.timingwheel.test;

import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import javax.sql.DataSource;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
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

	private ApplicationContext context;

	private VirtualTime time;

	private DelayedTaskOperations tasks;

	private Runs runs;

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
		run(Report.class, () -> {
			Instant start = this.time.now();
			this.time.advance(Duration.ofMinutes(10));
			assertThat(this.runs.all()).hasSize(11).startsWith(start, start.plusSeconds(60)).doesNotHaveDuplicates();
			DelayedTask<?> task = this.tasks.find(REPORT).orElseThrow();
			assertThat(task.dueAt()).isEqualTo(start.plus(Duration.ofMinutes(11)));
			assertThat(task.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
		}, "period=1m");
	}

	@Test
	void aNodeThatStartsWithTheSameDefinitionGoesOnWithTheStoredTime() {
		List<Instant> next = new ArrayList<>();
		run(Report.class, () -> {
			this.time.advance(Duration.ofSeconds(90));
			next.add(this.tasks.find(REPORT).orElseThrow().dueAt());
		}, "period=1m");
		run(Report.class,
				() -> assertThat(this.tasks.find(REPORT)).get().extracting(DelayedTask::dueAt).isEqualTo(next.get(0)),
				"period=1m");
	}

	@Test
	void theDefinitionThatCameLastStands() {
		run(Report.class, () -> {
			VirtualTime timeOfOlder = this.time;
			Runs runsOfOlder = this.runs;
			run(Report.class, () -> {
				assertThat(schedule()).contains("every(PT2M)");
				timeOfOlder.advance(Duration.ofMinutes(5));
				assertThat(runsOfOlder.all()).as("the older node runs it too, by the newer definition").hasSize(3);
			}, "period=2m");
			run(Report.class, () -> assertThat(schedule()).contains("every(PT1M)"), "period=1m");
		}, "period=1m");
	}

	@Test
	void aCancelEndsTheRunsUntilAnyNodeStarts() {
		run(Report.class, () -> {
			this.time.advance(Duration.ZERO);
			assertThat(this.tasks.cancel(REPORT)).isTrue();
			this.time.advance(Duration.ofHours(1));
			assertThat(this.runs.all()).hasSize(1);
			run(Report.class, () -> assertThat(schedule()).contains("every(PT1M)"), "period=1m");
			this.time.advance(Duration.ofMinutes(5));
			assertThat(this.runs.all()).as("the node that has cancelled it runs it again").hasSizeGreaterThan(5);
		}, "period=1m");
	}

	@ParameterizedTest
	@ValueSource(classes = { Nothing.class, Report.class })
	void aMethodThatIsGoneOrSwitchedOffLeavesItsScheduleToBeSeenAndDeleted(Class<?> later) {
		run(Report.class, () -> {
		}, "period=1m");
		run(later, () -> {
			this.time.advance(Duration.ofHours(1));
			assertThat(this.runs.all()).isEmpty();
			assertThat(schedule()).contains("every(PT1M)");
			assertThat(this.context.getBean(StoredTasks.class).counts().unknown()).isEqualTo(1);
			assertThat(this.tasks.cancel(REPORT)).isTrue();
			assertThat(this.tasks.find(REPORT)).isEmpty();
		}, "period=-");
	}

	@ParameterizedTest
	@CsvSource({ "once, '0 660 900'", "skip, '0 900'", "all, '0 660 660 900'" })
	void timesThatPassedWhileNobodyWasThere(String name, String expected) {
		run(ThreeMethods.class, () -> {
			Instant start = this.time.now();
			this.time.advance(Duration.ZERO);
			this.context.getBean(DurableTaskAdmin.class).pause();
			this.time.advance(Duration.ofMinutes(11));
			this.context.getBean(DurableTaskAdmin.class).resume();
			this.time.advance(Duration.ofMinutes(5));
			assertThat(this.runs.of(name)).extracting((at) -> "" + Duration.between(start, at).toSeconds())
				.containsExactly(expected.split(" "));
		});
	}

	@Test
	void aRunThatFailsIsTriedAgainUntilTheNextTimeAndIsNeverDead() {
		run(Failing.class, () -> {
			this.time.onFailure(VirtualTime.OnFailure.COLLECT);
			Instant start = this.time.now();
			this.time.advance(Duration.ofSeconds(59));
			List<Instant> first = this.runs.all();
			assertThat(first).as("attempts after 1, 2, 4, 8, 16 s; the next would be too late")
				.containsExactly(start, start.plusSeconds(1), start.plusSeconds(3), start.plusSeconds(7),
						start.plusSeconds(15), start.plusSeconds(31));
			this.time.advance(Duration.ofSeconds(1));
			assertThat(this.runs.all()).hasSize(7);
			StoredTask task = this.context.getBean(DelayedTaskStore.class)
				.find(Target.of(TaskId.of("failing", "recurring"), Target.Kind.SCHEDULE))
				.orElseThrow();
			assertThat(task.state()).isEqualTo(StoredTask.State.SCHEDULED);
			assertThat(this.context.getBean(Failing.class).dueAt).containsOnly(start, start.plusSeconds(60));
		}, "timingwheel.store.backoff.initial=1s", "timingwheel.store.max-attempts=20");
	}

	@Test
	void aRunWhoseEndTheStoreDoesNotHearOfIsRepeated() {
		run(Report.class, () -> {
			Instant start = this.time.now();
			this.time.advance(Duration.ZERO);
			this.time.crashBeforeAcknowledge("report");
			this.time.advance(Duration.ofMinutes(3));
			assertThat(this.runs.all()).hasSize(5)
				.startsWith(start, start.plusSeconds(60))
				.endsWith(start.plusSeconds(120), start.plusSeconds(180));
		}, "period=1m");
	}

	@Test
	void eachRunIsDeliveredTwice() {
		run(Report.class, () -> {
			Instant start = this.time.now();
			this.time.deliverTwice(true);
			this.time.advance(MINUTE);
			assertThat(this.runs.all()).containsExactly(start, start, start.plusSeconds(60), start.plusSeconds(60));
		}, "period=1m");
	}

	@Test
	void eachTestStartsWithTheDeclaredSchedulesAlone() {
		run(Report.class, () -> {
			this.tasks.recur(TaskId.of("remind", 1), Schedule.every(MINUTE), "text");
			this.time.advance(Duration.ofSeconds(90));
			this.time.reset();
			assertThat(this.time.pending("remind")).isZero();
			assertThat(this.tasks.find(REPORT)).get().extracting(DelayedTask::dueAt).isEqualTo(this.time.now());
		}, "period=1m");
	}

	// Schedules of users

	@Test
	void oneScheduleForEachKey() {
		run(Report.class, () -> {
			Report report = this.context.getBean(Report.class);
			Instant start = this.time.now();
			DelayedTask<?> first = this.tasks.recur(TaskId.of("remind", 1), Schedule.every(MINUTE), "a");
			assertThat(first.dueAt()).isEqualTo(start.plusSeconds(60));
			this.tasks.recur(TaskId.of("remind", 2), Schedule.fixedDelay(Duration.ofSeconds(95)), "b");
			this.tasks.recur(TaskId.of("remind", 1), Schedule.every(MINUTE), "c");
			this.time.advance(Duration.ofSeconds(200));
			assertThat(report.reminded()).containsExactly("c", "b", "c", "c", "b");
			assertThat(this.tasks.cancel(TaskId.of("remind", 1))).isTrue();
			assertThat(this.tasks.cancel(TaskId.of("remind", 1))).isFalse();
			this.time.advance(Duration.ofSeconds(100));
			assertThat(report.reminded()).containsExactly("c", "b", "c", "c", "b", "b");
			this.tasks.recur(TaskId.of("remind", 2), Schedule.every(Duration.ofHours(1)), "d");
			assertThat(this.tasks.find(TaskId.of("remind", 2))).get()
				.extracting(DelayedTask::dueAt)
				.isEqualTo(this.time.now().plus(Duration.ofHours(1)));
		}, "period=1h");
	}

	@Test
	void aMethodWithAScheduleHasNoOtherTasksAndSchedules() {
		run(Report.class, () -> {
			TaskId other = TaskId.of("report", "other");
			for (ThrowingCallable call : List.<ThrowingCallable>of(() -> this.tasks.enqueue(other, MINUTE),
					() -> this.tasks.enqueue(REPORT, Instant.now()),
					() -> this.tasks.enqueueAll(List.of(DurableCall.of(other, MINUTE))),
					() -> this.tasks.recur(other, Schedule.every(MINUTE)))) {
				assertThatIllegalArgumentException().isThrownBy(call)
					.withMessageContaining("\"report\" belongs to a @Recurring method")
					.withMessageContaining("reschedule");
			}
			this.time.advance(Duration.ZERO);
			assertThat(this.tasks.reschedule(REPORT, Duration.ofSeconds(10))).isTrue();
			this.time.advance(Duration.ofSeconds(10));
			assertThat(this.runs.all()).hasSize(2);
		}, "period=1h");
	}

	@Test
	void aMoveMakesAnAdditionalRun() {
		run(Report.class, () -> {
			Report report = this.context.getBean(Report.class);
			TaskId id = TaskId.of("remind", 1);
			Instant start = this.time.now();
			this.tasks.recur(id, Schedule.every(MINUTE), "a");
			assertThat(this.tasks.reschedule(id, Duration.ofSeconds(10))).isTrue();
			this.time.advance(Duration.ofSeconds(10));
			assertThat(report.reminded()).hasSize(1);
			assertThat(this.tasks.find(id)).get().extracting(DelayedTask::dueAt).isEqualTo(start.plusSeconds(60));
		}, "period=1h");
	}

	@Test
	void aScheduleIsStoredWithTheTransaction() {
		run(Report.class, () -> {
			TransactionTemplate transaction = new TransactionTemplate(
					this.context.getBean(PlatformTransactionManager.class));
			TaskId id = TaskId.of("remind", 1);
			transaction.executeWithoutResult((status) -> {
				this.tasks.recur(id, Schedule.every(MINUTE), "a");
				assertThat(this.tasks.find(id)).isPresent();
				status.setRollbackOnly();
			});
			assertThat(this.tasks.find(id)).isEmpty();
			transaction.executeWithoutResult((status) -> this.tasks.recur(id, Schedule.every(MINUTE), "a"));
			assertThat(this.tasks.find(id)).isPresent();
		}, "period=1h");
	}

	@Test
	void aTransactionalBodyAndTheNextTimeCommitTogether() {
		run(Transactional.class, () -> {
			this.time.onFailure(VirtualTime.OnFailure.COLLECT);
			Transactional bean = this.context.getBean(Transactional.class);
			TaskId id = TaskId.of("book", 1);
			Instant start = this.time.now();
			this.tasks.recur(id, Schedule.every(Duration.ofHours(1)));
			this.time.advance(Duration.ofHours(1));
			assertThat(bean.rows()).isEqualTo(1);
			assertThat(this.tasks.find(id)).get()
				.extracting(DelayedTask::dueAt)
				.isEqualTo(start.plus(Duration.ofHours(2)));
			bean.setFailing(true);
			this.time.advance(Duration.ofHours(1));
			assertThat(bean.rows()).isEqualTo(1);
			bean.setFailing(false);
			this.time.advance(MINUTE);
			assertThat(bean.rows()).isEqualTo(2);
			assertThat(this.tasks.find(id)).get()
				.extracting(DelayedTask::dueAt)
				.isEqualTo(start.plus(Duration.ofHours(3)));
		});
	}

	/**
	 * Starts an application with a bean, runs a test, and ends the application.
	 */
	private void run(Class<?> beanClass, Runnable test, String... properties) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class,
					TaskExecutionAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					VirtualTimeAutoConfiguration.class, TimingWheelAutoConfiguration.class,
					TimingWheelJdbcStoreAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withBean("dataSource", DataSource.class, () -> this.dataSource)
			.withUserConfiguration(Initialization.class, Runs.class, beanClass)
			.withPropertyValues("timingwheel.store.type=jdbc", "timingwheel.store.jdbc.initialize-schema=always")
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

	static class Nothing {

	}

}
