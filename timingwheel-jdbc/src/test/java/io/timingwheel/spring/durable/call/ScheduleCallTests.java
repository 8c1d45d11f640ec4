package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.timingwheel.spring.aop.internal.DurableMethod;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.Settlement.Acknowledge;
import io.timingwheel.spring.durable.store.Settlement.Repeat;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder;
import org.h2.Driver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls for schedules: under an earlier name, and in a transaction that the store takes
 * no part in. The schedules of methods are stored once, and come back if the store has
 * lost them.
 */
@ExtendWith(OutputCaptureExtension.class)
class ScheduleCallTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration SOON = Duration.ofSeconds(90);

	/** A key under the earlier name of a handler. */
	private static final TaskId FORMER = new TaskId("remind", "k");

	private static final TaskId RENAMED = new TaskId("nudge", "k");

	/** The names whose part of the store does not answer. */
	private final Set<String> unreachable = new HashSet<>();

	private final InMemoryTaskStore store = new InMemoryTaskStore() {

		@Override
		public Enqueued recur(NewSchedule schedule) {
			if (ScheduleCallTests.this.unreachable.contains(schedule.name())) {
				throw new IllegalStateException("This part does not answer");
			}
			return super.recur(schedule);
		}

	};

	private final DurableTasks former = tasks();

	/** Of a node with a handler that has an earlier name. */
	private final DurableTasks renamed = tasks();

	ScheduleCallTests() {
		this.renamed.register(method(RENAMED.name(), List.of(FORMER.name()), null));
	}

	private DurableTasks tasks() {
		StoreAccess access = new StoreAccess(this.store, new DurableHandlers(), (name) -> new TaskRecorder(),
				System::nanoTime, (name, millis) -> {
				});
		PayloadCodec codec = new PayloadCodec(JsonMapper.builder().build(), 1024, List::of);
		return new DurableTasks(access, codec, null, new DefaultListableBeanFactory());
	}

	private static DurableMethod method(String name, List<String> aliases, @Nullable Missed missed) {
		return new DurableMethod(name, aliases, ReflectionUtils.findMethod(Object.class, "hashCode"),
				(missed != null) ? List.of() : List.of(int.class), () -> Runnable::run, null, false, missed,
				(arguments) -> null, (error, arguments) -> {
				});
	}

	private void clockAhead(Duration offset) {
		this.store.testing().setClock(() -> System.currentTimeMillis() + offset.toMillis());
	}

	private LeasedTask leased() {
		return this.store
			.claim(new ClaimRequest("crashing", Map.of(FORMER.name(), new Share(10, 10)), 10, false, Duration.ZERO,
					HOUR, 1024))
			.tasks()
			.get(0);
	}

	private @Nullable String id(TaskId id, Kind kind) {
		return this.store.find(Target.of(id, kind)).map(StoredTask::id).orElse(null);
	}

	private StoredTask stored(String id) {
		return this.store.find(Target.of(id)).orElseThrow();
	}

	@Test
	void aCallThatRunsOnceLeavesTheScheduleUnderAnEarlierName() {
		DelayedTask<?> schedule = this.former.recur(FORMER, Schedule.every(HOUR), 1);
		Instant before = Instant.ofEpochMilli(this.store.now());
		DelayedTask<?> once = call();
		assertThat(Duration.between(before, once.dueAt())).isBetween(SOON, SOON.plusSeconds(60));
		assertThat(id(RENAMED, Kind.ONCE)).isEqualTo(once.id());
		assertThat(id(FORMER, Kind.EITHER)).isEqualTo(schedule.id());
		assertThat(this.renamed.find(RENAMED).map(DelayedTask::id)).contains(once.id());
		assertThat(this.renamed.cancel(RENAMED)).as("under both names").isTrue();
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
		assertThat(id(FORMER, Kind.EITHER)).isNull();
		assertThat(this.renamed.cancel(RENAMED)).isFalse();
	}

	@Test
	void aScheduleReplacesTheOneUnderAnEarlierName() {
		Instant next = this.former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		call(this.former, FORMER, HOUR);
		clockAhead(Duration.ofMinutes(10));
		assertThat(this.renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("the same schedule")
			.isEqualTo(next);
		assertOnlySchedule(next);
		this.former.recur(FORMER, Schedule.every(HOUR), 1);
		assertThat(this.renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("its own time").isEqualTo(next);
		assertOnlySchedule(next);
		this.former.recur(FORMER, Schedule.every(HOUR), 1);
		Instant later = this.renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 3).dueAt();
		assertThat(later).isAfterOrEqualTo(next.plus(HOUR));
		assertOnlySchedule(later);
		assertThat(this.store.find(Target.of(FORMER, Kind.ONCE))).as("a task that runs once").isPresent();
	}

	@Test
	void aScheduleThatReplacesTheOneUnderAnEarlierNameKeepsItsDueTime() {
		Instant next = this.former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		assertThat(this.former.reschedule(FORMER, HOUR.multipliedBy(2))).isTrue();
		Instant moved = this.former.find(FORMER).orElseThrow().dueAt();
		assertThat(moved).isAfter(next);
		assertThat(this.renamed.recur(RENAMED, Schedule.every(HOUR), 3).dueAt()).as("a run that was put off")
			.isEqualTo(moved);
		assertOnlySchedule(moved);
		this.renamed.cancel(RENAMED);
		Instant overdue = this.former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		clockAhead(HOUR.plusMinutes(1));
		assertThat(this.renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 3).dueAt()).as("an overdue run")
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
		DelayedTask<?> schedule = this.former.recur(FORMER, Schedule.every(HOUR), 1);
		clockAhead(HOUR.plusMinutes(1));
		LeasedTask run = leased();
		assertThat(run.id()).isEqualTo(schedule.id());
		this.renamed.recur(RENAMED, Schedule.every(HOUR), 2);
		assertThat(this.store
			.settle(List.of(new Repeat(run.ref(), Schedule.every(HOUR).toString(), DueTime.after(HOUR), null))))
			.containsExactly(Reply.DONE);
		assertThat(id(FORMER, Kind.EITHER)).isNull();
		assertThat(id(RENAMED, Kind.EITHER)).isNotNull();
	}

	private DelayedTask<?> call() {
		return call(this.renamed, RENAMED, SOON);
	}

	private static DelayedTask<?> call(DurableTasks node, TaskId id, Duration delay) {
		return node.enqueueAll(List.of(DurableCall.of(id, delay, 2))).get(0);
	}

	@Test
	void aCallInATransactionLeavesTheSchedule() {
		DelayedTask<?> schedule = this.renamed.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> once = inTransaction(this::call);
		assertThat(id(RENAMED, Kind.ONCE)).isEqualTo(once.id());
		assertThat(id(RENAMED, Kind.SCHEDULE)).isEqualTo(schedule.id());
	}

	@Test
	void aCancellationInATransactionTakesTheCallBeforeItThenTheSchedule() {
		DelayedTask<?> schedule = this.renamed.recur(RENAMED, Schedule.every(HOUR), 1);
		assertThat(inTransaction(() -> {
			call();
			return this.renamed.cancel(RENAMED);
		})).isTrue();
		assertThat(id(RENAMED, Kind.EITHER)).isEqualTo(schedule.id());
		assertThat(inTransaction(() -> {
			call();
			return List.of(this.renamed.cancel(RENAMED), this.renamed.cancel(RENAMED), this.renamed.cancel(RENAMED));
		})).containsExactly(true, true, false);
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
		this.renamed.recur(RENAMED, Schedule.every(HOUR), 1);
		call();
		assertThat(inTransaction(() -> List.of(this.renamed.cancel(RENAMED), this.renamed.reschedule(RENAMED, SOON),
				this.renamed.cancel(RENAMED))))
			.containsOnly(true);
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
	}

	@Test
	void aScheduleThatTheTransactionCancelsAgainIsNotStored() {
		DelayedTask<?> task = inTransaction(() -> {
			DelayedTask<?> recurring = this.renamed.recur(RENAMED, Schedule.every(HOUR), 1);
			assertThat(this.renamed.cancel(RENAMED)).isTrue();
			assertThat(this.renamed.cancel(RENAMED)).isFalse();
			return recurring;
		});
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
		assertThat(task.isCancelled()).isTrue();
		this.renamed.recur(RENAMED, Schedule.every(HOUR), 1);
		inTransaction(() -> {
			this.renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(2)), 1);
			return this.renamed.cancel(RENAMED);
		});
		assertThat(id(RENAMED, Kind.EITHER)).isNull();
	}

	@Test
	void theLastScheduleOfATransactionIsStoredAndCanBeMoved() {
		this.renamed.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> last = inTransaction(() -> {
			assertThat(this.renamed.cancel(RENAMED)).isTrue();
			this.renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(2)), 1);
			DelayedTask<?> recurring = this.renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 1);
			assertThat(this.renamed.reschedule(RENAMED, SOON)).isTrue();
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
		DelayedTask<?> schedule = this.former.recur(FORMER, Schedule.every(HOUR), 1);
		clockAhead(HOUR.plusMinutes(1));
		LeasedTask run = leased();
		DelayedTask<?> task = this.former.find(FORMER).orElseThrow();
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

	@Test
	void eachScheduleIsStoredOnceAndAPartThatDoesNotAnswerHoldsUpNoOther() {
		declare("a", "b", "c");
		this.unreachable.add("b");
		this.former.start();
		assertThat(declared()).as("the start waits for one failing request at most").containsExactly("a");
		assertThat(this.former.schedules().lookAfter()).isFalse();
		assertThat(declared()).containsExactly("a", "c");
		this.unreachable.clear();
		assertThat(this.former.schedules().lookAfter()).isTrue();
		assertThat(declared()).containsExactly("a", "b", "c");
	}

	@Test
	void whatTheStoreHasLostIsStoredAgainWithAWarning(CapturedOutput output) {
		declare("a", "b", "c");
		assertThat(this.former.schedules().lookAfter()).isTrue();
		assertThat(this.former.schedules().lookAfter()).isTrue();
		assertThat(output).doesNotContain("had lost");
		this.store.testing().deleteAll();
		this.unreachable.add("b");
		this.former.schedules().lookAfter();
		assertThat(declared()).containsExactly("a", "c");
		this.unreachable.clear();
		this.former.schedules().lookAfter();
		assertThat(declared()).containsExactly("a", "b", "c");
		this.former.schedules().lookAfter();
		assertThat(output).containsOnlyOnce("had lost the schedules of [a, c],")
			.containsOnlyOnce("had lost the schedules of [b],");
	}

	@Test
	void whatIsCancelledStaysCancelled(CapturedOutput output) {
		declare("a", "b");
		this.former.schedules().lookAfter();
		assertThat(this.store.cancel(declared("a"))).isTrue();
		this.former.schedules().lookAfter();
		assertThat(declared()).containsExactly("b");
		assertThat(output).doesNotContain("had lost");
	}

	@Test
	void aCancelledScheduleLeavesThatOfAnOlderReleaseUnderItsEarlierName() {
		this.renamed.registerSchedule(method("b", List.of("a"), Missed.ONCE), Schedule.every(HOUR), Duration.ZERO);
		this.renamed.start();
		assertThat(this.store.cancel(declared("b"))).isTrue();
		declare("a");
		this.former.start();
		this.renamed.schedules().lookAfter();
		assertThat(declared()).containsExactly("a");
	}

	private void declare(String... names) {
		for (String name : names) {
			this.former.registerSchedule(method(name, List.of(), Missed.ONCE), Schedule.every(HOUR), Duration.ZERO);
		}
	}

	private List<String> declared() {
		return Stream.of("a", "b", "c").filter((name) -> this.store.find(declared(name)).isPresent()).toList();
	}

	private static Target declared(String name) {
		return Target.of(new TaskId(name, DelayedTaskStore.DECLARED_KEY), Kind.SCHEDULE);
	}

}
