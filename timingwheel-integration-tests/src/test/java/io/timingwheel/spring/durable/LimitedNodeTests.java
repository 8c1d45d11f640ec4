package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds up tasks on their nodes, on the store in memory: pauses, limits, runs that
 * are long, and a full wheel.
 */
class LimitedNodeTests extends StoreTestSupport {

	private static final Duration HOUR = Duration.ofHours(1);

	/** Long enough that a node which waits for a poll fails the test. */
	private static final Duration LONG_POLL = Duration.ofMinutes(2);

	/** Much less than {@link #LONG_POLL}, and enough for a busy machine. */
	private static final Duration SOON_ENOUGH = Duration.ofMinutes(1);

	private static final Duration LATE = Duration.ofMinutes(10);

	private final List<TestNode> nodes = new ArrayList<>();

	private final Queue<Integer> runs = new ConcurrentLinkedQueue<>();

	LimitedNodeTests() {
		super(TestStores::inMemory);
	}

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(this.nodes);
	}

	private TestNode node(TestNode node) {
		this.nodes.add(node);
		return node;
	}

	private TestNode start(DelayedTaskStore store) {
		return node(TestNode.start(store, (number, context) -> this.runs.add(number)));
	}

	private static Target target(String key) {
		return Target.of(new TaskId(TestNode.NAME, key), Kind.EITHER);
	}

	private StoredCounts stored() {
		return this.store.counts(List.of(TestNode.NAME)).getOrDefault(TestNode.NAME, StoredCounts.NONE);
	}

	private static PolicySettings policy(@Nullable Integer concurrent, @Nullable String rate) {
		return new PolicySettings(null, BackoffSettings.NONE, concurrent, null,
				(rate != null) ? StartRate.parse(rate) : null, null);
	}

	@Test
	void aNameThatThePolicyPausesIsNotStartedByThisNode() {
		PolicySettings paused = new PolicySettings(null, BackoffSettings.NONE, null, null, null, true);
		TestNode first = node(TestNode.with((number, context) -> this.runs.add(-number))
			.body("go on", (number, context) -> this.runs.add(number))
			.policy(paused)
			.start(this.store));
		first.enqueue("k", Duration.ZERO, 1);
		first.durable().enqueue(TaskId.of("go on", "k"), Duration.ofMillis(500), 2);
		await().until(() -> this.runs.size() == 1);
		assertThat(this.runs).containsExactly(2);
		start(this.other);
		await().until(() -> this.runs.size() == 2);
		assertThat(this.runs).containsExactly(2, 1);
	}

	/**
	 * The backlog of an outage: more tasks than a claim takes, and a schedule whose run
	 * has expired.
	 */
	@Test
	void whatHasExpiredCountsForNoRateAndHoldsUpNoFreshTask() {
		TestNode storing = node(TestNode.withoutHandler(this.store));
		enqueueExpired(storing, 150);
		storing.durable().recur(new TaskId(TestNode.NAME, "s"), Schedule.every(HOUR), 0);
		this.store.move(target("s"), new DueTime(this.store.now() - 120_000, true));
		TestNode node = node(TestNode.with((number, context) -> this.runs.add(number))
			.policy(policy(null, "1/h"))
			.expireAfter(Duration.ofMinutes(1))
			.start(this.store));
		await().until(() -> node.counts().expired() == 151);
		node.enqueue("fresh", Duration.ZERO, 1);
		await().until(() -> this.runs.size() == 1);
		node.enqueue("second of the hour", Duration.ZERO, 2);
		await().until(() -> stored().overdue() == 1);
		assertThat(this.store.find(target("s")))
			.hasValueSatisfying((schedule) -> assertThat(schedule.dueAt()).isGreaterThan(this.store.now()));
		assertThat(this.runs).containsExactly(1);
	}

	private void enqueueExpired(TestNode node, int count) {
		Instant due = Instant.ofEpochMilli(this.store.now()).minusSeconds(120);
		for (int i = 0; i < count; i++) {
			node.durable().enqueue(new TaskId(TestNode.NAME, "expired " + i), due.minusMillis(i), 0);
		}
	}

	/**
	 * The order of tasks in memory.
	 */
	@Test
	void aWaitingTaskThatShallRunNowKeepsItsPlaceAndDueTime() {
		CountDownLatch mayEnd = new CountDownLatch(1);
		try {
			TestNode node = node(TestNode.with((number, context) -> {
				this.runs.add(number);
				mayEnd.await();
			}).policy(policy(1, null)).start(this.store));
			node.enqueue("blocker", Duration.ZERO, -1);
			await().until(() -> this.runs.size() == 1);
			List<DelayedTask<?>> waiting = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				waiting.add(node.enqueue("t" + i, Duration.ZERO, i));
				long dueAt = waiting.get(i).dueAt().toEpochMilli();
				await().until(() -> this.store.now() > dueAt);
			}
			Instant due = waiting.get(1).dueAt();
			assertThat(waiting.get(1).reschedule(Duration.ZERO)).isTrue();
			assertThat(waiting.get(1).dueAt()).isEqualTo(due);
			assertThat(waiting.get(2).reschedule(Duration.ofHours(-1))).isTrue();
			mayEnd.countDown();
			await().until(() -> this.runs.size() == 5);
			assertThat(this.runs).containsExactly(-1, 0, 1, 2, 3);
		}
		finally {
			mayEnd.countDown();
		}
	}

	@Test
	void aTaskThatALimitedNodeStoresStartsAtItsTimeWithoutAPoll() {
		List<TestNode> four = new ArrayList<>();
		for (DelayedTaskStore store : List.of(this.store, this.other, node(), node())) {
			four.add(node(TestNode.with((number, context) -> this.runs.add(number))
				.policy(policy(2, null))
				.pollInterval(LONG_POLL)
				.start(store)));
		}
		Instant start = Instant.now();
		four.get(0).enqueue("moved", HOUR, 1);
		four.get(0).enqueue("soon", Duration.ofMillis(100), 2);
		four.get(0).enqueue("now", Duration.ZERO, 3);
		four.get(0).durable().reschedule(TaskId.of(TestNode.NAME, "moved"), Duration.ofMillis(200));
		await().until(() -> this.runs.size() == 3);
		assertThat(this.runs).containsExactlyInAnyOrder(1, 2, 3);
		assertThat(Duration.between(start, Instant.now())).isLessThan(SOON_ENOUGH);
	}

	@Test
	void aNodeWhoseWheelIsFullPausesItsClaims() {
		TestNode storing = node(TestNode.withoutHandler(this.store));
		for (int i = 0; i < 20; i++) {
			storing.durable().enqueue(new TaskId(TestNode.NAME, "k" + i), Duration.ofSeconds(6), i);
		}
		TestNode node = node(TestNode.with((argument, context) -> this.runs.add(argument))
			.lookAhead(LOOK_AHEAD)
			.maxPending(2)
			.start(this.other));
		await().until(() -> node.node().figure(Figure.RELEASED) > 0 || this.runs.size() == 20);
		long start = System.nanoTime();
		long claims = node.node().figure(Figure.CLAIMS);
		await().until(() -> node.node().figure(Figure.CLAIMS) >= claims + 3 || !this.runs.isEmpty());
		Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
		// On a slow machine the tasks may be due before the node has claimed that often.
		assertThat(!this.runs.isEmpty() || elapsed.compareTo(Duration.ofSeconds(1)) > 0).isTrue();
		await().until(() -> node.counts().completed() == 20);
		assertThat(this.runs).hasSize(20).doesNotHaveDuplicates();
	}

	private void startNodes(Missed missed, RecordedRuns runs) {
		for (DelayedTaskStore store : List.of(this.store, this.other)) {
			TestNode node = node(new TestNode.Setup().lease(Duration.ofDays(2)).start(store));
			node.register(
					new NumberHandler(RecordedRuns.ID.name(), runs::run, runs.threads, node.codec()).missed(missed));
		}
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
			List<Long> claims = this.nodes.stream().map(LimitedNodeTests::claims).toList();
			await().until(() -> IntStream.range(0, 2).allMatch((i) -> claims(this.nodes.get(i)) > claims.get(i) + 2));
			assertThat(runs.dueAt).containsExactly(task.dueAt());
			firstMayEnd.countDown();
			Instant next = task.dueAt().plus(HOUR.multipliedBy(11));
			await().until(() -> this.store.find(Target.of(task.id())).orElseThrow().dueAt() == next.toEpochMilli());
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

}
