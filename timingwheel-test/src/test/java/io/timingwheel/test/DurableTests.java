package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.stream.IntStream;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadSelection;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What virtual time does with stored tasks only. */
@TestApplication.WithStore
class DurableTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final IllegalStateException FAILURE = new IllegalStateException("no");

	@Autowired
	private VirtualTime time;

	@Autowired
	private Jobs.Stored jobs;

	@Autowired
	private Bookings bookings;

	@Autowired
	private Runs runs;

	@Autowired
	private DelayedTaskOperations operations;

	@Autowired
	private StoredTasks storedTasks;

	@Autowired
	private JdbcClient jdbc;

	@BeforeEach
	void clear() {
		this.runs.clear();
		this.jdbc.sql("create table if not exists booking (id varchar)").update();
		this.jdbc.sql("delete from booking").update();
	}

	private void failAlways() {
		this.runs.setBody((key) -> {
			throw FAILURE;
		});
	}

	private void advanceInSpiteOfFailures(Duration by) {
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(by)).isSameAs(FAILURE);
	}

	@Test
	void aDeadTaskStaysUntilATaskInMemoryRequeuesItAndThenRunsAtThatTime() {
		failAlways();
		Instant due = this.time.now().plus(HOUR);
		this.jobs.run("a", HOUR);
		advanceInSpiteOfFailures(Duration.ofDays(30));
		assertThat(this.runs.all()).containsExactly(due, due.plusSeconds(1), due.plusSeconds(3));
		assertThat(this.time).hasNothingPending();
		assertThat(this.storedTasks.dead("stored-run", 10)).hasSize(1);
		this.runs.clear();
		Instant requeued = this.time.now().plus(HOUR);
		this.operations.schedule(HOUR,
				() -> this.storedTasks.dead().change("stored-run", true, new DeadSelection(null, null), null));
		this.time.advance(HOUR.multipliedBy(2));
		assertThat(this.runs.of("a")).containsExactly(requeued);
	}

	@Test
	void aCrashBringsTheTaskBackAfterItsLease() {
		this.time.crashBeforeAcknowledge("stored-run");
		this.jobs.run("a", HOUR);
		this.time.advance(HOUR.plusSeconds(19));
		assertThat(this.runs.names()).containsExactly("a");
		assertThat(rows()).isOne();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.runs.contexts()).extracting(DelayedTaskContext::deliveries).containsExactly(1, 2);
		assertThat(rows()).isZero();
	}

	@Test
	void eachTaskIsDeliveredTwiceAndOneThatFailsIsTriedAgainAsUsual() {
		this.time.deliverTwice(true);
		this.runs.setBody((key) -> this.jobs.run("a", HOUR));
		this.jobs.run("a", HOUR);
		this.time.advance(HOUR.multipliedBy(2));
		assertThat(this.runs.contexts()).extracting(DelayedTaskContext::deliveries).containsExactly(1, 2, 1, 2);
		this.runs.clear();
		failAlways();
		advanceInSpiteOfFailures(HOUR.plusSeconds(1));
		assertThat(this.runs.contexts()).extracting(DelayedTaskContext::attempt).containsExactly(1, 2);
	}

	@Test
	void aTaskThatCannotBeReadHasFailed() {
		this.jobs.run("a", HOUR);
		this.jdbc.sql("update timingwheel_task set payload = 'unreadable'").update();
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
			.withMessageContaining("A durable task could not run")
			.withMessageContaining("The arguments of the payload are not JSON");
		assertThat(this.runs.names()).isEmpty();
	}

	@Test
	void theChangesOfATransactionalBodyTakeEffectOnceHoweverOftenItIsDelivered() {
		this.time.deliverTwice(true);
		this.time.crashBeforeAcknowledge("book");
		this.bookings.book("a");
		this.time.advance(HOUR);
		assertThat(this.runs.names()).containsExactly("a");
		assertThat(bookings()).isZero();
		this.time.advance(Duration.ofSeconds(20));
		assertThat(this.runs.names()).containsExactly("a", "a", "a");
		assertThat(bookings()).isOne();
		assertThat(rows()).isZero();
	}

	@Test
	void aTransactionalBodyAndTheNextTimeOfItsScheduleCommitTogether() {
		TaskId id = TaskId.of("book", "a");
		Instant start = this.time.now();
		this.operations.recur(id, Schedule.every(HOUR), "a");
		this.time.advance(HOUR);
		assertThat(bookings()).isOne();
		assertThat(this.operations.find(id).orElseThrow().dueAt()).isEqualTo(start.plus(HOUR.multipliedBy(2)));
		failAlways();
		advanceInSpiteOfFailures(HOUR);
		assertThat(bookings()).isOne();
		this.runs.clear();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(bookings()).isEqualTo(2);
		assertThat(this.operations.find(id).orElseThrow().dueAt()).isEqualTo(start.plus(HOUR.multipliedBy(3)));
	}

	@Test
	@Transactional
	void whatATransactionWithinTheTestRollsBackDoesNotRun() {
		this.jobs.run("rolled back", HOUR);
		TestTransaction.end();
		assertThat(this.time).hasNothingPending();
		this.time.advance(HOUR);
		TestTransaction.start();
		this.jobs.run("committed", HOUR);
		TestTransaction.flagForCommit();
		TestTransaction.end();
		this.time.advance(HOUR);
		assertThat(this.runs.names()).containsExactly("committed");
	}

	/**
	 * The body runs within the transaction of the test, and sees what the test has
	 * stored.
	 */
	@RepeatedTest(2)
	@Transactional
	void aBodyChangesWhatTheTestHasStoredAndTheRollbackTakesAllAway() {
		assertThat(rows()).isZero();
		this.jdbc.sql("insert into booking values ('stored')").update();
		this.runs.setBody((key) -> this.jdbc.sql("update booking set id = ?").param(key).update());
		this.jobs.run("changed", HOUR);
		assertThat(this.time).hasPending("stored-run", "changed");
		this.time.advance(HOUR);
		assertThat(this.jdbc.sql("select id from booking").query(String.class).list()).containsExactly("changed");
		this.jobs.run("left over", HOUR);
	}

	@Test
	void metersHaveTheCountsOfThisMoment() {
		this.jobs.run("a", HOUR);
		assertThat(this.storedTasks.counts().recent().get("stored-run").pending()).isOne();
		this.time.advance(HOUR);
		assertThat(this.storedTasks.counts().recent().get("stored-run").pending()).isZero();
	}

	@Test
	void runAllLeavesAloneWhatCannotRunHereEvenBesideASchedule(@Autowired DurableTaskAdmin admin) {
		this.operations.recur(TaskId.of("expiring", 1), Schedule.every(HOUR), "beat");
		this.operations.enqueue(TaskId.of("elsewhere", 1), HOUR.multipliedBy(3));
		admin.setPaused("stored-single", true);
		this.jobs.single();
		this.jobs.run("a", HOUR);
		this.time.runAll();
		assertThat(this.runs.names()).contains("a", "beat").doesNotContain("single");
		admin.pause();
		this.jobs.run("b", HOUR);
		this.time.runAll();
		assertThat(this.runs.names()).doesNotContain("b");
		admin.resume();
		admin.setPaused("stored-single", false);
		this.time.runAll();
		assertThat(this.runs.names()).contains("b", "single");
		assertThat(this.time).hasPending("elsewhere", 1);
	}

	@Test
	void aTaskThatAnotherNodeStoresIsFoundWhenTheTimeIsMoved() {
		this.jobs.run("a", HOUR);
		this.time.advance(Duration.ofMinutes(1));
		this.jdbc.sql("update timingwheel_task set due_at = due_at - 1800000, next_at = next_at - 1800000").update();
		this.time.advance(Duration.ofMinutes(29));
		assertThat(this.runs.names()).containsExactly("a");
	}

	@Test
	void aStoreThatDoesNotAnswerFailsTheTest() {
		this.jobs.run("a", HOUR);
		this.jdbc.sql("alter table timingwheel_task rename to gone").update();
		try {
			this.operations.schedule(Duration.ofMinutes(1), () -> {
				throw FAILURE;
			});
			assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
				.withMessageContaining("store of the durable tasks does not answer")
				.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(FAILURE));
		}
		finally {
			this.jdbc.sql("alter table gone rename to timingwheel_task").update();
		}
		this.time.advance(Duration.ZERO);
		assertThat(this.runs.names()).containsExactly("a");
	}

	@Test
	void aTaskTakesEightStatements() {
		int tasks = 500;
		Duration all = Duration.ofDays(50);
		Duration step = all.dividedBy(tasks);
		this.operations.enqueueAll(IntStream.range(0, tasks)
			.mapToObj((i) -> DurableCall.of(TaskId.of("stored-run", i), step.multipliedBy(i), String.valueOf(i), HOUR))
			.toList());
		this.jdbc.sql("set query_statistics true").update();
		this.time.advance(all);
		long statements = this.jdbc.sql("select sum(execution_count) from information_schema.query_statistics")
			.query(Long.class)
			.single();
		this.jdbc.sql("set query_statistics false").update();
		assertThat(this.runs.names()).hasSize(tasks);
		assertThat(statements).isLessThan(8 * tasks + 100);
	}

	@Test
	void aNameThatNoTaskHasIsRefusedWithTheKnownNamesOrUntilCodeHasGivenIt() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.time.failNext("stored-rnu", FAILURE))
			.withMessageContaining("failNext: no task has the name \"stored-rnu\". The names are [")
			.withMessageContaining(", stored-run, ");
		assertThatIllegalArgumentException().isThrownBy(() -> this.time.crashBeforeAcknowledge("run"))
			.withMessageContaining("crashBeforeAcknowledge: no method with durable = true has the name \"run\"")
			.withMessageContaining("The names are [book, expiring, former, stored-flaky, ");
		String name = "beat " + UUID.randomUUID();
		assertThatIllegalArgumentException().isThrownBy(() -> this.time.failNext(name, FAILURE));
		this.operations.task(() -> {
		}).name(name).after(HOUR);
		this.time.failNext(name, FAILURE);
		advanceInSpiteOfFailures(HOUR);
	}

	@Test
	void anEarlierNameOfAMethodStandsForItsName() {
		this.time.failNext("former", FAILURE);
		this.jobs.run("ada", HOUR);
		advanceInSpiteOfFailures(HOUR);
		this.time.crashBeforeAcknowledge("former");
		this.time.advance(SECOND);
		assertThat(this.time.tasks("stored-run")).isEmpty();
		this.time.advance(Duration.ofSeconds(30));
		assertThat(this.runs.names()).as("the second attempt, and again after the crash").containsExactly("ada", "ada");
	}

	private int rows() {
		return this.jdbc.sql("select count(*) from timingwheel_task").query(Integer.class).single();
	}

	private int bookings() {
		return this.jdbc.sql("select count(*) from booking").query(Integer.class).single();
	}

	static class Bookings {

		private final Runs runs;

		private final JdbcClient jdbc;

		Bookings(Runs runs, JdbcClient jdbc) {
			this.runs = runs;
			this.jdbc = jdbc;
		}

		@Delayed(delay = "1h", name = "expiring", key = "#key", durable = true, expireAfter = "1m")
		public void expiring(String key) {
			this.runs.run(key);
		}

		@Delayed(delay = "1h", name = "book", key = "#key", durable = true, transactional = true)
		public void book(String key) {
			this.jdbc.sql("insert into booking values (?)").param(key).update();
			this.runs.run(key);
		}

	}

}
