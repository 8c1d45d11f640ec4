package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.durable.TestNode;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Redis restarts, loads its data, is busy or becomes a replica. Calls fail meanwhile with
 * the reason. Afterwards all tasks run without help.
 */
@Order(1)
@Tag("faults")
class RedisNodeFailureTests extends StoreTestSupport {

	private static final String PARTLY_GONE = "A part of the store of durable tasks does not answer";

	private static final String GONE = "The store of durable tasks cannot be reached";

	private static final String BACK = "The store of durable tasks is back after";

	/**
	 * Longer than an outage of a test lasts. A task whose claim had no reply waits until
	 * its lease ends.
	 */
	private static final Duration LEASE_OF_NODE = Duration.ofSeconds(20);

	/** What the node that runs the tasks logs. */
	private final TestLog log = new TestLog();

	/** How late each task has run, by the number of the task. */
	private final Map<Integer, Duration> lateness = new ConcurrentHashMap<>();

	private TestNode node;

	/** A node that only stores tasks. */
	private TestNode storing;

	/**
	 * A server that would need ten seconds to load ten thousand keys. The test ends the
	 * delay.
	 */
	@RegisterExtension
	static final RedisProcess server = RedisProcess.with("key-load-delay 1000", "rdbcompression no");

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(server);

	private static RedisClient client;

	private static RedisCommands<String, String> admin;

	/** Bodies wait for it until the test releases them. */
	private volatile CountDownLatch held = new CountDownLatch(0);

	RedisNodeFailureTests() {
		super((testClass) -> stores);
		admin.flushall();
	}

	@BeforeAll
	static void start() {
		client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
		admin = client.connect().sync();
	}

	@AfterAll
	static void stop() {
		client.shutdown();
	}

