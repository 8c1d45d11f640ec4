package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.Settlement.Acknowledge;
import io.timingwheel.spring.durable.store.Settlement.Repeat;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.h2.Driver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls for schedules under an earlier name, and in a transaction that the store takes no
 * part in, on the store in memory.
 */
class ScheduleCallTests extends StoreTestSupport {

	private static final Duration HOUR = Duration.ofHours(1);

	/** A key under the earlier name of a handler. */
	private static final TaskId FORMER = new TaskId("remind", "k");

	private static final TaskId RENAMED = new TaskId("nudge", "k");

	private final List<TestNode> nodes = new ArrayList<>();

	ScheduleCallTests() {
		super(TestStores::inMemory);
	}

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(this.nodes);
	}

	private @Nullable String id(TaskId id, Kind kind) {
		return this.store.find(Target.of(id, kind)).map(StoredTask::id).orElse(null);
	}

	private StoredTask stored(String id) {
		return this.store.find(Target.of(id)).orElseThrow();
	}

	private LeasedTask leased() {
		return this.store
			.claim(new ClaimRequest("crashing", Map.of(FORMER.name(), new Share(10, 10)), 10, false, Duration.ZERO,
					LEASE, ANY_SIZE))
			.tasks()
			.get(0);
	}

	@Test
	void aCallThatRunsOnceLeavesTheScheduleUnderAnEarlierName() {
		DelayedTask<?> schedule = formerNode().recur(FORMER, Schedule.every(HOUR), 1);
		DurableTasks renamed = renamedNode();
		Instant before = Instant.ofEpochMilli(this.store.now());
		DelayedTask<?> once = call(renamed);
		assertThat(Duration.between(before, once.dueAt())).isBetween(SOON, SOON.plusSeconds(60));
		assertThat(id(RENAMED, Kind.ONCE)).isEqualTo(once.id());
		assertThat(id(FORMER, Kind.EITHER)).isEqualTo(schedule.id());
		assertThat(renamed.find(RENAMED).map(DelayedTask::id)).contains(once.id());
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
		assertThat(renamed.find(RENAMED).map(DelayedTask::id)).contains(schedule.id());
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(id(FORMER, Kind.EITHER)).isNull();
		assertThat(renamed.cancel(RENAMED)).isFalse();
	}

	@Test
	void aTaskUnderAnEarlierNameComesBeforeTheSchedule() {
		DurableTasks renamed = renamedNode();
		DelayedTask<?> schedule = renamed.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> once = call(formerNode(), FORMER, HOUR);
		assertThat(renamed.find(RENAMED).map(DelayedTask::id)).contains(once.id());
		assertThat(renamed.reschedule(RENAMED, SOON)).isTrue();
		assertThat(stored(once.id()).dueAt()).isLessThan(once.dueAt().toEpochMilli());
		assertThat(stored(schedule.id()).dueAt()).isEqualTo(schedule.dueAt().toEpochMilli());
		renamed.pending().cancellation(RENAMED).run();
		assertThat(this.store.find(Target.of(once.id()))).isEmpty();
		assertThat(renamed.reschedule(RENAMED, SOON)).isTrue();
		assertThat(stored(schedule.id()).dueAt()).isLessThan(schedule.dueAt().toEpochMilli());
		DelayedTask<?> second = call(formerNode(), FORMER, HOUR);
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(this.store.find(Target.of(second.id()))).isEmpty();
		assertThat(this.store.find(Target.of(schedule.id()))).isPresent();
	}

	@Test
	void aScheduleReplacesTheOneUnderAnEarlierName() {
		DurableTasks former = formerNode();
		DurableTasks renamed = renamedNode();
		Instant next = former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		call(former, FORMER, HOUR);
		clockAhead(Duration.ofMinutes(10));
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("the same schedule").isEqualTo(next);
		assertOnlySchedule(next);
		former.recur(FORMER, Schedule.every(HOUR), 1);
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("its own time").isEqualTo(next);
		assertOnlySchedule(next);
		former.recur(FORMER, Schedule.every(HOUR), 1);
		Instant later = renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 3).dueAt();
		assertThat(later).isAfterOrEqualTo(next.plus(HOUR));
		assertOnlySchedule(later);
		assertThat(this.store.find(Target.of(FORMER, Kind.ONCE))).as("a task that runs once").isPresent();
	}

	@Test
	void aScheduleThatReplacesTheOneUnderAnEarlierNameKeepsItsDueTime() {
		DurableTasks former = formerNode();
		DurableTasks renamed = renamedNode();
		Instant next = former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		assertThat(former.reschedule(FORMER, HOUR.multipliedBy(2))).isTrue();
		Instant moved = former.find(FORMER).orElseThrow().dueAt();
		assertThat(moved).isAfter(next);
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("a run that was put off")
			.isEqualTo(moved);
		assertOnlySchedule(moved);
		renamed.cancel(RENAMED);
		Instant overdue = former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		clockAhead(HOUR.plusMinutes(1));
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 3).dueAt()).as("an overdue run")
			.isEqualTo(overdue);
		assertOnlySchedule(overdue);
	}

	private void assertOnlySchedule(Instant next) {
		assertThat(id(FORMER, Kind.SCHEDULE)).isNull();
		assertThat(this.store.find(Target.of(RENAMED, Kind.SCHEDULE))).get()
			.extracting(StoredTask::dueAt)
			.isEqualTo(next.toEpochMilli());
		assertThat(this.store.list(new ListQuery(RENAMED.name(), ListQuery.Order.PENDING, null, 10)).tasks())
			.hasSize(1);
	}

	@Test
	void aScheduleThatIsReplacedUnderItsNewNameDuringARunGoesOnAfterThisRun() {
		DelayedTask<?> schedule = formerNode().recur(FORMER, Schedule.every(HOUR), 1);
		clockAhead(HOUR.plusMinutes(1));
		LeasedTask run = leased();
		assertThat(run.id()).isEqualTo(schedule.id());
		Instant next = renamedNode().recur(RENAMED, Schedule.every(HOUR), 2).dueAt();
		assertThat(next).isEqualTo(schedule.dueAt().plus(HOUR));
		assertThat(this.store
			.settle(List.of(new Repeat(run.ref(), Schedule.every(HOUR).toString(), DueTime.after(HOUR), null))))
			.containsExactly(Reply.DONE);
		assertThat(id(FORMER, Kind.EITHER)).isNull();
		assertThat(id(RENAMED, Kind.EITHER)).isNotNull();
	}

	private DurableTasks formerNode() {
		return idleNode(this.store).durable();
	}

	/**
	 * A node with a handler that has an earlier name. It runs nothing.
	 */
	private DurableTasks renamedNode() {
		TestNode node = idleNode(this.other);
		node.register(RENAMED.name(), List.of(FORMER.name()), (number, context) -> {
		});
		return node.durable();
	}

	private TestNode idleNode(DelayedTaskStore store) {
		TestNode node = TestNode.withoutHandler(store);
		this.nodes.add(node);
		return node;
	}

	private static DelayedTask<?> call(DurableTasks node) {
		return call(node, RENAMED, SOON);
	}

	private static DelayedTask<?> call(DurableTasks node, TaskId id, Duration delay) {
		return node.enqueueAll(List.of(DurableCall.of(id, delay, 2))).get(0);
	}

	@Test
	void aCallInATransactionLeavesTheSchedule() {
		DurableTasks node = renamedNode();
		DelayedTask<?> schedule = node.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> once = inTransaction(() -> call(node));
		assertThat(id(RENAMED, Kind.ONCE)).isEqualTo(once.id());
		assertThat(id(RENAMED, Kind.SCHEDULE)).isEqualTo(schedule.id());
	}

	@Test
	void aCancellationInATransactionTakesTheCallBeforeItThenTheSchedule() {
		DurableTasks node = renamedNode();
		DelayedTask<?> schedule = node.recur(RENAMED, Schedule.every(HOUR), 1);
		assertThat(inTransaction(() -> {
			call(node);
			return node.cancel(RENAMED);
		})).isTrue();
		assertThat(id(RENAMED, Kind.EITHER)).isEqualTo(schedule.id());
		assertThat(inTransaction(() -> {
			call(node);
			return List.of(node.cancel(RENAMED), node.cancel(RENAMED), node.cancel(RENAMED));
		})).containsExactly(true, true, false);
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
		node.recur(RENAMED, Schedule.every(HOUR), 1);
		call(node);
		assertThat(inTransaction(
				() -> List.of(node.cancel(RENAMED), node.reschedule(RENAMED, SOON), node.cancel(RENAMED))))
			.containsOnly(true);
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
	}

	@Test
	void aScheduleThatTheTransactionCancelsAgainIsNotStored() {
		DurableTasks node = renamedNode();
		DelayedTask<?> task = inTransaction(() -> {
			DelayedTask<?> recurring = node.recur(RENAMED, Schedule.every(HOUR), 1);
			assertThat(node.cancel(RENAMED)).isTrue();
			assertThat(node.cancel(RENAMED)).isFalse();
			return recurring;
		});
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
		assertThat(task.isCancelled()).isTrue();
		node.recur(RENAMED, Schedule.every(HOUR), 1);
		inTransaction(() -> {
			node.recur(RENAMED, Schedule.every(HOUR.multipliedBy(2)), 1);
			return node.cancel(RENAMED);
		});
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
	}

	@Test
	void theLastScheduleOfATransactionIsStoredAndCanBeMoved() {
		DurableTasks node = renamedNode();
		node.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> last = inTransaction(() -> {
			assertThat(node.cancel(RENAMED)).isTrue();
			node.recur(RENAMED, Schedule.every(HOUR.multipliedBy(2)), 1);
			DelayedTask<?> recurring = node.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 1);
			assertThat(node.reschedule(RENAMED, SOON)).isTrue();
			return recurring;
		});
		assertThat(this.store.find(Target.of(RENAMED, Kind.EITHER))).get().satisfies((task) -> {
			assertThat(task.id()).isEqualTo(last.id());
			assertThat(task.schedule()).extracting(StoredSchedule::text).isEqualTo("every(PT3H)");
			assertThat(task.dueAt()).isLessThan(this.store.now() + HOUR.toMillis());
		});
	}

	@Test
	void aRunningScheduleIsCancelledInATransaction() {
		DurableTasks node = formerNode();
		DelayedTask<?> schedule = node.recur(FORMER, Schedule.every(HOUR), 1);
		clockAhead(HOUR.plusMinutes(1));
		LeasedTask run = leased();
		DelayedTask<?> task = node.find(FORMER).orElseThrow();
		assertThat(task.id()).isEqualTo(schedule.id());
		assertThat(inTransaction(() -> task.cancel(false))).isTrue();
		assertThat(id(FORMER, Kind.EITHER)).isNull();
		assertThat(this.store.settle(List.of(new Acknowledge(run.ref())))).containsExactly(Reply.DONE);
	}

	/** A transaction on something else than the store. */
	private static <T> T inTransaction(Supplier<T> calls) {
		JdbcTransactionManager manager = new JdbcTransactionManager(
				new SimpleDriverDataSource(new Driver(), "jdbc:h2:mem:"));
		return new TransactionTemplate(manager).execute((status) -> calls.get());
	}

}
