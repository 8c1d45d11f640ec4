package io.timingwheel.test;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadSelection;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.test.VirtualTime.OnFailure;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:virtual",
		"timingwheel.store.max-attempts=3", "timingwheel.store.lease=20s", "timingwheel.store.dead.retention=1h" })
@AutoConfigureVirtualTime
class DurableTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@Autowired
	private VirtualTime time;

	@Autowired
	private Stored stored;

	@Autowired
	private DelayedTaskOperations operations;

	@Autowired
	private StoredTasks storedTasks;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private ConfigurableApplicationContext context;

	@BeforeEach
	void clear() {
		this.stored.clear();
		this.jdbc.sql("create table if not exists effect (id varchar)").update();
		this.jdbc.sql("delete from effect").update();
	}

	@Test
	void bodiesRunOnThisThreadInDueOrderAtTheirTimes() {
		Instant start = this.time.now();
		this.stored.run("third", Duration.ofHours(3));
		this.stored.run("first", HOUR);
		this.stored.other("second", Duration.ofHours(2));
		this.time.advance(Duration.ofDays(1));
		String thread = Thread.currentThread().getName();
		assertThat(this.stored.log()).containsExactly("first at " + start.plus(HOUR) + " on " + thread,
				"second at " + start.plus(HOUR.multipliedBy(2)) + " on " + thread,
				"third at " + start.plus(HOUR.multipliedBy(3)) + " on " + thread);
		assertThat(rows()).isZero();
	}

	@Test
	void dueTimesAreExactHoweverLongTheTestTakes() {
		DelayedTask<Void> task = this.stored.run("a", HOUR);
		letTheRealTimePass();
		assertThat(task.dueAt()).isEqualTo(this.time.now().plus(HOUR));
		assertThat(this.time).hasPending("run", "a").isDurable().dueIn(HOUR);
		this.time.advance(HOUR.minusMillis(1));
		assertThat(this.stored.log()).isEmpty();
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.stored.log()).hasSize(1);
		assertThat(this.stored.contexts()).singleElement().satisfies((context) -> {
			assertThat(context.dueAt()).isEqualTo(task.dueAt());
			assertThat(context.lateness()).isZero();
		});
	}

	private static void letTheRealTimePass() {
		long start = System.nanoTime();
		while (System.nanoTime() - start < 5_000_000) {
			Thread.onSpinWait();
		}
	}

	@Test
	void whatABodyStoresMovesOrCancelsTakesEffectWithinTheSpan() {
		this.stored.run("moved", Duration.ofHours(5));
		this.stored.run("cancelled", HOUR.plusMillis(1));
		this.stored.setBody((key) -> {
			if (key.equals("first")) {
				this.operations.cancel(TaskId.of("run", "cancelled"));
				this.operations.reschedule(TaskId.of("run", "moved"), Duration.ofMinutes(1));
				this.stored.run("chained", Duration.ofMinutes(2));
			}
		});
		this.stored.run("first", HOUR);
		this.time.advance(HOUR.multipliedBy(2));
		assertThat(this.stored.keys()).containsExactly("first", "moved", "chained");
	}

	@Test
	void aTaskIsNotLateHoweverFineTheTimesAre() {
		this.time.advance(Duration.ofNanos(50));
		this.stored.run("a", HOUR);
		assertThat(this.time).hasPending("run", "a").dueIn(HOUR);
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).containsExactly("a");
	}

	@Test
	void ofTheTasksThatAreDueAtTheSameTimeThoseInMemoryRunFirst() {
		List<String> before = new ArrayList<>();
		this.stored.run("a", HOUR);
		this.operations.schedule(HOUR, () -> {
			before.addAll(this.stored.keys());
			before.add("memory");
		});
		this.time.advance(HOUR);
		assertThat(before).containsExactly("memory");
		assertThat(this.stored.keys()).containsExactly("a");
	}

	@Test
	void aBodyCancelsATaskThatIsDueAtTheSameTime() {
		this.stored.setBody((key) -> this.operations.cancel(TaskId.of("run", key.equals("a") ? "b" : "a")));
		this.stored.run("a", HOUR);
		this.stored.run("b", HOUR);
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).hasSize(1);
	}

	@Test
	void aFailedTaskIsTriedAgainByVirtualTimeUntilItIsDead() {
		this.time.onFailure(OnFailure.COLLECT);
		this.stored.setBody((key) -> {
			throw new IllegalStateException("no");
		});
		Instant start = this.time.now();
		this.stored.run("a", HOUR);
		this.time.advance(HOUR.plusSeconds(10));
		assertThat(this.stored.contexts()).extracting(DelayedTaskContext::attempt).containsExactly(1, 2, 3);
		assertThat(this.stored.log()).extracting((line) -> line.split(" ")[2])
			.containsExactly(start.plusSeconds(3600).toString(), start.plusSeconds(3601).toString(),
					start.plusSeconds(3603).toString());
		assertThat(this.time.failures()).hasSize(3);
		assertThat(this.storedTasks.dead("run", 10)).hasSize(1);
		assertThat(this.time).hasNothingPending();
	}

	@Test
	void deadTasksStayHoweverFarTheTimeIsMoved() {
		this.time.onFailure(OnFailure.COLLECT);
		this.stored.setBody((key) -> {
			throw new IllegalStateException("no");
		});
		this.stored.run("a", HOUR);
		this.time.advance(Duration.ofDays(30));
		assertThat(this.storedTasks.dead("run", 10)).hasSize(1);
	}

	@Test
	void deadTasksThatATaskInMemoryRequeuesRunAtThatTime() {
		this.time.onFailure(OnFailure.COLLECT);
		this.stored.setBody((key) -> {
			throw new IllegalStateException("no");
		});
		this.stored.run("a", HOUR);
		this.time.advance(HOUR.plusMinutes(1));
		this.stored.clear();
		Instant requeued = this.time.now().plus(HOUR);
		this.operations.schedule(HOUR,
				() -> this.storedTasks.dead().requeueAll("run", new DeadSelection(null, null), null));
		this.time.advance(HOUR.multipliedBy(2));
		assertThat(this.stored.log()).singleElement().asString().contains("a at " + requeued);
	}

	@Test
	void aFailureIsThrown() {
		this.stored.setBody((key) -> {
			throw new IllegalStateException("no");
		});
		this.stored.run("a", HOUR);
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR)).withMessage("no");
	}

	@Test
	void aCrashBringsTheTaskBackAfterItsLease() {
		this.time.crashBeforeAcknowledge("run");
		this.stored.run("a", HOUR);
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).containsExactly("a");
		assertThat(rows()).isOne();
		this.time.advance(Duration.ofSeconds(19));
		assertThat(this.stored.keys()).containsExactly("a");
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.stored.keys()).containsExactly("a", "a");
		assertThat(this.stored.contexts()).extracting(DelayedTaskContext::deliveries).containsExactly(1, 2);
		assertThat(rows()).isZero();
	}

	@Test
	void eachTaskIsDeliveredTwice() {
		this.time.deliverTwice(true);
		this.stored.run("a", HOUR);
		this.time.advance(HOUR);
		assertThat(this.stored.contexts()).extracting(DelayedTaskContext::deliveries).containsExactly(1, 2);
		assertThat(rows()).isZero();
	}

	@Test
	void aTaskThatSchedulesItselfAgainIsDeliveredTwiceEachTime() {
		this.time.deliverTwice(true);
		this.stored.setBody((key) -> this.stored.run("a", HOUR));
		this.stored.run("a", HOUR);
		this.time.advance(HOUR.multipliedBy(2));
		assertThat(this.stored.contexts()).extracting(DelayedTaskContext::deliveries).containsExactly(1, 2, 1, 2);
	}

	@Test
	void aFailureOfATaskThatIsDeliveredTwiceIsNotedOnce() {
		this.time.onFailure(OnFailure.COLLECT);
		this.time.deliverTwice(true);
		IllegalStateException failure = new IllegalStateException("no");
		this.stored.setBody((key) -> {
			throw failure;
		});
		this.stored.run("a", HOUR);
		this.time.advance(HOUR.plusSeconds(1));
		assertThat(this.stored.keys()).containsExactly("a", "a");
		assertThat(this.time.failures()).containsExactly(failure);
	}

	@Test
	void aTaskThatCannotBeReadHasFailed() {
		this.time.onFailure(OnFailure.COLLECT);
		this.stored.run("a", HOUR);
		this.jdbc.sql("update timingwheel_task set payload = 'unreadable'").update();
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).isEmpty();
		assertThat(this.time.failures()).singleElement().asString().contains("The durable task \"run\" could not run");
	}

	@Test
	void theChangesOfATransactionalBodyTakeEffectOnceHoweverOftenItIsDelivered() {
		this.time.deliverTwice(true);
		this.time.crashBeforeAcknowledge("transactional");
		this.stored.transactional("a");
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).containsExactly("a");
		assertThat(effects()).isZero();
		this.time.advance(Duration.ofSeconds(20));
		assertThat(this.stored.keys()).containsExactly("a", "a", "a");
		assertThat(effects()).isOne();
		assertThat(rows()).isZero();
	}

	@Test
	@Transactional
	void aTestThatIsRolledBackSeesItsOwnTasksRun() {
		this.stored.run("a", HOUR);
		assertThat(this.time).hasPending("run", "a");
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).containsExactly("a");
		assertThat(this.time).hasNothingPending();
	}

	@Test
	@Transactional
	void whatATransactionWithinTheTestRollsBackDoesNotRun() {
		this.stored.run("rolled back", HOUR);
		TestTransaction.end();
		assertThat(this.time).hasNothingPending();
		this.time.advance(HOUR);
		TestTransaction.start();
		this.stored.run("committed", HOUR);
		TestTransaction.flagForCommit();
		TestTransaction.end();
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).containsExactly("committed");
	}

	@Test
	void metersHaveTheCountsOfThisMoment() {
		assertThat(this.storedTasks.counts().recent().get("run").pending()).isZero();
		this.stored.run("a", HOUR);
		assertThat(this.storedTasks.counts().recent().get("run").pending()).isOne();
		this.time.advance(HOUR);
		assertThat(this.storedTasks.counts().recent().get("run").pending()).isZero();
	}

	@Test
	void runAllRunsStoredTasksToo() {
		this.stored.setBody((key) -> {
			if (key.length() < 3) {
				this.stored.run(key + "a", Duration.ofDays(30));
			}
		});
		this.stored.run("a", Duration.ofDays(300));
		this.time.runAll();
		assertThat(this.stored.keys()).containsExactly("a", "aa", "aaa");
		assertThat(this.time).hasNothingPending();
	}

	@Test
	void aTaskThatIsTooLateExpires() {
		this.operations.enqueue(TaskId.of("expiring", "a"), this.time.now().minusSeconds(120), "a");
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).isEmpty();
		assertThat(rows()).isZero();
	}

	@Test
	void theNodeCanBePausedAndStartsAgain() {
		this.storedTasks.node().pause();
		this.stored.run("a", HOUR);
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).isEmpty();
		this.storedTasks.node().resume();
		this.time.advance(Duration.ZERO);
		assertThat(this.stored.keys()).containsExactly("a");
	}

	@Test
	void theContextCanStopAndStartAgain() {
		this.stored.run("a", HOUR);
		this.context.stop();
		this.context.start();
		this.time.advance(HOUR);
		assertThat(this.stored.keys()).containsExactly("a");
	}

	@Test
	void aTaskThatAnotherNodeStoresIsFoundWhenTheTimeIsMoved() {
		this.stored.run("a", HOUR);
		this.time.advance(Duration.ofMinutes(1));
		this.jdbc.sql("update timingwheel_task set due_at = due_at - 1800000, next_at = next_at - 1800000").update();
		this.time.advance(Duration.ofMinutes(29));
		assertThat(this.stored.keys()).containsExactly("a");
	}

	@Test
	void aStoreThatDoesNotAnswerFailsTheTest() {
		this.stored.run("a", HOUR);
		this.jdbc.sql("alter table timingwheel_task rename to gone").update();
		try {
			IllegalStateException inABody = new IllegalStateException("in a body");
			this.operations.schedule(Duration.ofMinutes(1), () -> {
				throw inABody;
			});
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
				.withMessageContaining("store of the durable tasks does not answer")
				.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(inABody));
		}
		finally {
			this.jdbc.sql("alter table gone rename to timingwheel_task").update();
		}
		this.time.advance(Duration.ZERO);
		assertThat(this.stored.keys()).containsExactly("a");
	}

	@Test
	void aTaskTakesEightStatements() {
		assertThat(statementsForAYearWith(500)).isLessThan(8 * 500 + 100);
	}

	/**
	 * Also prints how long this thread computes. What other threads of the machine do
	 * meanwhile does not count.
	 */
	@Test
	@Tag("faults")
	void aTaskOfTenThousandTakesNoMoreStatements() {
		assertThat(statementsForAYearWith(10_000)).isLessThan(8 * 10_000 + 100);
	}

	private long statementsForAYearWith(int tasks) {
		Duration step = Duration.ofDays(365).dividedBy(tasks);
		this.operations.enqueueAll(IntStream.range(0, tasks)
			.mapToObj((i) -> DurableCall.of(TaskId.of("run", i), step.multipliedBy(i), String.valueOf(i), HOUR))
			.toList());
		this.jdbc.sql("set query_statistics true").update();
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		long start = threads.getCurrentThreadCpuTime();
		this.time.advance(Duration.ofDays(365));
		long millis = TimeUnit.NANOSECONDS.toMillis(threads.getCurrentThreadCpuTime() - start);
		long statements = this.jdbc.sql("select sum(execution_count) from information_schema.query_statistics")
			.query(Long.class)
			.single();
		this.jdbc.sql("set query_statistics false").update();
		System.out.println(
				"A year with %d tasks on H2: %d statements, %d ms of CPU time".formatted(tasks, statements, millis));
		assertThat(this.stored.keys()).hasSize(tasks);
		return statements;
	}

	@Test
	void noThreadOfOursRuns() {
		this.stored.run("a", HOUR);
		this.time.advance(HOUR);
		// Threads of other tests may end a while after those.
		await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
			.noneMatch((name) -> name.startsWith("timing-wheel") || name.startsWith("task-")));
	}

	private int rows() {
		return this.jdbc.sql("select count(*) from timingwheel_task").query(Integer.class).single();
	}

	private int effects() {
		return this.jdbc.sql("select count(*) from effect").query(Integer.class).single();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Config {

		@Bean
		Stored stored(VirtualTime time, JdbcClient jdbc) {
			return new Stored(time, jdbc);
		}

	}

	static class Stored {

		private final VirtualTime time;

		private final JdbcClient jdbc;

		private final List<String> log = new ArrayList<>();

		private final List<String> keys = new ArrayList<>();

		private final List<DelayedTaskContext> contexts = new ArrayList<>();

		private Body body = Body.NOTHING;

		Stored(VirtualTime time, JdbcClient jdbc) {
			this.time = time;
			this.jdbc = jdbc;
		}

		void clear() {
			this.log.clear();
			this.keys.clear();
			this.contexts.clear();
			this.body = Body.NOTHING;
		}

		void setBody(Body body) {
			this.body = body;
		}

		List<String> log() {
			return this.log;
		}

		List<String> keys() {
			return this.keys;
		}

		List<DelayedTaskContext> contexts() {
			return this.contexts;
		}

		@Delayed(delayExpression = "#delay", name = "run", key = "#key", durable = true)
		public DelayedTask<Void> run(String key, Duration delay) {
			record(key);
			return DelayedTask.completed(null);
		}

		@Delayed(delayExpression = "#delay", name = "other", key = "#key", durable = true)
		public void other(String key, Duration delay) {
			record(key);
		}

		@Delayed(delay = "1h", name = "expiring", key = "#key", durable = true, expireAfter = "1m")
		public void expiring(String key) {
			record(key);
		}

		@Delayed(delay = "1h", name = "transactional", key = "#key", durable = true, transactional = true)
		public void transactional(String key) {
			record(key);
			this.jdbc.sql("insert into effect values (?)").param(key).update();
		}

		private void record(String key) {
			this.keys.add(key);
			this.log.add(key + " at " + this.time.now() + " on " + Thread.currentThread().getName());
			DelayedTaskContext context = DelayedTaskContext.current().orElseThrow();
			this.contexts.add(new Copy(context.name(), context.id(), context.taskId(), context.dueAt(),
					context.lateness(), context.attempt(), context.deliveries()));
			try {
				this.body.run(key);
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	record Copy(String name, String id, TaskId taskId, Instant dueAt, Duration lateness, int attempt,
			int deliveries) implements DelayedTaskContext {

	}

}
