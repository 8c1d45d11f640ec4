package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of nodes for names that are paused or whose starts are limited, over all
 * nodes of a store.
 */
public abstract class NodeLimitContractTests extends StoreTestSupport {

	private static final String OTHER_NAME = "send-mail";

	private static final Duration HOUR = Duration.ofHours(1);

	/** Long enough that a node which waits for a poll fails the test. */
	private static final Duration LONG_POLL = Duration.ofMinutes(2);

	/** Much less than {@link #LONG_POLL}, and enough for a busy machine. */
	private static final Duration SOON_ENOUGH = Duration.ofMinutes(1);

	private final List<TestNode> nodes = new ArrayList<>();

	private final Queue<Integer> runs = new ConcurrentLinkedQueue<>();

	protected NodeLimitContractTests(Function<Class<?>, ? extends TestStores> stores) {
		super(stores);
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

	private boolean isStored(String key) {
		return this.store.find(target(key)).isPresent();
	}

	private static Target target(String key) {
		return Target.of(new TaskId(TestNode.NAME, key), Kind.EITHER);
	}

	private StoredCounts stored() {
		return this.store.counts(List.of(TestNode.NAME)).getOrDefault(TestNode.NAME, StoredCounts.NONE);
	}

	private static PolicySettings policy(@Nullable Integer concurrent, @Nullable Integer perKey,
			@Nullable String rate) {
		return new PolicySettings(null, BackoffSettings.NONE, concurrent, perKey,
				(rate != null) ? StartRate.parse(rate) : null, null);
	}

	// Paused names

	@Test
	void aPausedNameIsNotStartedByAnyNodeAndItsTasksStayPending() {
		TestNode first = start(this.store);
		TestNode second = start(this.other);
		Duration delay = Duration.ofSeconds(1);
		enqueueAndPause(first, delay);
		while (!isStored("leased")) {
			// The machine was so slow that the task has begun before the pause.
			await().until(() -> this.runs.size() == 1);
			this.runs.clear();
			first.node().setPaused(TestNode.NAME, false);
			await().until(() -> !second.node().isPaused(TestNode.NAME));
			delay = delay.multipliedBy(3);
			enqueueAndPause(first, delay);
		}
		assertThat(first.node().isPaused(TestNode.NAME)).isTrue();
		await().until(() -> second.node().isPaused(TestNode.NAME));
		assertThat(second.node().mayHoldBack(TestNode.NAME)).isTrue();
		first.enqueue("a", Duration.ofMillis(1), 2);
		second.enqueue("b", Duration.ZERO, 3);
		await().until(() -> stored().overdue() == 3);
		assertThat(this.runs).isEmpty();
		assertThat(this.store.cancel(target("b"))).isTrue();
		assertThat(isStored("a")).isTrue();
		second.node().setPaused(TestNode.NAME, false);
		await().until(() -> this.runs.size() == 2);
		await().until(() -> !first.node().isPaused(TestNode.NAME));
		assertThat(this.runs).containsExactlyInAnyOrder(1, 2);
	}

	/**
	 * Pauses the name of a task that the node has leased, and waits until the node has
	 * given the task back or has run it.
	 */
	private static void enqueueAndPause(TestNode node, Duration delay) {
		node.enqueue("leased", delay, 1);
		node.node().setPaused(TestNode.NAME, true);
		await().until(() -> node.node().inFlight() == 0);
	}

	@Test
	void aNodeWithoutRoomGivesBackTheTasksOfANameThatAnotherNodePauses() {
		CountDownLatch mayEnd = new CountDownLatch(1);
		try {
			TestNode node = node(TestNode.start(this.store,
					Map.of(TestNode.NAME, (number, context) -> this.runs.add(number), OTHER_NAME,
							(number, context) -> mayEnd.await()),
					new TestSettings().maxInFlight(2).lookAhead(Duration.ofMinutes(1))));
			node.enqueue("leased", Duration.ofSeconds(45), 1);
			node.durable().enqueue(new TaskId(OTHER_NAME, "k"), Duration.ZERO, 2);
			await().until(() -> node.node().inFlight() == 2 && node.busyThreads() == 1);
			this.other.setPaused(TestNode.NAME, true);
			await().until(() -> node.node().inFlight() == 1);
			assertThat(this.runs).isEmpty();
			assertThat(isStored("leased")).isTrue();
		}
		finally {
			mayEnd.countDown();
		}
	}

	@Test
	void aNameThatThePolicyPausesIsNotStartedByThisNode() {
		PolicySettings paused = new PolicySettings(null, BackoffSettings.NONE, null, null, null, true);
		TestNode first = node(
				TestNode.start(this.store, Map.of(TestNode.NAME, (number, context) -> this.runs.add(-number), "go on",
						(number, context) -> this.runs.add(number)), paused, 4, Duration.ofMillis(200)));
		first.enqueue("k", Duration.ZERO, 1);
		first.durable().enqueue(TaskId.of("go on", "k"), Duration.ofMillis(500), 2);
		await().until(() -> this.runs.size() == 1);
		assertThat(this.runs).containsExactly(2);
		start(this.other);
		await().until(() -> this.runs.size() == 2);
		assertThat(this.runs).containsExactly(2, 1);
	}

	// Tasks that expire

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
		TestNode node = node(TestNode.start(this.store, (number, context) -> this.runs.add(number),
				policy(null, null, "1/h"), Duration.ofMinutes(1)));
		await().until(() -> node.counts().expired() == 151);
		node.enqueue("fresh", Duration.ZERO, 1);
		await().until(() -> this.runs.size() == 1);
		node.enqueue("second of the hour", Duration.ZERO, 2);
		await().until(() -> stored().overdue() == 1);
		assertThat(this.store.find(target("s")))
			.hasValueSatisfying((schedule) -> assertThat(schedule.dueAt()).isGreaterThan(this.store.now()));
		assertThat(this.runs).containsExactly(1);
	}

