package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.durable.DelayedTaskStore.Kind;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The contract of schedules on a store, and of the nodes that run them.
 */
public abstract class RecurringContractTests extends StoreTestSupport {

	private static final String HOURLY = "every(PT1H)";

	private static final String DAILY = "cron(0 0 3 * * *, Europe/Berlin)";

	/** A key under the earlier name of a handler. */
	private static final TaskId FORMER = new TaskId("remind", "k");

	private static final TaskId RENAMED = new TaskId("nudge", "k");

	private final List<TestNode> nodes = new ArrayList<>();

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(this.nodes);
	}

	// The store

	@Test
	void aScheduleIsAPendingTaskThatIsFoundByItsKey() {
		Enqueued stored = recur("k", HOURLY, HOUR);
		assertThat(stored.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(stored.dueAt()).isEqualTo(stored.now() + HOUR.toMillis());
		StoredTask expected = new StoredTask(stored.id(), NAME, "k", stored.dueAt(), State.PENDING, 1, 0, null,
				new StoredSchedule(HOURLY, stored.dueAt()), null);
		assertThat(this.other.find(key("k"))).contains(expected);
		assertThat(this.other.find(stored.id())).contains(expected);
		assertThat(this.other.pending(NAME, 10)).containsExactly(expected);
		assertThat(this.other.counts()).containsEntry(NAME, new StoredCounts(1, 0, 0, 0));
		assertThat(this.other.find(key("other"))).isEmpty();
		assertThat(claim()).isEmpty();
		assertThatIllegalArgumentException().isThrownBy(() -> recur("x".repeat(513), HOURLY, HOUR));
	}

	@Test
	void aDeclaredScheduleIsRestoredIfItIsLostAndNotIfItWasCancelled() {
		NewSchedule declared = definition(DelayedTaskStore.DECLARED_KEY, "payload", HOURLY, SOON);
		TaskId key = key(DelayedTaskStore.DECLARED_KEY);
		this.store.recur(declared);
		assertThat(this.other.restore(definition(key.key(), "payload", HOURLY, SOON))).isFalse();
		assertThat(this.store.cancel(key)).isTrue();
		assertNotRestored(key);
		this.store.recur(declared);
		assertThat(this.store.cancel(this.store.find(key).orElseThrow().id())).isTrue();
		assertNotRestored(key);
		this.store.recur(declared);
		LeasedTask run = claim().get(0);
		assertThat(begin(this.store, run.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.cancel(key)).isTrue();
		assertNotRestored(key);
		this.store.deleteAll();
		assertThat(this.other.restore(declared)).isTrue();
		assertThat(this.store.restore(declared)).isFalse();
		assertThat(this.store.find(key).orElseThrow().schedule()).isNotNull();
		assertThat(claim()).hasSize(1);
	}

	private void assertNotRestored(TaskId key) {
		assertThat(this.other.restore(definition(key.key(), "payload", HOURLY, SOON))).isFalse();
		assertThat(this.other.find(key)).isEmpty();
	}

	@Test
	void theSameDefinitionLeavesTheNextTime() {
		Enqueued first = recur("k", "payload", HOURLY, HOUR);
		clockAhead(Duration.ofMinutes(10));
		Enqueued second = recur("k", "payload", HOURLY, HOUR);
		assertThat(second.outcome()).isEqualTo(Outcome.PENDING);
		assertThat(second.id()).isEqualTo(first.id());
		assertThat(second.dueAt()).isEqualTo(first.dueAt());
		assertThat(this.store.pending(NAME, 10)).hasSize(1);
	}

	@Test
	void theSameScheduleWithOtherArgumentsKeepsItsTimeAndEndsAnEarlierLease() {
		Enqueued first = recur("k", "old", HOURLY, SOON);
		LeasedTask leased = claim().get(0);
		assertThat(leased.schedule()).isEqualTo(new StoredSchedule(HOURLY, first.dueAt()));
		assertThat(leased.key()).isEqualTo("k");
		Enqueued second = this.other.recur(definition("k", "new", HOURLY, HOUR));
		assertThat(second.outcome()).isEqualTo(Outcome.PENDING);
		assertThat(second.dueAt()).isEqualTo(first.dueAt());
		assertThat(begin(this.store, leased.ref())).isEqualTo(Reply.REFUSED);
		LeasedTask again = claimByOther().get(0);
		assertThat(again.payload()).isEqualTo("new");
		assertThat(again.dueAt()).isEqualTo(first.dueAt());
	}

	@Test
	void anotherDefinitionTakesThePlaceOfTheStoredOne() {
		Enqueued first = recur("k", HOURLY, SOON);
		LeasedTask leased = claim().get(0);
		Enqueued second = this.other.recur(definition("k", "new", DAILY, HOUR));
		assertThat(second.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(second.dueAt()).isEqualTo(second.now() + HOUR.toMillis());
		assertThat(begin(this.store, leased.ref())).isEqualTo(Reply.REFUSED);
		assertThat(this.store.find(first.id())).isEmpty();
		assertThat(this.store.find(key("k"))).get()
			.extracting(StoredTask::schedule)
			.isEqualTo(new StoredSchedule(DAILY, second.dueAt()));
		assertThat(this.store.pending(NAME, 10)).hasSize(1);
	}

	@Test
	void anOverdueRunStaysDueWhenTheDefinitionChanges() {
		Enqueued first = recur("k", HOURLY, SOON);
		clockAhead(HOUR.multipliedBy(3));
		Enqueued second = this.other.recur(definition("k", "new", DAILY, HOUR));
		assertThat(second.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(second.dueAt()).isEqualTo(first.dueAt());
		long next = second.now() + HOUR.toMillis();
		LeasedTask run = claim().get(0);
		assertThat(run.begun()).isTrue();
		assertThat(run.dueAt()).isEqualTo(first.dueAt());
		assertThat(run.payload()).isEqualTo("new");
		assertThat(run.schedule()).isEqualTo(new StoredSchedule(DAILY, next));
		assertThat(repeat(new NextRun(run.ref(), DAILY, new DueTime(next, true), null))).isEqualTo(Reply.DONE);
		assertThat(stored(run.id()).dueAt()).isEqualTo(next);
	}

	@Test
	void anOverdueAttemptKeepsTheTimeOfItsRunWhenTheDefinitionChanges() {
		LeasedTask run = begunRun("k");
		assertThat(retry(this.store, run.ref(), 2, Duration.ofMinutes(1))).isEqualTo(Reply.DONE);
		clockAhead(Duration.ofMinutes(2));
		Enqueued changed = this.other.recur(definition("k", "new", DAILY, HOUR));
		LeasedTask again = claim().get(0);
		assertThat(again.dueAt()).isEqualTo(changed.dueAt()).isEqualTo(run.dueAt());
		assertThat(again.schedule()).isEqualTo(new StoredSchedule(DAILY, changed.now() + HOUR.toMillis()));
	}

	@Test
	void aNewDefinitionThatIsDueAtOnceStandsForAnOverdueRun() {
		recur("k", HOURLY, SOON);
		clockAhead(HOUR.multipliedBy(3));
		Enqueued second = this.other.recur(definition("k", "new", DAILY, Duration.ZERO));
		assertThat(second.dueAt()).isEqualTo(second.now());
		LeasedTask run = claim().get(0);
		assertThat(run.dueAt()).isEqualTo(second.dueAt());
		assertThat(run.schedule()).isEqualTo(new StoredSchedule(DAILY, second.dueAt()));
	}

	@Test
	void theEndOfARunAndTheNextTimeAreOneStep() {
		LeasedTask run = begunRun("k");
		assertThat(run.begun()).isTrue();
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::state).isEqualTo(State.RUNNING);
		long next = run.dueAt() + HOUR.toMillis();
		NextRun end = new NextRun(run.ref(), HOURLY, new DueTime(next, true), null);
		assertThat(repeat(end)).isEqualTo(Reply.DONE);
		assertThat(repeat(end)).as("repeated").isEqualTo(Reply.DONE);
		StoredTask expected = new StoredTask(run.id(), NAME, "k", next, State.PENDING, 1, 0, null,
				new StoredSchedule(HOURLY, next), null);
		assertThat(this.other.find(key("k"))).contains(expected);
		clockAhead(HOUR);
		LeasedTask again = claimByOther().get(0);
		assertThat(again.fence()).isGreaterThan(run.fence());
		assertThat(again.dueAt()).isEqualTo(next);
		assertThat(repeat(end)).as("another node has it").isEqualTo(Reply.REFUSED);
		assertThat(this.other.find(key("k"))).get().extracting(StoredTask::state).isEqualTo(State.RUNNING);
	}

	@Test
	void aDelayOfTheNextRunIsByTheClockOfTheStore() {
		LeasedTask run = begunRun("k");
		long before = this.store.now();
		assertThat(repeat(new NextRun(run.ref(), HOURLY, DueTime.after(HOUR), "gave up"))).isEqualTo(Reply.DONE);
		StoredTask task = stored(run.id());
		assertThat(task.dueAt()).isBetween(before + HOUR.toMillis(), this.store.now() + HOUR.toMillis());
		assertThat(task.schedule()).isEqualTo(new StoredSchedule(HOURLY, task.dueAt()));
		assertThat(task.error()).isEqualTo("gave up");
	}

	@Test
	void aRetryKeepsTheTimeOfTheScheduleAndTheNextRunStartsAfresh() {
		LeasedTask run = begunRun("k");
		assertThat(retry(this.store, run.ref(), 2, Duration.ofSeconds(1))).isEqualTo(Reply.DONE);
		StoredTask task = stored(run.id());
		assertThat(task.attempt()).isEqualTo(2);
		assertThat(task.schedule()).isEqualTo(new StoredSchedule(HOURLY, run.dueAt()));
		assertThat(this.store.enqueue(task("k", HOUR)).outcome()).as("its key is no key of a task")
			.isEqualTo(Outcome.INSERTED);
		clockAhead(Duration.ofSeconds(2));
		LeasedTask second = claim().get(0);
		assertThat(second.attempt()).isEqualTo(2);
		assertThat(second.schedule()).isEqualTo(new StoredSchedule(HOURLY, run.dueAt()));
		assertThat(repeat(new NextRun(second.ref(), HOURLY, DueTime.after(HOUR), null))).isEqualTo(Reply.DONE);
		task = stored(run.id());
		assertThat(task.attempt()).isEqualTo(1);
		assertThat(task.deliveries()).isZero();
		assertThat(task.error()).isNull();
	}

	@Test
	void aRunThatHasNoNextIsTheLast() {
		LeasedTask run = begunRun("k");
		assertThat(repeat(new NextRun(run.ref(), HOURLY, null, null))).isEqualTo(Reply.DONE);
		assertThat(this.store.find(run.id())).isEmpty();
		assertThat(repeat(new NextRun(run.ref(), HOURLY, null, null))).isEqualTo(Reply.DONE);
		assertThat(recur("k", HOURLY, HOUR).outcome()).isEqualTo(Outcome.INSERTED);
	}

	@Test
	void aDefinitionThatChangesDuringARunBeginsAfterTheRun() {
		LeasedTask run = begunRun("k");
		Enqueued changed = this.other.recur(definition("k", "new", DAILY, HOUR));
		assertThat(changed.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(changed.dueAt()).isEqualTo(changed.now() + HOUR.toMillis());
		assertThat(this.store.renew(refs(run), LEASE)).containsExactly(Reply.DONE);
		assertThat(stored(run.id()).state()).isEqualTo(State.RUNNING);
		assertThat(repeat(new NextRun(run.ref(), HOURLY, DueTime.after(Duration.ZERO), null))).isEqualTo(Reply.DONE);
		assertThat(this.store.find(key("k"))).get().satisfies((task) -> {
			assertThat(task.dueAt()).isEqualTo(changed.dueAt());
			assertThat(task.schedule()).isEqualTo(new StoredSchedule(DAILY, changed.dueAt()));
			assertThat(task.state()).isEqualTo(State.PENDING);
		});
		clockAhead(HOUR);
		assertThat(claim().get(0).payload()).isEqualTo("new");
	}

	@Test
	void aScheduleThatIsCancelledDuringARunEndsWithTheRun() {
		LeasedTask run = begunRun("k");
		assertThat(this.other.cancel(key("k"))).isTrue();
		assertThat(this.other.cancel(key("k"))).isFalse();
		assertThat(this.store.find(key("k"))).isEmpty();
		assertThat(this.store.renew(refs(run), LEASE)).as("the run goes on").containsExactly(Reply.DONE);
		Enqueued next = recur("k", HOURLY, HOUR);
		assertThat(next.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(repeat(new NextRun(run.ref(), HOURLY, DueTime.after(HOUR), null))).isEqualTo(Reply.DONE);
		assertThat(this.store.find(run.id())).isEmpty();
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::id).isEqualTo(next.id());
	}

	@Test
	void aRunThatFailsAfterItsScheduleWasCancelledIsTheLast() {
		LeasedTask run = begunCancelledRun("k");
		assertThat(retry(this.store, run.ref(), 2, Duration.ZERO)).isEqualTo(Reply.DONE);
		assertEnded(run);
	}

	@Test
	void aRunThatIsGivenBackOrGivenUpAfterItsScheduleWasCancelledIsTheLast() {
		LeasedTask givenBack = begunCancelledRun("k");
		assertThat(release(this.store, givenBack.ref())).isEqualTo(Reply.DONE);
		assertEnded(givenBack);
		LeasedTask givenUp = begunCancelledRun("k");
		assertThat(bury(this.store, givenUp.ref())).isEqualTo(Reply.DONE);
		assertEnded(givenUp);
	}

	@Test
	void aLostRunOfACancelledScheduleIsRepeatedOnceAndIsTheLast() {
		LeasedTask run = begunCancelledRun("k");
		clockAhead(LEASE.plusSeconds(1));
		claimByOther();
		LeasedTask lost = claimByOther().get(0);
		assertThat(lost.id()).isEqualTo(run.id());
		assertThat(lost.schedule()).isNull();
		assertThat(begin(this.other, lost.ref())).isEqualTo(Reply.DONE);
		assertThat(retry(this.other, lost.ref(), 2, Duration.ZERO)).isEqualTo(Reply.DONE);
		assertEnded(run);
	}

	private LeasedTask begunCancelledRun(String key) {
		LeasedTask run = begunRun(key);
		assertThat(this.other.cancel(key(key))).isTrue();
		return run;
	}

	private void assertEnded(LeasedTask run) {
		assertThat(this.store.find(run.id())).isEmpty();
		assertThat(this.store.find(key("k"))).isEmpty();
		assertThat(this.store.counts()).isEmpty();
		assertThat(enqueue("k", HOUR).outcome()).as("the key is free").isEqualTo(Outcome.INSERTED);
		assertThat(this.store.cancel(key("k"))).isTrue();
	}

	@Test
	void aScheduleIsCancelledByItsKeyOrItsId() {
		recur("k", HOURLY, HOUR);
		assertThat(this.other.cancel(key("k"))).isTrue();
		assertThat(this.other.cancel(key("k"))).isFalse();
		Enqueued second = recur("k", HOURLY, HOUR);
		assertThat(this.other.cancel(second.id())).isTrue();
		assertThat(this.other.cancel(second.id())).isFalse();
		LeasedTask run = begunRun("k");
		assertThat(this.other.cancel(run.id())).isTrue();
		assertThat(this.other.cancel(run.id())).isFalse();
		assertThat(acknowledge(this.store, run.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.counts()).doesNotContainKey(NAME);
	}

	@Test
	void aTaskThatRunsOnceMayHaveTheSameKey() {
		Enqueued schedule = recur("k", HOURLY, HOUR);
		Enqueued once = enqueue("k", HOUR);
		assertThat(once.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(recur("k", HOURLY, HOUR).id()).isNotEqualTo(once.id());
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::id).isEqualTo(once.id());
		assertThat(this.store.cancel(key("k"))).isTrue();
		assertThat(this.store.find(once.id())).isEmpty();
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::id).isEqualTo(schedule.id());
		assertThat(this.store.cancel(key("k"))).isTrue();
		assertThat(this.store.find(schedule.id())).isEmpty();
	}

	@Test
	void aCallMeansTheTaskThatRunsOnceOrTheSchedule() {
		Enqueued schedule = recur("k", HOURLY, HOUR);
		assertThat(this.other.find(key("k"), Kind.ONCE)).isEmpty();
		assertThat(this.other.cancel(key("k"), Kind.ONCE)).isFalse();
		assertThat(this.other.reschedule(key("k"), Kind.ONCE, DueTime.after(SOON), null)).isNull();
		Enqueued once = enqueue("k", HOUR);
		assertThat(this.other.find(key("k"), Kind.ONCE)).contains(stored(once.id()));
		assertThat(this.other.find(key("k"), Kind.SCHEDULE)).contains(stored(schedule.id()));
		assertThat(this.other.find(key("k"), Kind.EITHER)).contains(stored(once.id()));
		Rescheduled moved = this.other.reschedule(key("k"), Kind.SCHEDULE, DueTime.after(SOON), null);
		assertThat(moved).isNotNull();
		assertThat(stored(schedule.id()).dueAt()).isEqualTo(moved.task().dueAt()).isLessThan(schedule.dueAt());
		assertThat(stored(once.id()).dueAt()).isEqualTo(once.dueAt());
		assertThat(this.other.cancel(key("k"), Kind.SCHEDULE)).isTrue();
		assertThat(this.other.cancel(key("k"), Kind.SCHEDULE)).isFalse();
		assertThat(this.other.find(key("k"), Kind.SCHEDULE)).isEmpty();
		assertThat(this.other.cancel(key("k"), Kind.ONCE)).isTrue();
		assertThat(this.store.find(once.id())).isEmpty();
		LeasedTask run = begunRun("k");
		assertThat(this.other.cancel(key("k"), Kind.ONCE)).isFalse();
		assertThat(this.other.find(key("k"), Kind.SCHEDULE)).contains(stored(run.id()));
		assertThat(this.other.reschedule(key("k"), Kind.SCHEDULE, DueTime.after(SOON), null)).isNull();
		assertThat(this.other.cancel(key("k"), Kind.SCHEDULE)).isTrue();
		assertThat(this.other.cancel(key("k"), Kind.SCHEDULE)).isFalse();
	}

	@Test
	void aMoveChangesOnlyTheNextRun() {
		Enqueued schedule = recur("k", HOURLY, HOUR);
		Rescheduled moved = this.other.reschedule(key("k"), DueTime.after(Duration.ofMinutes(5)), null);
		assertThat(moved).isNotNull();
		assertThat(moved.task().schedule()).isEqualTo(new StoredSchedule(HOURLY, schedule.dueAt()));
		StoredTask task = stored(schedule.id());
		assertThat(task.dueAt()).isEqualTo(moved.task().dueAt()).isLessThan(schedule.dueAt());
		assertThat(task.schedule()).isEqualTo(new StoredSchedule(HOURLY, schedule.dueAt()));
		LeasedTask run = begunRun("running");
		assertThat(this.other.reschedule(key("running"), DueTime.after(HOUR), null)).isNull();
		assertThat(stored(run.id()).state()).isEqualTo(State.RUNNING);
	}

	@Test
	void aRunThatIsReleasedOrLostKeepsItsSchedule() {
		LeasedTask run = begunRun("k");
		assertThat(release(this.store, run.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.find(key("k"))).get()
			.extracting(StoredTask::schedule)
			.isEqualTo(new StoredSchedule(HOURLY, run.dueAt()));
		claim();
		clockAhead(LEASE.plusSeconds(1));
		claimByOther();
		LeasedTask lost = claimByOther().get(0);
		assertThat(lost.suspect()).isTrue();
		assertThat(lost.schedule()).isEqualTo(new StoredSchedule(HOURLY, run.dueAt()));
		assertThat(begin(this.other, lost.ref())).isEqualTo(Reply.DONE);
		assertThat(this.other.repeat(List.of(new NextRun(lost.ref(), HOURLY, DueTime.after(HOUR), null))))
			.containsExactly(Reply.DONE);
		clockAhead(LEASE.plusSeconds(1).plus(HOUR));
		LeasedTask next = claim().get(0);
		assertThat(next.suspect()).isFalse();
		assertThat(next.lostDeliveries()).isZero();
		assertThat(next.deliveries()).isEqualTo(1);
	}

	@Test
	void manyRunsEndAtOnce() {
		List<LeasedTask> runs = IntStream.range(0, 50).mapToObj((i) -> begunRun("k" + i)).toList();
		List<NextRun> ends = runs.stream()
			.map((run) -> new NextRun(run.ref(), HOURLY, new DueTime(run.dueAt() + HOUR.toMillis(), true), null))
			.toList();
		assertThat(this.store.repeat(ends)).hasSize(50).containsOnly(Reply.DONE);
		assertThat(this.store.repeat(List.of())).isEmpty();
		assertThat(this.store.counts()).containsEntry(NAME, new StoredCounts(50, 0, 0, 0));
	}

	private NewSchedule definition(String key, String payload, String schedule, Duration first) {
		return new NewSchedule(UUID.randomUUID().toString(), NAME, key, payload, null, schedule, DueTime.after(first));
	}

	private Enqueued recur(String key, String schedule, Duration first) {
		return recur(key, "payload", schedule, first);
	}

	private Enqueued recur(String key, String payload, String schedule, Duration first) {
		return this.store.recur(definition(key, payload, schedule, first));
	}

	private Reply repeat(NextRun run) {
		return this.store.repeat(List.of(run)).get(0);
	}

	/**
	 * A run of a new hourly schedule, which the first node has begun.
	 */
	private LeasedTask begunRun(String key) {
		Enqueued schedule = recur(key, HOURLY, Duration.ZERO);
		return claim().stream().filter((task) -> task.id().equals(schedule.id())).findFirst().orElseThrow();
	}

	// Earlier names

	@ParameterizedTest
	@EnumSource
	void aCallThatRunsOnceLeavesTheScheduleUnderAnEarlierName(IfPending ifPending) {
		DelayedTask<?> schedule = formerNode().recur(FORMER, Schedule.every(HOUR), 1);
		DurableTaskManager renamed = renamedNode();
		Instant before = Instant.ofEpochMilli(this.store.now());
		DelayedTask<?> once = call(renamed, ifPending);
		assertThat(Duration.between(before, once.dueAt())).isBetween(SOON, SOON.plusSeconds(60));
		assertThat(this.store.find(RENAMED, Kind.ONCE)).get().extracting(StoredTask::id).isEqualTo(once.id());
		assertThat(this.store.find(FORMER)).get().extracting(StoredTask::id).isEqualTo(schedule.id());
		assertThat(renamed.find(RENAMED)).get().extracting(DelayedTask::id).isEqualTo(once.id());
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(this.store.find(RENAMED)).isEmpty();
		assertThat(renamed.find(RENAMED)).get().extracting(DelayedTask::id).isEqualTo(schedule.id());
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(this.store.find(FORMER)).isEmpty();
		assertThat(renamed.cancel(RENAMED)).isFalse();
	}

	@Test
	void aTaskUnderAnEarlierNameComesBeforeTheSchedule() {
		DurableTaskManager renamed = renamedNode();
		DelayedTask<?> schedule = renamed.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> once = formerNode().enqueue(FORMER, HOUR, 2);
		assertThat(renamed.find(RENAMED)).get().extracting(DelayedTask::id).isEqualTo(once.id());
		assertThat(renamed.reschedule(RENAMED, SOON)).isTrue();
		assertThat(stored(once.id()).dueAt()).isLessThan(once.dueAt().toEpochMilli());
		assertThat(stored(schedule.id()).dueAt()).isEqualTo(schedule.dueAt().toEpochMilli());
		renamed.cancellation(RENAMED).run();
		assertThat(this.store.find(once.id())).isEmpty();
		assertThat(renamed.reschedule(RENAMED, SOON)).isTrue();
		assertThat(stored(schedule.id()).dueAt()).isLessThan(schedule.dueAt().toEpochMilli());
		DelayedTask<?> second = formerNode().enqueue(FORMER, HOUR, 2);
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(this.store.find(second.id())).isEmpty();
		assertThat(this.store.find(schedule.id())).isPresent();
	}

	@Test
	void aScheduleReplacesTheOneUnderAnEarlierName() {
		DurableTaskManager former = formerNode();
		DurableTaskManager renamed = renamedNode();
		Instant next = former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		former.enqueue(FORMER, HOUR, 2);
		clockAhead(Duration.ofMinutes(10));
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("the same schedule").isEqualTo(next);
		assertOnlySchedule(renamed, next);
		former.recur(FORMER, Schedule.every(HOUR), 1);
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("its own time").isEqualTo(next);
		assertOnlySchedule(renamed, next);
		former.recur(FORMER, Schedule.every(HOUR), 1);
		Instant later = renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 3).dueAt();
		assertThat(later).isAfterOrEqualTo(next.plus(HOUR));
		assertOnlySchedule(renamed, later);
		assertThat(this.store.find(FORMER, Kind.ONCE)).as("a task that runs once").isPresent();
	}

	@Test
	void aScheduleThatReplacesTheOneUnderAnEarlierNameKeepsItsDueTime() {
		DurableTaskManager former = formerNode();
		DurableTaskManager renamed = renamedNode();
		Instant next = former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		assertThat(former.reschedule(FORMER, HOUR.multipliedBy(2))).isTrue();
		Instant moved = former.find(FORMER).orElseThrow().dueAt();
		assertThat(moved).isAfter(next);
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("a run that was put off")
			.isEqualTo(moved);
		assertOnlySchedule(renamed, moved);
		renamed.cancel(RENAMED);
		Instant overdue = former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		clockAhead(HOUR.plusMinutes(1));
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 3).dueAt()).as("an overdue run")
			.isEqualTo(overdue);
		assertOnlySchedule(renamed, overdue);
	}

	private void assertOnlySchedule(DurableTaskManager renamed, Instant next) {
		assertThat(this.store.find(FORMER, Kind.SCHEDULE)).isEmpty();
		assertThat(this.store.find(RENAMED, Kind.SCHEDULE)).get()
			.extracting(StoredTask::dueAt)
			.isEqualTo(next.toEpochMilli());
		assertThat(this.store.pending(RENAMED.name(), 10)).hasSize(1);
	}

	@Test
	void aScheduleThatIsReplacedUnderItsNewNameDuringARunGoesOnAfterThisRun() {
		DelayedTask<?> schedule = formerNode().recur(FORMER, Schedule.every(HOUR), 1);
		clockAhead(HOUR.plusMinutes(1));
		ClaimRequest request = new ClaimRequest("a", Set.of(FORMER.name()), 10, LOOK_AHEAD, LEASE, ANY_SIZE);
		LeasedTask run = this.store.claim(request).tasks().get(0);
		assertThat(run.id()).isEqualTo(schedule.id());
		Instant next = renamedNode().recur(RENAMED, Schedule.every(HOUR), 2).dueAt();
		assertThat(next).isEqualTo(schedule.dueAt().plus(HOUR));
		assertThat(repeat(new NextRun(run.ref(), Schedule.every(HOUR).toString(), DueTime.after(HOUR), null)))
			.isEqualTo(Reply.DONE);
		assertThat(this.store.find(FORMER)).isEmpty();
		assertThat(this.store.find(RENAMED)).isPresent();
	}

	private DurableTaskManager formerNode() {
		return idleNode(this.store).durable();
	}

	/**
	 * A node with a handler that has an earlier name. It runs nothing.
	 */
	private DurableTaskManager renamedNode() {
		DurableTaskManager durable = idleNode(this.other).durable();
		durable.register(renamedHandler());
		return durable;
	}

	private TestNode idleNode(DelayedTaskStore store) {
		TestNode node = TestNode.withoutHandler(store);
		this.nodes.add(node);
		return node;
	}

	private static NumberHandler renamedHandler() {
		return new NumberHandler(RENAMED.name(), List.of(FORMER.name()), Missed.ONCE, null, () -> Runnable::run,
				(error) -> {
				});
	}

	private static DelayedTask<?> call(DurableTaskManager node, IfPending ifPending) {
		return node.enqueue(renamedHandler(), RENAMED.key(), ifPending, null, DueTime.after(SOON), new Object[] { 2 });
	}

	// In a transaction that the store takes no part in

	@ParameterizedTest
	@EnumSource
	void aCallInATransactionLeavesTheSchedule(IfPending ifPending) {
		DurableTaskManager node = renamedNode();
		DelayedTask<?> schedule = node.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> once = inTransaction(() -> call(node, ifPending));
		assertThat(this.store.find(RENAMED, Kind.ONCE)).get().extracting(StoredTask::id).isEqualTo(once.id());
		assertThat(this.store.find(RENAMED, Kind.SCHEDULE)).get().extracting(StoredTask::id).isEqualTo(schedule.id());
	}

	@Test
	void aCancellationInATransactionTakesTheCallBeforeItThenTheSchedule() {
		DurableTaskManager node = renamedNode();
		DelayedTask<?> schedule = node.recur(RENAMED, Schedule.every(HOUR), 1);
		assertThat(inTransaction(() -> {
			call(node, IfPending.REPLACE);
			return node.cancel(RENAMED);
		})).isTrue();
		assertThat(this.store.find(RENAMED)).get().extracting(StoredTask::id).isEqualTo(schedule.id());
		assertThat(inTransaction(() -> {
			call(node, IfPending.REPLACE);
			return List.of(node.cancel(RENAMED), node.cancel(RENAMED), node.cancel(RENAMED));
		})).containsExactly(true, true, false);
		assertThat(this.store.find(RENAMED)).isEmpty();
		node.recur(RENAMED, Schedule.every(HOUR), 1);
		call(node, IfPending.REPLACE);
		assertThat(inTransaction(
				() -> List.of(node.cancel(RENAMED), node.reschedule(RENAMED, SOON), node.cancel(RENAMED))))
			.containsOnly(true);
		assertThat(this.store.find(RENAMED)).isEmpty();
	}

	@Test
	void aScheduleThatTheTransactionCancelsAgainIsNotStored() {
		DurableTaskManager node = renamedNode();
		DelayedTask<?> task = inTransaction(() -> {
			DelayedTask<?> recurring = node.recur(RENAMED, Schedule.every(HOUR), 1);
			assertThat(node.cancel(RENAMED)).isTrue();
			assertThat(node.cancel(RENAMED)).isFalse();
			return recurring;
		});
		assertThat(this.store.find(RENAMED)).isEmpty();
		assertThat(task.isCancelled()).isTrue();
		node.recur(RENAMED, Schedule.every(HOUR), 1);
		inTransaction(() -> {
			node.recur(RENAMED, Schedule.every(HOUR.multipliedBy(2)), 1);
			return node.cancel(RENAMED);
		});
		assertThat(this.store.find(RENAMED)).isEmpty();
	}

	@Test
	void theLastScheduleOfATransactionIsStoredAndCanBeMoved() {
		DurableTaskManager node = renamedNode();
		node.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> last = inTransaction(() -> {
			assertThat(node.cancel(RENAMED)).isTrue();
			node.recur(RENAMED, Schedule.every(HOUR.multipliedBy(2)), 1);
			DelayedTask<?> recurring = node.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 1);
			assertThat(node.reschedule(RENAMED, SOON)).isTrue();
			return recurring;
		});
		assertThat(this.store.find(RENAMED)).get().satisfies((task) -> {
			assertThat(task.id()).isEqualTo(last.id());
			assertThat(task.schedule()).extracting(StoredSchedule::text).isEqualTo("every(PT3H)");
			assertThat(task.dueAt()).isLessThan(this.store.now() + HOUR.toMillis());
		});
	}

	@Test
	void aRunningScheduleIsCancelledInATransaction() {
		LeasedTask run = begunRun("k");
		DelayedTask<?> task = formerNode().find(key("k")).orElseThrow();
		assertThat(inTransaction(() -> task.cancel(false))).isTrue();
		assertThat(this.store.find(key("k"))).isEmpty();
		assertThat(acknowledge(this.store, run.ref())).isEqualTo(Reply.DONE);
	}

	private static <T> T inTransaction(Supplier<T> calls) {
		return new TransactionTemplate(new OtherTransactions()).execute((status) -> calls.get());
	}

	/**
	 * Transactions of something else than the store.
	 */
	private static final class OtherTransactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

	// Nodes

	@Test
	void eachTimeHasOneRunInAllNodes() throws Exception {
		Map<Integer, Queue<Instant>> runs = new ConcurrentHashMap<>();
		NumberBody body = (number, context) -> runs.computeIfAbsent(number, (key) -> new ConcurrentLinkedQueue<>())
			.add(context.dueAt());
		for (DelayedTaskStore store : List.of(this.store, this.other, node())) {
			this.nodes.add(TestNode.start(store, body));
		}
		Schedule schedule = Schedule.every(Duration.ofMillis(200));
		List<Instant> first = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			first.add(this.nodes.get(i % 3).durable().recur(new TaskId(TestNode.NAME, "k" + i), schedule, i).dueAt());
		}
		await().until(() -> runs.size() == 5 && runs.values().stream().allMatch((each) -> each.size() >= 10));
		for (int i = 0; i < 5; i++) {
			assertThat(this.nodes.get(0).durable().cancel(new TaskId(TestNode.NAME, "k" + i))).isTrue();
		}
		await().until(() -> this.nodes.stream().allMatch((node) -> node.durable().inFlight() == 0));
		for (int i = 0; i < 5; i++) {
			List<Instant> times = List.copyOf(runs.get(i));
			assertThat(times).doesNotHaveDuplicates().isSorted().startsWith(first.get(i));
			for (Instant time : times) {
				assertThat(Duration.between(first.get(i), time).toMillis() % 200).isZero();
			}
		}
		assertThat(this.store.counts()).doesNotContainKey(TestNode.NAME);
	}

	/**
	 * The leases last longer than the clock of the store jumps, so the first run keeps
	 * its lease for all ten periods.
	 */
	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "SKIP")
	void aRunThatIsLongerThanItsPeriodDoesNotOverlapTheNext(Missed missed) {
		CountDownLatch firstMayEnd = new CountDownLatch(1);
		RecordedRuns runs = new RecordedRuns((number, context) -> firstMayEnd.await());
		try {
			startNodes(missed, runs);
			DelayedTask<?> task = this.nodes.get(0).durable().recur(RecordedRuns.ID, Schedule.every(HOUR), 1);
			clockAhead(HOUR);
			await().until(() -> runs.dueAt.size() == 1);
			clockAhead(HOUR.multipliedBy(11).plusMinutes(30));
			List<Long> claims = this.nodes.stream().map(RecurringContractTests::claims).toList();
			await().until(() -> IntStream.range(0, 2).allMatch((i) -> claims(this.nodes.get(i)) > claims.get(i) + 2));
			assertThat(runs.dueAt).containsExactly(task.dueAt());
			firstMayEnd.countDown();
			Instant next = task.dueAt().plus(HOUR.multipliedBy(11));
			await().until(() -> Instant.ofEpochMilli(stored(task.id()).dueAt()).equals(next));
			int missedRuns = (missed == Missed.ALL) ? 10 : 1;
			assertThat(runs.dueAt).containsExactlyElementsOf(IntStream.rangeClosed(0, missedRuns)
				.mapToObj((i) -> task.dueAt().plus(HOUR.multipliedBy(i)))
				.toList());
			assertThat(runs.most).hasValue(1);
		}
		finally {
			firstMayEnd.countDown();
			runs.threads.shutdown();
		}
	}

	/**
	 * A node adds the real duration of a run to the time at which the run has started.
	 */
	@Test
	void aRunThatIsLongerThanItsPeriodSkipsTheTimesThatPass() {
		Duration period = Duration.ofMillis(200);
		AtomicBoolean first = new AtomicBoolean(true);
		RecordedRuns runs = new RecordedRuns((number, context) -> {
			if (first.getAndSet(false)) {
				Thread.sleep(10 * period.toMillis());
			}
		});
		try {
			startNodes(Missed.SKIP, runs);
			DelayedTask<?> task = this.nodes.get(0).durable().recur(RecordedRuns.ID, Schedule.every(period), 1);
			await().until(() -> runs.dueAt.size() >= 3);
			assertThat(this.store.cancel(RecordedRuns.ID)).isTrue();
			List<Instant> times = List.copyOf(runs.dueAt);
			assertThat(times).startsWith(task.dueAt()).isSorted().doesNotHaveDuplicates();
			assertThat(times.get(1)).isAfterOrEqualTo(task.dueAt().plus(period.multipliedBy(10)));
			assertThat(runs.most).hasValue(1);
		}
		finally {
			runs.threads.shutdown();
		}
	}

	private void startNodes(Missed missed, RecordedRuns runs) {
		startNodes(missed, Duration.ofDays(2), runs);
	}

	private void startNodes(Missed missed, Duration lease, RecordedRuns runs) {
		for (DelayedTaskStore store : List.of(this.store, this.other)) {
			TestNode node = TestNode.start(store, (number, context) -> {
			}, new TestSettings().lease(lease));
			this.nodes.add(node);
			node.durable()
				.register(new NumberHandler(RecordedRuns.ID.name(), missed, runs::run, () -> runs.threads, (error) -> {
				}));
		}
	}

	private static final class RecordedRuns {

		private static final TaskId ID = new TaskId("recorded", "k");

		private final ExecutorService threads = Executors.newCachedThreadPool();

		private final NumberBody body;

		/** The times of the runs, in the order of their starts. */
		private final Queue<Instant> dueAt = new ConcurrentLinkedQueue<>();

		private final AtomicInteger running = new AtomicInteger();

		/** The most runs at the same time. */
		private final AtomicInteger most = new AtomicInteger();

		RecordedRuns(NumberBody body) {
			this.body = body;
		}

		void run(int number, DelayedTaskContext context) throws Exception {
			this.most.accumulateAndGet(this.running.incrementAndGet(), Math::max);
			this.dueAt.add(context.dueAt());
			this.body.run(number, context);
			this.running.decrementAndGet();
		}

	}

	private static long claims(TestNode node) {
		return node.durable().figures().claims();
	}

	@Test
	void aRunThatFailsIsTriedAgainUntilTheNextTimeAndTheScheduleGoesOn() {
		Map<Instant, Queue<Integer>> attempts = new ConcurrentSkipListMap<>();
		this.nodes.add(TestNode.start(this.store, (number, context) -> {
			attempts.computeIfAbsent(context.dueAt(), (due) -> new ConcurrentLinkedQueue<>()).add(context.attempt());
			throw new IllegalStateException("it failed");
		}));
		TaskId id = new TaskId(TestNode.NAME, "k");
		DelayedTask<?> task = this.nodes.get(0).durable().recur(id, Schedule.every(Duration.ofMillis(1500)), 1);
		// Three attempts, with 50 ms and 100 ms in between. On a busy machine some
		// attempts and some times are late.
		await().until(() -> attempts.size() >= 3 && attempts.values().stream().anyMatch((each) -> each.size() == 3));
		assertThat(attempts.keySet()).startsWith(task.dueAt())
			.allMatch((due) -> Duration.between(task.dueAt(), due).toMillis() % 1500 == 0);
		assertThat(attempts.values())
			.allSatisfy((each) -> assertThat(List.of(1, 2, 3)).startsWith(each.toArray(Integer[]::new)));
		await().until(() -> this.store.find(id).orElseThrow().state() == State.PENDING);
		assertThat(this.store.find(id)).get().extracting(StoredTask::error).asString().contains("it failed");
		assertThat(this.store.counts().get(TestNode.NAME).dead()).isZero();
	}

	@Test
	void aRunThatEndsItsNodesTooOftenIsGivenUpAndTheNextComesAtItsTime() {
		TaskId id = new TaskId(TestNode.NAME, "k");
		TestNode storing = TestNode.withoutHandler(this.store);
		this.nodes.add(storing);
		DelayedTask<?> task = storing.durable().recur(id, Schedule.every(HOUR), 1);
		ClaimRequest crashing = new ClaimRequest("crashing", Set.of(TestNode.NAME), 10, Duration.ZERO, LEASE, ANY_SIZE);
		Duration late = LEASE.plusMinutes(1);
		clockAhead(HOUR);
		assertThat(this.store.claim(crashing).tasks()).hasSize(1);
		for (int i = 1; i <= 2; i++) {
			clockAhead(HOUR.plus(late.multipliedBy(i)));
			List<LeasedTask> found = this.store.claim(crashing).tasks();
			// The first claim after the end of the lease may only find the suspect.
			LeasedTask suspect = (found.isEmpty() ? this.store.claim(crashing).tasks() : found).get(0);
			assertThat(begin(this.store, suspect.ref())).isEqualTo(Reply.DONE);
		}
		clockAhead(HOUR.plus(late.multipliedBy(4)));
		Queue<Instant> runs = new ConcurrentLinkedQueue<>();
		this.nodes.add(TestNode.start(this.other, (number, context) -> runs.add(context.dueAt())));
		Instant next = task.dueAt().plus(HOUR);
		await().until(() -> Instant.ofEpochMilli(stored(task.id()).dueAt()).equals(next));
		assertThat(stored(task.id()).state()).isEqualTo(State.PENDING);
		assertThat(stored(task.id()).error()).contains("max-lost-deliveries");
		assertThat(runs).isEmpty();
		clockAhead(HOUR.multipliedBy(2));
		await().until(() -> Instant.ofEpochMilli(stored(task.id()).dueAt()).equals(next.plus(HOUR)));
		assertThat(runs).containsExactly(next);
		assertThat(stored(task.id()).error()).isNull();
	}

	@ParameterizedTest
	@EnumSource
	void timesThatPassWhileNobodyIsThereHaveOneRunNoneOrOneEach(Missed missed) {
		TestNode absent = TestNode.withoutHandler(this.store);
		this.nodes.add(absent);
		DelayedTask<?> task = absent.durable().recur(RecordedRuns.ID, Schedule.every(HOUR), 7);
		clockAhead(HOUR.multipliedBy(10).plusMinutes(30));
		RecordedRuns runs = new RecordedRuns((number, context) -> assertThat(number).isEqualTo(7));
		try {
			startNodes(missed, LEASE, runs);
			Instant next = task.dueAt().plus(HOUR.multipliedBy(10));
			await().until(() -> Instant.ofEpochMilli(stored(task.id()).dueAt()).equals(next));
			int missedRuns = switch (missed) {
				case ONCE -> 1;
				case SKIP -> 0;
				case ALL -> 10;
			};
			assertThat(runs.dueAt).containsExactlyElementsOf(
					IntStream.range(0, missedRuns).mapToObj((i) -> task.dueAt().plus(HOUR.multipliedBy(i))).toList());
			assertThat(runs.most.get()).isLessThanOrEqualTo(1);
			assertThat(stored(task.id()).error()).isNull();
		}
		finally {
			runs.threads.shutdown();
		}
	}

	/**
	 * The run begins with its claim and never gets a thread. Its node ends, and nobody is
	 * there for ten hours.
	 */
	@Test
	void aRunThatWasGivenBackBeforeItsBodyStartedIsSkippedWhenItIsLate() throws Exception {
		TestNode storing = TestNode.withoutHandler(this.store);
		this.nodes.add(storing);
		DelayedTask<?> task = storing.durable().recur(RecordedRuns.ID, Schedule.every(HOUR), 1);
		AtomicInteger refused = new AtomicInteger();
		RecordedRuns runs = new RecordedRuns((number, context) -> {
		});
		try {
			clockAhead(HOUR);
			try (TestNode full = TestNode.start(this.store, (number, context) -> {
			}, new TestSettings().lease(LEASE))) {
				full.durable()
					.register(new NumberHandler(RecordedRuns.ID.name(), Missed.SKIP, runs::run, () -> (run) -> {
						refused.incrementAndGet();
						throw new RejectedExecutionException("full");
					}, (error) -> {
					}));
				await().until(() -> refused.get() > 0);
			}
			assertThat(stored(task.id()).state()).isEqualTo(State.PENDING);
			clockAhead(HOUR.multipliedBy(10).plusMinutes(30));
			startNodes(Missed.SKIP, LEASE, runs);
			Instant next = task.dueAt().plus(HOUR.multipliedBy(10));
			await().until(() -> Instant.ofEpochMilli(stored(task.id()).dueAt()).equals(next));
			assertThat(runs.dueAt).isEmpty();
		}
		finally {
			runs.threads.shutdown();
		}
	}

	/**
	 * The definition of the second node comes during a run, and that of the first node
	 * comes back before a run.
	 */
	@Test
	void theDefinitionThatCameLastHoldsForTheRunsOfAllNodes() {
		CountDownLatch firstMayEnd = new CountDownLatch(1);
		RecordedRuns runs = new RecordedRuns((number, context) -> firstMayEnd.await());
		Schedule hourly = Schedule.every(HOUR);
		Schedule slower = Schedule.every(HOUR.multipliedBy(2));
		try {
			startNodes(Missed.ONCE, runs);
			Instant first = this.nodes.get(0).durable().recur(RecordedRuns.ID, hourly, 1).dueAt();
			clockAhead(HOUR);
			await().until(() -> runs.dueAt.size() == 1);
			Instant second = this.nodes.get(1).durable().recur(RecordedRuns.ID, slower, 1).dueAt();
			assertThat(Duration.between(first, second)).isBetween(HOUR.multipliedBy(2), HOUR.multipliedBy(3));
			firstMayEnd.countDown();
			awaitNext(slower, second);
			Instant third = this.nodes.get(0).durable().recur(RecordedRuns.ID, hourly, 1).dueAt();
			assertThat(third).isBefore(second);
			awaitNext(hourly, third);
			clockAhead(HOUR.multipliedBy(2).plusMinutes(1));
			awaitNext(hourly, third.plus(HOUR));
			assertThat(runs.dueAt).containsExactly(first, third);
			assertThat(runs.most).hasValue(1);
		}
		finally {
			firstMayEnd.countDown();
			runs.threads.shutdown();
		}
	}

	private void awaitNext(Schedule schedule, Instant next) {
		StoredSchedule expected = new StoredSchedule(schedule.toString(), next.toEpochMilli());
		await().until(() -> this.store.find(RecordedRuns.ID)
			.filter((task) -> task.state() == State.PENDING)
			.map(StoredTask::schedule)
			.filter(expected::equals)
			.isPresent());
	}

}
