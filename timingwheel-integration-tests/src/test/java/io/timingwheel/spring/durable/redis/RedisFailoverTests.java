package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.DelayedTaskStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.pollinterval.FibonacciPollInterval.fibonacci;

/**
 * A replica takes the place of a primary. All tasks whose writes the replica has
 * acknowledged run.
 */
@Order(1)
@Tag("faults")
class RedisFailoverTests extends RedisClusterTestSupport {

	private static final RedisStoreOptions WAITING = RedisStores.OPTIONS.withWaitReplicas(1)
		.withWaitTimeout(Duration.ofSeconds(10));

	/** The replica of the server that is down. */
	private static final int HEIR = LOST + 3;

	private final RedisCluster cluster = RedisCluster.withReplicas();

	private final RedisStores stores = this.cluster.stores(TIMEOUT);

	@Override
	@AfterEach
	void closeNodes() throws Exception {
		try {
			super.closeNodes();
			this.stores.close();
		}
		finally {
			this.cluster.close();
		}
	}

	@Override
	protected void clear() {
		// Each test starts a new Cluster.
	}

	@Override
	protected DelayedTaskStore node() {
		return this.stores.node(WAITING);
	}

	@Test
	void aPrimaryThatDiesIsReplacedByItsReplica() {
		Set<Integer> tasks = enqueueEverywhere(1);
		this.cluster.process(LOST).kill();
		awaitFailover();
		awaitBack(tasks);
		assertNewTasksRun();
	}

	@Test
	void aPrimaryThatHangsIsReplacedByItsReplicaAndTakesNoPartWhenItGoesOn() {
		Set<Integer> tasks = enqueueEverywhere(1);
		this.cluster.process(LOST).hang();
		try {
			awaitFailover();
			awaitBack(tasks);
		}
		finally {
			this.cluster.process(LOST).goOn();
		}
		await().until(() -> this.cluster.server(LOST).info("replication").contains("role:slave"));
		this.cluster.awaitReplica(HEIR);
		assertNewTasksRun();
	}

	@Test
	void nothingIsLostByAFailoverByHandWhileTasksAreStoredAndRun() throws Exception {
		Set<Integer> stored = ConcurrentHashMap.newKeySet();
		AtomicInteger number = new AtomicInteger();
		AtomicBoolean over = new AtomicBoolean();
		Thread client = new Thread(() -> {
			while (!over.get()) {
				int next = number.incrementAndGet();
				try {
					enqueue(next, Duration.ofMillis(next % 500));
					stored.add(next);
				}
				catch (DataAccessException ex) {
					// The call failed, so the task may not be stored.
				}
			}
		});
		client.start();
		try {
			await().until(() -> this.lateness.size() > 200);
			failOver();
			int before = this.lateness.size();
			await().until(() -> this.lateness.size() > before + 500);
		}
		finally {
			over.set(true);
			client.join();
		}
		awaitRun(stored);
		awaitUp();
		awaitEmptyStore();
	}

	private Set<Integer> enqueueEverywhere(int thousands) {
		return IntStream.range(0, 3)
			.mapToObj((server) -> enqueueOn(server, 10 * server + thousands, 50, Duration.ofSeconds(1)))
			.flatMap(Set::stream)
			.collect(Collectors.toSet());
	}

	private void awaitFailover() {
		await().ignoreExceptions().until(this::isReplaced);
	}

	/**
	 * Repeats the command, because the servers give up silently if they find no majority
	 * in time.
	 */
	private void failOver() {
		await().ignoreExceptions().pollDelay(Duration.ZERO).pollInterval(fibonacci(TimeUnit.SECONDS)).until(() -> {
			if (isReplaced()) {
				return true;
			}
			this.cluster.server(HEIR).clusterFailover(false);
			return false;
		});
	}

	private boolean isReplaced() {
		return this.cluster.server(HEIR).info("replication").contains("role:master");
	}

	/**
	 * Stores tasks on the other primaries, which still have their replicas.
	 */
	private void assertNewTasksRun() {
		Set<Integer> others = Stream.of(0, 2)
			.flatMap((server) -> enqueueOn(server, 10 * server + 5, 10, Duration.ofMillis(100)).stream())
			.collect(Collectors.toSet());
		awaitRun(others);
	}

}
