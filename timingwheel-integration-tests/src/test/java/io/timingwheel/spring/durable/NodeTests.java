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
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Nodes on each store: they share what is there, and keep limits together. */
abstract class NodesOnAStore {

	private static final String NAME = "count";

	/** Long enough that a node which waits for a poll fails the test. */
	private static final String LONG_POLL = "timingwheel.store.poll-interval=2m";

	/** Much less than {@link #LONG_POLL}, and enough for a busy machine. */
	private static final Duration SOON_ENOUGH = Duration.ofMinutes(1);

	private final List<ConfigurableApplicationContext> nodes = new ArrayList<>();

	private final Map<Integer, AtomicInteger> runs = new ConcurrentHashMap<>();

	private final TestStore kind;

	/** The store of the first node. */
	private DelayedTaskStore store;

	/** The store of the second node. */
	private DelayedTaskStore other;

	NodesOnAStore(TestStore store) {
		this.kind = store;
	}

	@BeforeEach
	void openStores() {
		this.store = open();
		this.other = open();
		this.store.testing().deleteAll();
	}

	private DelayedTaskStore open() {
		return this.kind.open(getClass());
	}

	@AfterEach
	void closeNodes() {
		this.nodes.forEach(ConfigurableApplicationContext::close);
	}

	/** Starts a node that only stores tasks. */
	private DelayedTaskOperations storing() {
		return start(this.store, null).getBean(DelayedTaskOperations.class);
	}

	/** Starts a node whose tasks have this body. */
	private ApplicationContext start(DelayedTaskStore store, Counting.@Nullable Body body, String... properties) {
		AnnotationConfigApplicationContext node = new AnnotationConfigApplicationContext();
		this.nodes.add(node);
		// A node that stalls for some time does not lose this lease.
		TestPropertyValues.of("timingwheel.store.lease=1m", "timingwheel.store.poll-interval=200ms")
			.and(properties)
			.applyTo(node);
		node.registerBean(DelayedTaskStore.class, () -> store, (definition) -> definition.setDestroyMethodName(""));
		if (body != null) {
			node.registerBean(Counting.class, () -> new Counting(body));
		}
		node.register(Config.class);
		node.refresh();
		return node;
	}

	private List<ApplicationContext> startFour(Counting.Body body, String... properties) {
		return Stream.of(this.store, this.other, open(), open())
			.map((store) -> start(store, body, properties))
			.toList();
	}

	private static long completed(ApplicationContext node) {
		return node.getBean(DelayedTaskRegistry.class).counts(NAME).completed();
	}

	private void enqueueMany(int tasks) {
		storing().enqueueAll(IntStream.range(0, tasks)
			.mapToObj((i) -> DurableCall.of(TaskId.of(NAME, i), Duration.ZERO, i))
			.toList());
	}

	private void count(int number) {
		this.runs.computeIfAbsent(number, (key) -> new AtomicInteger()).incrementAndGet();
	}

	@Test
	void aBacklogIsSharedAndEachTaskRunsOnce() {
		int tasks = 1000;
		enqueueMany(tasks);
		CountDownLatch bothRun = new CountDownLatch(1);
		ApplicationContext first = start(this.store, (number, context) -> {
			bothRun.await();
			count(number);
		});
		ApplicationContext second = start(this.other, (number, context) -> {
			bothRun.countDown();
			count(number);
		});
		await().until(() -> completed(first) + completed(second) == tasks);
		assertThat(this.runs).hasSize(tasks).allSatisfy((key, runs) -> assertThat(runs).hasValue(1));
		assertThat(completed(first)).isPositive();
		assertThat(completed(second)).isPositive();
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void fourNodesRunTenBodiesAtOnceNeitherMoreNorLess() {
		int tasks = 300;
		int limit = 10;
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicInteger started = new AtomicInteger();
		CountDownLatch all = new CountDownLatch(limit);
		AtomicLong shortSince = new AtomicLong(Long.MAX_VALUE);
		AtomicLong longestShortage = new AtomicLong();
		enqueueMany(tasks);
		List<ApplicationContext> four = startFour((number, context) -> {
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
		}, LONG_POLL, "timingwheel.tasks.count.max-concurrent=" + limit, "spring.task.execution.pool.core-size=12");
		await().until(() -> four.stream().mapToLong(NodesOnAStore::completed).sum() == tasks);
		assertThat(most).hasValue(limit);
		assertThat(Duration.ofNanos(longestShortage.get())).isLessThan(SOON_ENOUGH);
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void theBodiesOfAKeyNeverOverlapAndKeepTheirOrder() {
		int keys = 6;
		int runs = 8;
		Map<String, List<Integer>> order = new ConcurrentHashMap<>();
		Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
		Queue<String> overlaps = new ConcurrentLinkedQueue<>();
		DelayedTaskOperations storing = storing();
		// Nodes find the tasks of the storing node when they poll.
		List<ApplicationContext> four = startFour((number, context) -> {
			String key = context.taskId().key();
			if (running.computeIfAbsent(key, (any) -> new AtomicInteger()).incrementAndGet() > 1) {
				overlaps.add(key);
			}
			order.computeIfAbsent(key, (any) -> new CopyOnWriteArrayList<>()).add(number);
			if (number + 1 < runs) {
				// The next task of the key is pending while this one runs.
				storing.enqueue(TaskId.of(NAME, key), Duration.ZERO, number + 1);
			}
			Thread.sleep(ThreadLocalRandom.current().nextInt(10));
			running.get(key).decrementAndGet();
		}, "timingwheel.tasks.count.max-concurrent-per-key=1", "timingwheel.store.poll-interval=1s");
		for (int key = 0; key < keys; key++) {
			four.get(0).getBean(DelayedTaskOperations.class).enqueue(TaskId.of(NAME, "key " + key), Duration.ZERO, 0);
		}
		await().until(() -> order.size() == keys && order.values().stream().allMatch((list) -> list.size() == runs));
		List<Integer> expected = IntStream.range(0, runs).boxed().toList();
		assertThat(order.values()).allSatisfy((list) -> assertThat(list).isEqualTo(expected));
		assertThat(overlaps).isEmpty();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, JacksonAutoConfiguration.class,
			TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class })
	static class Config {

	}

	static class Counting {

		private final Body body;

		Counting(Body body) {
			this.body = body;
		}

		@Delayed(delay = "0s", name = NAME, key = "#number", durable = true)
		public void count(int number) throws Exception {
			this.body.run(number, DelayedTaskContext.current().orElseThrow());
		}

		interface Body {

			void run(int number, DelayedTaskContext context) throws Exception;

		}

	}

}

@Order(2)
@ParameterizedClass
@EnumSource(names = { "H2", "POSTGRESQL", "REDIS" })
class NodeTests extends NodesOnAStore {

	NodeTests(TestStore store) {
		super(store);
	}

}

/** On the servers that take long to start. */
@Order(2)
@Tag("servers")
@ParameterizedClass
@EnumSource(names = { "MARIADB", "REDIS_CLUSTER" })
class NodeServerTests extends NodesOnAStore {

	NodeServerTests(TestStore store) {
		super(store);
	}

}
