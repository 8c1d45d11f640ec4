package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.awaitility.pollinterval.FibonacciPollInterval.fibonacci;

/**
 * A replica takes the place of a primary. All tasks whose writes the replica has
 * acknowledged run.
 */
@Tag("faults")
class RedisFailoverTests extends RedisTestSupport {

	private static final int LOST = 1;

	/** The replica of the server that is down. */
	private static final int HEIR = LOST + 3;

	/** Each primary has some of them. */
	private static final List<String> NAMES = IntStream.range(0, 20).mapToObj((i) -> NAME + i).toList();

	private final RedisCluster cluster = RedisCluster.withReplicas();

	private final RedisStores stores = RedisStores.on(this.cluster, Duration.ofSeconds(5));

	private final Set<String> executed = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean over = new AtomicBoolean();

	private final Thread executing = new Thread(this::execute);

	private DelayedTaskStore store;

	/** A store that waits for no replica. */
	private DelayedTaskStore other;

	@BeforeEach
	void start() {
		this.store = this.stores.node(RedisStores.waiting(Duration.ofSeconds(10)));
		this.store.check();
		this.other = this.stores.node();
		this.executing.start();
	}

	@AfterEach
	void stop() throws Exception {
		this.over.set(true);
		this.executing.join();
		this.stores.close();
		this.cluster.close();
	}

	private void execute() {
		DelayedTaskStore node = this.stores.node();
		Duration lease = Duration.ofSeconds(15);
		Map<String, Share> shares = NAMES.stream()
			.collect(Collectors.toMap((name) -> name, (name) -> new Share(100, 0)));
		for (int i = 0; !this.over.get(); i++) {
			// A reply may get lost with the primary, and then the task is a suspect.
			ClaimRequest request = new ClaimRequest("a", shares, 100, i % 10 == 0, Duration.ZERO, lease,
					Long.MAX_VALUE);
			try {
				List<LeasedTask> tasks = node.claim(request).tasks();
				if (!tasks.isEmpty()) {
					node.begin(tasks.stream().map(LeasedTask::ref).toList(), lease);
					tasks.forEach((task) -> this.executed.add(task.id()));
					acknowledge(node, tasks);
				}
			}
			catch (DataAccessException ex) {
				// The next claim goes on.
			}
		}
	}

	@Test
	void aPrimaryThatDiesIsReplacedByItsReplica() {
		Set<String> ids = new HashSet<>();
		IntStream.range(0, 150).forEach((i) -> ids.add(enqueue(this.store, i, Duration.ofSeconds(1))));
		this.cluster.process(LOST).kill();
		await().ignoreExceptions().until(this::isReplaced);
		awaitRun(ids);
		await().ignoreExceptions().until(() -> {
			ids.add(enqueue(this.other, ids.size(), NOW));
			return ids.size() == 170;
		});
		awaitRun(ids);
	}

	@Test
	void nothingIsLostByAFailoverByHandWhileTasksAreStoredAndRun() throws Exception {
		Set<String> stored = ConcurrentHashMap.newKeySet();
		AtomicBoolean ends = new AtomicBoolean();
		Thread client = new Thread(() -> {
			for (int i = 0; !ends.get(); i++) {
				try {
					stored.add(enqueue(this.store, i, Duration.ofMillis(i % 500)));
				}
				catch (DataAccessException ex) {
					// The call failed, so the task may not be stored.
				}
			}
		});
		client.start();
		try {
			await().until(() -> this.executed.size() > 200);
			// The servers give up silently if they find no majority in time.
			await().ignoreExceptions().pollDelay(Duration.ZERO).pollInterval(fibonacci(TimeUnit.SECONDS)).until(() -> {
				boolean replaced = isReplaced();
				if (!replaced) {
					this.cluster.server(HEIR).clusterFailover(false);
				}
				return replaced;
			});
			int before = this.executed.size();
			await().until(() -> this.executed.size() > before + 500);
		}
		finally {
			ends.set(true);
			client.join();
		}
		awaitRun(stored);
	}

	private static String enqueue(DelayedTaskStore store, int number, Duration delay) {
		NewTask task = task(NAMES.get(number % NAMES.size()), "k" + number, delay);
		return store.enqueue(List.of(task)).get(0).id();
	}

	private void awaitRun(Set<String> ids) {
		await().untilAsserted(() -> assertThat(this.executed).containsAll(ids));
		await().ignoreExceptions().until(() -> this.other.counts(List.of()).isEmpty());
	}

	private boolean isReplaced() {
		return this.cluster.server(HEIR).info("replication").contains("role:master");
	}

}