	@Test
	void whatHasExpiredTakesNoPlace() {
		CountDownLatch mayEnd = new CountDownLatch(1);
		try {
			TestNode node = node(TestNode.start(this.store, (number, context) -> {
				this.runs.add(number);
				mayEnd.await();
			}, policy(1, null, null), Duration.ofMinutes(1)));
			node.enqueue("blocker", Duration.ZERO, 1);
			await().until(() -> this.runs.size() == 1);
			enqueueExpired(node, 150);
			await().until(() -> node.counts().expired() == 150);
			node.enqueue("fresh", Duration.ZERO, 2);
			mayEnd.countDown();
			await().until(() -> this.runs.size() == 2);
		}
		finally {
			mayEnd.countDown();
		}
	}

	private void enqueueExpired(TestNode node, int count) {
		Instant due = Instant.ofEpochMilli(this.store.now()).minusSeconds(120);
		for (int i = 0; i < count; i++) {
			node.durable().enqueue(new TaskId(TestNode.NAME, "expired " + i), due.minusMillis(i), 0);
		}
	}

	// Limits

	/**
	 * The order of tasks in memory.
	 */
	@Test
	void aWaitingTaskThatShallRunNowKeepsItsPlaceAndDueTime() {
		CountDownLatch mayEnd = new CountDownLatch(1);
		try {
			TestNode node = node(TestNode.start(this.store, Map.of(TestNode.NAME, (number, context) -> {
				this.runs.add(number);
				mayEnd.await();
			}), policy(1, null, null), 4, Duration.ofMillis(200)));
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

	private List<TestNode> startFour(PolicySettings policy, Duration pollInterval, NumberBody body) throws Exception {
		List<TestNode> four = new ArrayList<>();
		for (DelayedTaskStore store : List.of(this.store, this.other, node(), node())) {
			four.add(node(TestNode.start(store, Map.of(TestNode.NAME, body), policy, 12, pollInterval)));
		}
		return four;
	}

	private void enqueueMany(int tasks) {
		node(TestNode.withoutHandler(this.store)).durable()
			.enqueueAll(IntStream.range(0, tasks)
				.mapToObj((i) -> DurableCall.of(TaskId.of(TestNode.NAME, i), Duration.ZERO, i))
				.toList());
	}

	@Test
	void fourNodesRunTenBodiesAtOnceNeitherMoreNorLess() throws Exception {
		int tasks = 300;
		int limit = 10;
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicInteger started = new AtomicInteger();
		CountDownLatch all = new CountDownLatch(limit);
		AtomicLong shortSince = new AtomicLong(Long.MAX_VALUE);
		AtomicLong longestShortage = new AtomicLong();
		enqueueMany(tasks);
		List<TestNode> four = startFour(policy(limit, null, null), LONG_POLL, (number, context) -> {
			int now = running.incrementAndGet();
			most.accumulateAndGet(now, Math::max);
			if (now >= limit || started.incrementAndGet() > tasks - 2 * limit) {
				long since = shortSince.getAndSet(Long.MAX_VALUE);
				longestShortage.accumulateAndGet((since != Long.MAX_VALUE) ? System.nanoTime() - since : 0, Math::max);
			}
			all.countDown();
			all.await();
			Thread.sleep(ThreadLocalRandom.current().nextInt(20));
			shortSince.accumulateAndGet(System.nanoTime(), Math::min);
			running.decrementAndGet();
		});
		await().until(() -> four.stream().mapToLong((node) -> node.counts().completed()).sum() == tasks);
		assertThat(most).hasValue(limit);
		assertThat(Duration.ofNanos(longestShortage.get())).isLessThan(SOON_ENOUGH);
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void theBodiesOfAKeyNeverOverlapAndKeepTheirOrder() throws Exception {
		int keys = 6;
		int runs = 8;
		Map<String, List<Integer>> order = new ConcurrentHashMap<>();
		Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
		Queue<String> overlaps = new ConcurrentLinkedQueue<>();
		TestNode storing = node(TestNode.withoutHandler(this.store));
		// Nodes find the tasks of the storing node when they poll.
		startFour(policy(null, 1, null), Duration.ofSeconds(1), (number, context) -> {
			String key = context.taskId().key();
			if (running.computeIfAbsent(key, (any) -> new AtomicInteger()).incrementAndGet() > 1) {
				overlaps.add(key);
			}
			order.computeIfAbsent(key, (any) -> new CopyOnWriteArrayList<>()).add(number);
			if (number + 1 < runs) {
				// The next task of the key is pending while this one runs.
				storing.durable().enqueue(TaskId.of(TestNode.NAME, key), Duration.ZERO, number + 1);
			}
			Thread.sleep(ThreadLocalRandom.current().nextInt(10));
			running.get(key).decrementAndGet();
		});
		for (int key = 0; key < keys; key++) {
			this.nodes.get(1).enqueue("key " + key, Duration.ZERO, 0);
		}
		await().until(() -> order.size() == keys && order.values().stream().allMatch((list) -> list.size() == runs));
		List<Integer> expected = IntStream.range(0, runs).boxed().toList();
		assertThat(order.values()).allSatisfy((list) -> assertThat(list).isEqualTo(expected));
		assertThat(overlaps).isEmpty();
	}

	@Test
	void nodesComeBackWhenTheRateAllowsTheNextStart() throws Exception {
		int tasks = 60;
		Queue<Long> starts = new ConcurrentLinkedQueue<>();
		enqueueMany(tasks);
		long start = System.nanoTime();
		startFour(policy(null, null, "60/s"), LONG_POLL, (number, context) -> starts.add(System.nanoTime()));
		await().until(() -> starts.size() == tasks);
		// Bodies that the store has begun may start late.
		long nanos = Collections.max(starts) - start;
		assertThat(Duration.ofNanos(nanos)).isBetween(Duration.ofMillis(600), SOON_ENOUGH);
	}

	@Test
	void aTaskThatALimitedNodeStoresStartsAtItsTimeWithoutAPoll() throws Exception {
		List<TestNode> four = startFour(policy(2, null, null), LONG_POLL, (number, context) -> this.runs.add(number));
		Instant start = Instant.now();
		four.get(0).enqueue("moved", HOUR, 1);
		four.get(0).enqueue("soon", Duration.ofMillis(100), 2);
		four.get(0).enqueue("now", Duration.ZERO, 3);
		four.get(0).durable().reschedule(TaskId.of(TestNode.NAME, "moved"), Duration.ofMillis(200));
		await().until(() -> this.runs.size() == 3);
		assertThat(this.runs).containsExactlyInAnyOrder(1, 2, 3);
		assertThat(Duration.between(start, Instant.now())).isLessThan(SOON_ENOUGH);
	}

}
