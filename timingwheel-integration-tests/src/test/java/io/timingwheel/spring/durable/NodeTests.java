package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.ArrayList;
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
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nodes on each store: they share what is there, and keep limits together.
 */
@Order(2)
@ParameterizedClass
@EnumSource
class NodeTests extends StoreTestSupport {

	/** Long enough that a node which waits for a poll fails the test. */
	private static final Duration LONG_POLL = Duration.ofMinutes(2);

	/** Much less than {@link #LONG_POLL}, and enough for a busy machine. */
	private static final Duration SOON_ENOUGH = Duration.ofMinutes(1);

	private final List<TestNode> nodes = new ArrayList<>();

	private final Map<Integer, AtomicInteger> runs = new ConcurrentHashMap<>();

	NodeTests(TestStore store) {
		super(store::stores);
	}

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(this.nodes);
	}

	private TestNode node(TestNode node) {
		this.nodes.add(node);
		return node;
	}

	private void count(int argument) {
		this.runs.computeIfAbsent(argument, (key) -> new AtomicInteger()).incrementAndGet();
	}

	@Test
	void aBacklogIsSharedAndEachTaskRunsOnce() {
		int tasks = 1000;
		TestNode storing = node(TestNode.withoutHandler(this.store));
		storing.durable()
			.enqueueAll(IntStream.range(0, tasks)
				.mapToObj((i) -> DurableCall.of(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO, i))
				.toList());
		CountDownLatch bothRun = new CountDownLatch(1);
		TestNode first = node(TestNode.start(this.store, (argument, context) -> {
			bothRun.await();
			count(argument);
		}));
		TestNode second = node(TestNode.start(this.other, (argument, context) -> {
			bothRun.countDown();
			count(argument);
		}));
		await().until(() -> first.counts().completed() + second.counts().completed() == tasks);
		assertThat(this.runs).hasSize(tasks).allSatisfy((key, runs) -> assertThat(runs).hasValue(1));
		assertThat(first.counts().completed()).isPositive();
		assertThat(second.counts().completed()).isPositive();
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	private static PolicySettings policy(@Nullable Integer concurrent, @Nullable Integer perKey) {
		return new PolicySettings(null, BackoffSettings.NONE, concurrent, perKey, null, null);
	}

	private List<TestNode> startFour(PolicySettings policy, Duration pollInterval, NumberBody body) throws Exception {
		List<TestNode> four = new ArrayList<>();
		for (DelayedTaskStore store : List.of(this.store, this.other, node(), node())) {
			four.add(node(TestNode.with(body).policy(policy).threads(12).pollInterval(pollInterval).start(store)));
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
		List<TestNode> four = startFour(policy(limit, null), LONG_POLL, (number, context) -> {
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
		startFour(policy(null, 1), Duration.ofSeconds(1), (number, context) -> {
			String key = context.taskId().key();
			if (running.computeIfAbsent(key, (any) -> new AtomicInteger()).incrementAndGet() > 1) {
				overlaps.add(key);
			}
			order.computeIfAbsent(key, (any) -> new CopyOnWriteArrayList<>()).add(number);
			if (number + 1 < runs) {
				// The next task of the key is pending while this one runs.
				storing.enqueue(key, Duration.ZERO, number + 1);
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

}