	@BeforeEach
	void startNodes() throws Exception {
		this.node = this.log.of(() -> TestNode.with(this::run).lease(LEASE_OF_NODE).start(this.store));
		this.storing = TestNode.withoutHandler(this.other);
	}

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(List.of(this.node, this.storing));
	}

	/**
	 * Stores tasks.
	 * @param spread when the last one is due, while the first one is due now
	 * @return their numbers
	 */
	private Set<Integer> enqueue(int first, int count, Duration spread) {
		List<Integer> numbers = IntStream.range(first, first + count).boxed().toList();
		numbers.forEach((number) -> enqueue(number, spread.multipliedBy(number - first).dividedBy(count)));
		return Set.copyOf(numbers);
	}

	private void enqueue(int number, Duration delay) {
		this.storing.durable().enqueue(taskId(number), delay, number);
	}

	private static TaskId taskId(int number) {
		return TaskId.of(TestNode.NAME, number);
	}

	private void awaitRun(Collection<Integer> numbers) {
		await().until(() -> this.lateness.keySet().containsAll(numbers));
	}

	private void awaitUp() {
		await().untilAsserted(() -> {
			assertThat(this.node.node().outage()).isNull();
		});
	}

	private void awaitEmptyStore() {
		await().until(() -> this.store.counts(List.of()).isEmpty());
	}

	private void run(int number, DelayedTaskContext context) throws Exception {
		this.lateness.put(number, context.lateness());
		this.held.await();
	}

	@Test
	void tasksThatRunWhileRedisRestartsAreAcknowledgedAndTheOthersFollow() {
		Set<Integer> tasks = enqueueAndHold();
		server.kill();
		this.held.countDown();
		try {
			awaitDownAndRefused("not connected");
		}
		finally {
			server.start();
		}
		awaitAllRun(tasks);
		assertSaidOnce();
		awaitAllCounted();
	}

	@Test
	void tasksWaitWhileRedisLoads() {
		// While Redis loads, it handles requests only once every two megabytes.
		String value = "x".repeat(4000);
		for (int start = 0; start < 10_000; start += 500) {
			admin.mset(IntStream.range(start, start + 500)
				.boxed()
				.collect(Collectors.toMap("key%d"::formatted, (key) -> value)));
		}
		rewrite();
		Set<Integer> tasks = enqueueAndHold();
		server.close();
		this.held.countDown();
		CompletableFuture<Void> loaded = CompletableFuture.runAsync(server::start, (task) -> new Thread(task).start());
		try {
			awaitDownAndRefused("LOADING");
		}
		finally {
			await().ignoreExceptions().until(() -> admin.configSet("key-load-delay", "0"), "OK"::equals);
			loaded.join();
		}
		awaitAllRun(tasks);
		assertSaidOnce();
		// The other tests need not load these keys.
		admin.flushall();
		rewrite();
	}

	private static void rewrite() {
		admin.bgrewriteaof();
		await().until(() -> {
			String persistence = admin.info("persistence");
			return persistence.contains("aof_rewrite_in_progress:0") && persistence.contains("aof_rewrite_scheduled:0");
		});
	}

	@Test
	void tasksWaitWhileAScriptOfSomebodyElseKeepsRedisBusy() {
		admin.configSet("lua-time-limit", "100");
		Set<Integer> tasks = enqueueAndHold();
		try (StatefulRedisConnection<String, String> busy = client.connect()) {
			busy.async().eval("while true do end", ScriptOutputType.STATUS);
			this.held.countDown();
			awaitDownAndRefused("BUSY");
		}
		finally {
			await().ignoreExceptionsInstanceOf(RedisBusyException.class).until(admin::scriptKill, "OK"::equals);
			// Redis answers SCRIPT KILL before the script has ended.
			await().ignoreExceptionsInstanceOf(RedisBusyException.class)
				.until(() -> admin.configSet("lua-time-limit", "5000"), "OK"::equals);
		}
		awaitAllRun(tasks);
		assertSaidOnce();
	}

	@Test
	void tasksWaitWhileRedisIsAReplica() {
		Set<Integer> tasks = enqueueAndHold();
		admin.replicaof("127.0.0.1", 1);
		try {
			this.held.countDown();
			awaitDownAndRefused("READONLY");
		}
		finally {
			admin.replicaofNoOne();
		}
		awaitAllRun(tasks);
		assertSaidOnce();
	}

	/**
	 * Stores tasks, and waits until the first of them run. They run until the test
	 * releases them, so the node still needs the store then.
	 */
	private Set<Integer> enqueueAndHold() {
		this.held = new CountDownLatch(1);
		Set<Integer> tasks = enqueue(0, 100, Duration.ofSeconds(1));
		await().until(() -> this.node.busyThreads() == 4);
		return tasks;
	}

	/**
	 * Waits until the node has counted each task once. The node counts a task after the
	 * store knows of its end.
	 */
	private void awaitAllCounted() {
		await().untilAsserted(() -> assertThat(this.node.counts().completed()).isEqualTo(this.lateness.size()));
	}

	/**
	 * Waits until the node reports that the store is down, and a call that stores a task
	 * fails for this reason.
	 */
	private void awaitDownAndRefused(String reason) {
		await().until(() -> this.node.node().outage() != null);
		await().untilAsserted(
				() -> assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> enqueue(-1, Duration.ZERO))
					.withMessageContaining(reason));
	}

	private void awaitAllRun(Set<Integer> tasks) {
		awaitRun(tasks);
		awaitUp();
		// The connection of the other node may come back later.
		await().ignoreExceptions().until(() -> this.other.now() > 0);
		Set<Integer> more = enqueue(1000, 10, Duration.ofMillis(100));
		awaitRun(more);
		awaitEmptyStore();
		Set<Integer> all = new HashSet<>(tasks);
		all.addAll(more);
		assertThat(this.lateness.keySet()).isEqualTo(all);
	}

	private void assertSaidOnce() {
		assertThat(this.log).containsOnlyOnce(GONE).containsOnlyOnce(BACK).doesNotContain(PARTLY_GONE);
	}

}
