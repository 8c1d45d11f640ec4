package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.durable.TestNode;
import io.timingwheel.spring.durable.TestSettings;
import io.timingwheel.spring.durable.TestStores;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node that runs tasks, and another that only stores them, while Redis fails in some
 * way.
 */
abstract class RedisNodeTestSupport extends StoreTestSupport {

	static final String PARTLY_GONE = "A part of the store of durable tasks does not answer";

	static final String GONE = "The store of durable tasks cannot be reached";

	static final String BACK = "The store of durable tasks is back after";

	/**
	 * Longer than an outage of a test lasts. A task whose claim had no reply waits until
	 * its lease ends.
	 */
	static final Duration LEASE_OF_NODE = Duration.ofSeconds(20);

	/** What the node that runs the tasks logs. */
	final TestLog log = new TestLog();

	/** How late each task has run, by the number of the task. */
	final Map<Integer, Duration> lateness = new ConcurrentHashMap<>();

	TestNode node;

	/** A node that only stores tasks. */
	TestNode storing;

	RedisNodeTestSupport(Function<Class<?>, ? extends TestStores> stores) {
		super(stores);
	}

	@BeforeEach
	void startNodes() throws Exception {
		this.node = this.log.of(() -> TestNode.start(this.store, this::run, new TestSettings().lease(LEASE_OF_NODE)));
		this.storing = TestNode.withoutHandler(this.other);
	}

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(List.of(this.node, this.storing));
	}

	void run(int number, DelayedTaskContext context) throws Exception {
		this.lateness.put(number, context.lateness());
	}

	/**
	 * Stores tasks.
	 * @param spread when the last one is due, while the first one is due now
	 * @return their numbers
	 */
	final Set<Integer> enqueue(int first, int count, Duration spread) {
		List<Integer> numbers = IntStream.range(first, first + count).boxed().toList();
		numbers.forEach((number) -> enqueue(number, spread.multipliedBy(number - first).dividedBy(count)));
		return Set.copyOf(numbers);
	}

	final void enqueue(int number, Duration delay) {
		this.storing.durable().enqueue(taskId(number), delay, number);
	}

	static TaskId taskId(int number) {
		return TaskId.of(TestNode.NAME, number);
	}

	final void awaitRun(Collection<Integer> numbers) {
		await().until(() -> this.lateness.keySet().containsAll(numbers));
	}

	final void awaitUp() {
		await().untilAsserted(() -> {
			assertThat(this.node.node().outage()).isNull();
		});
	}

	final void awaitEmptyStore() {
		await().until(() -> this.store.counts(List.of()).isEmpty());
	}

	final int timesLogged(String text) {
		return StringUtils.countOccurrencesOf(this.log.toString(), text);
	}

}
