package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableNode.Figure;
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
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of nodes for schedules on any store: calls under earlier names, calls in
 * transactions that the store takes no part in, and the runs of all nodes.
 */
public abstract class NodeScheduleContractTests extends StoreTestSupport {

	private static final Duration HOUR = Duration.ofHours(1);

	/** A key under the earlier name of a handler. */
	private static final TaskId FORMER = new TaskId("remind", "k");

	private static final TaskId RENAMED = new TaskId("nudge", "k");

	private final List<TestNode> nodes = new ArrayList<>();

	protected NodeScheduleContractTests(Function<Class<?>, ? extends TestStores> stores) {
		super(stores);
	}

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(this.nodes);
	}

	private static Target either(TaskId id) {
		return Target.of(id, Kind.EITHER);
	}

	private StoredTask stored(String id) {
		return this.store.find(Target.of(id)).orElseThrow();
	}

	private List<StoredTask> pending(String name) {
		return this.store.list(new ListQuery(name, ListQuery.Order.PENDING, null, 10)).tasks();
	}

	/**
	 * A claim of a node that crashes.
	 */
	private static ClaimRequest request(String name, boolean suspect) {
		return new ClaimRequest("crashing", Map.of(name, new Share(10, 10)), 10, suspect, Duration.ZERO, LEASE,
				ANY_SIZE);
	}

	// Earlier names

	@Test
	void aCallThatRunsOnceLeavesTheScheduleUnderAnEarlierName() {
		DelayedTask<?> schedule = formerNode().recur(FORMER, Schedule.every(HOUR), 1);
		DurableTasks renamed = renamedNode();
		Instant before = Instant.ofEpochMilli(this.store.now());
		DelayedTask<?> once = call(renamed);
		assertThat(Duration.between(before, once.dueAt())).isBetween(SOON, SOON.plusSeconds(60));
		assertThat(this.store.find(Target.of(RENAMED, Kind.ONCE))).get()
			.extracting(StoredTask::id)
			.isEqualTo(once.id());
		assertThat(this.store.find(either(FORMER))).get().extracting(StoredTask::id).isEqualTo(schedule.id());
		assertThat(renamed.find(RENAMED)).get().extracting(DelayedTask::id).isEqualTo(once.id());
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(this.store.find(either(RENAMED))).isEmpty();
		assertThat(renamed.find(RENAMED)).get().extracting(DelayedTask::id).isEqualTo(schedule.id());
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(this.store.find(either(FORMER))).isEmpty();
		assertThat(renamed.cancel(RENAMED)).isFalse();
	}

	@Test
	void aTaskUnderAnEarlierNameComesBeforeTheSchedule() {
		DurableTasks renamed = renamedNode();
		DelayedTask<?> schedule = renamed.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> once = formerNode().enqueue(FORMER, HOUR, 2);
		assertThat(renamed.find(RENAMED)).get().extracting(DelayedTask::id).isEqualTo(once.id());
		assertThat(renamed.reschedule(RENAMED, SOON)).isTrue();
		assertThat(stored(once.id()).dueAt()).isLessThan(once.dueAt().toEpochMilli());
		assertThat(stored(schedule.id()).dueAt()).isEqualTo(schedule.dueAt().toEpochMilli());
		renamed.pending().cancellation(RENAMED).run();
		assertThat(this.store.find(Target.of(once.id()))).isEmpty();
		assertThat(renamed.reschedule(RENAMED, SOON)).isTrue();
		assertThat(stored(schedule.id()).dueAt()).isLessThan(schedule.dueAt().toEpochMilli());
		DelayedTask<?> second = formerNode().enqueue(FORMER, HOUR, 2);
		assertThat(renamed.cancel(RENAMED)).isTrue();
		assertThat(this.store.find(Target.of(second.id()))).isEmpty();
		assertThat(this.store.find(Target.of(schedule.id()))).isPresent();
	}

	@Test
	void aScheduleReplacesTheOneUnderAnEarlierName() {
		DurableTasks former = formerNode();
		DurableTasks renamed = renamedNode();
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
		assertOnlySchedule(renamed, moved);
		renamed.cancel(RENAMED);
		Instant overdue = former.recur(FORMER, Schedule.every(HOUR), 1).dueAt();
		clockAhead(HOUR.plusMinutes(1));
		assertThat(renamed.recur(RENAMED, Schedule.every(HOUR.multipliedBy(3)), 3).dueAt()).as("an overdue run")
			.isEqualTo(overdue);
		assertOnlySchedule(renamed, overdue);
	}

	private void assertOnlySchedule(DurableTasks renamed, Instant next) {
		assertThat(this.store.find(Target.of(FORMER, Kind.SCHEDULE))).isEmpty();
		assertThat(this.store.find(Target.of(RENAMED, Kind.SCHEDULE))).get()
			.extracting(StoredTask::dueAt)
			.isEqualTo(next.toEpochMilli());
		assertThat(pending(RENAMED.name())).hasSize(1);
	}

	@Test
	void aScheduleThatIsReplacedUnderItsNewNameDuringARunGoesOnAfterThisRun() {
		DelayedTask<?> schedule = formerNode().recur(FORMER, Schedule.every(HOUR), 1);
		clockAhead(HOUR.plusMinutes(1));
		LeasedTask run = this.store.claim(request(FORMER.name(), false)).tasks().get(0);
		assertThat(run.id()).isEqualTo(schedule.id());
		Instant next = renamedNode().recur(RENAMED, Schedule.every(HOUR), 2).dueAt();
		assertThat(next).isEqualTo(schedule.dueAt().plus(HOUR));
		assertThat(this.store
			.settle(List.of(new Repeat(run.ref(), Schedule.every(HOUR).toString(), DueTime.after(HOUR), null))))
			.containsExactly(Reply.DONE);
		assertThat(this.store.find(either(FORMER))).isEmpty();
		assertThat(this.store.find(either(RENAMED))).isPresent();
	}

	private DurableTasks formerNode() {
		return idleNode(this.store).durable();
	}

	/**
	 * A node with a handler that has an earlier name. It runs nothing.
	 */
	private DurableTasks renamedNode() {
		TestNode node = idleNode(this.other);
		node.register(RENAMED.name(), List.of(FORMER.name()), Missed.ONCE, null, () -> Runnable::run);
		return node.durable();
	}

	private TestNode idleNode(DelayedTaskStore store) {
		TestNode node = TestNode.withoutHandler(store);
		this.nodes.add(node);
		return node;
	}

	private static DelayedTask<?> call(DurableTasks node) {
		return node.enqueue(RENAMED, SOON, 2);
	}

	// In a transaction that the store takes no part in

	@Test
	void aCallInATransactionLeavesTheSchedule() {
		DurableTasks node = renamedNode();
		DelayedTask<?> schedule = node.recur(RENAMED, Schedule.every(HOUR), 1);
		DelayedTask<?> once = inTransaction(() -> call(node));
		assertThat(this.store.find(Target.of(RENAMED, Kind.ONCE))).get()
			.extracting(StoredTask::id)
			.isEqualTo(once.id());
		assertThat(this.store.find(Target.of(RENAMED, Kind.SCHEDULE))).get()
			.extracting(StoredTask::id)
			.isEqualTo(schedule.id());
	}

	@Test
	void aCancellationInATransactionTakesTheCallBeforeItThenTheSchedule() {
		DurableTasks node = renamedNode();
		DelayedTask<?> schedule = node.recur(RENAMED, Schedule.every(HOUR), 1);
		assertThat(inTransaction(() -> {
			call(node);
			return node.cancel(RENAMED);
		})).isTrue();
		assertThat(this.store.find(either(RENAMED))).get().extracting(StoredTask::id).isEqualTo(schedule.id());
		assertThat(inTransaction(() -> {
			call(node);
			return List.of(node.cancel(RENAMED), node.cancel(RENAMED), node.cancel(RENAMED));
		})).containsExactly(true, true, false);
		assertThat(this.store.find(either(RENAMED))).isEmpty();
		node.recur(RENAMED, Schedule.every(HOUR), 1);
		call(node);
		assertThat(inTransaction(
				() -> List.of(node.cancel(RENAMED), node.reschedule(RENAMED, SOON), node.cancel(RENAMED))))
			.containsOnly(true);
		assertThat(this.store.find(either(RENAMED))).isEmpty();
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
		assertThat(this.store.find(either(RENAMED))).isEmpty();
		assertThat(task.isCancelled()).isTrue();
		node.recur(RENAMED, Schedule.every(HOUR), 1);
		inTransaction(() -> {
			node.recur(RENAMED, Schedule.every(HOUR.multipliedBy(2)), 1);
			return node.cancel(RENAMED);
		});
		assertThat(this.store.find(either(RENAMED))).isEmpty();
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
		assertThat(this.store.find(either(RENAMED))).get().satisfies((task) -> {
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
		LeasedTask run = this.store.claim(request(FORMER.name(), false)).tasks().get(0);
		DelayedTask<?> task = node.find(FORMER).orElseThrow();
		assertThat(task.id()).isEqualTo(schedule.id());
		assertThat(inTransaction(() -> task.cancel(false))).isTrue();
		assertThat(this.store.find(either(FORMER))).isEmpty();
		assertThat(this.store.settle(List.of(new Acknowledge(run.ref())))).containsExactly(Reply.DONE);
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
		await().until(() -> this.nodes.stream().allMatch((node) -> node.node().inFlight() == 0));
		for (int i = 0; i < 5; i++) {
			List<Instant> times = List.copyOf(runs.get(i));
			assertThat(times).doesNotHaveDuplicates().isSorted().startsWith(first.get(i));
			for (Instant time : times) {
				assertThat(Duration.between(first.get(i), time).toMillis() % 200).isZero();
			}
		}
		assertThat(this.store.counts(List.of())).doesNotContainKey(TestNode.NAME);
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
			List<Long> claims = this.nodes.stream().map(NodeScheduleContractTests::claims).toList();
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
			assertThat(this.store.cancel(either(RecordedRuns.ID))).isTrue();
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
			node.register(RecordedRuns.ID.name(), List.of(), missed, runs::run, () -> runs.threads);
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
		return node.node().figure(Figure.CLAIMS);
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
				full.register(RecordedRuns.ID.name(), List.of(), Missed.SKIP, runs::run, () -> (run) -> {
					refused.incrementAndGet();
					throw new RejectedExecutionException("full");
				});
				await().until(() -> refused.get() > 0);
			}
			assertThat(stored(task.id()).state()).isEqualTo(State.SCHEDULED);
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
		await().until(() -> this.store.find(either(RecordedRuns.ID))
			.filter((task) -> task.state() == State.SCHEDULED)
			.map(StoredTask::schedule)
			.filter(expected::equals)
			.isPresent());
	}

}
