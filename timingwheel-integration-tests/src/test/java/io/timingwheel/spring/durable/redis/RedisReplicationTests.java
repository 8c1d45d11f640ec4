package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.TestNode;
import io.timingwheel.spring.durable.TestSettings;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.data.redis.connection.RedisConnection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Calls that wait for a replica, with and without a replica.
 */
class RedisReplicationTests extends StoreTestSupport {

	private static final RedisStoreOptions WAITING = RedisStores.OPTIONS.withWaitReplicas(1)
		.withWaitTimeout(Duration.ofSeconds(30));

	/** A timeout for tests that have stopped the replica. */
	private static final RedisStoreOptions IMPATIENT = WAITING.withWaitTimeout(Duration.ofMillis(500));

	@RegisterExtension
	static final RedisProcess primary = RedisProcess.with("repl-diskless-sync yes", "repl-diskless-sync-delay 0");

	@RegisterExtension
	static final RedisProcess replica = RedisProcess.with("replicaof 127.0.0.1 " + primary.port());

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(primary);

	@BeforeAll
	static void start() {
		awaitReplica();
	}

	@Override
	protected void clear() {
		stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return stores.node(WAITING);
	}

	@Test
	void aWriteIsDoneOnceAReplicaHasIt() {
		assertThat(enqueue("k", HOUR).outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(this.store.reschedule(key("k"), DueTime.after(Duration.ofMinutes(1)), null)).isNotNull();
		assertThat(this.store.enqueue(task("k", HOUR, IfPending.KEEP)).outcome()).isEqualTo(Outcome.PENDING);
		assertThat(this.store.cancel(key("k"))).isTrue();
		assertThat(this.store.cancel(key("k"))).isFalse();
	}

	@Test
	void withoutAReplicaAWriteIsUncertain() {
		DelayedTaskStore impatient = stores.node(IMPATIENT);
		replica.close();
		try {
			assertThatExceptionOfType(UncertainWriteException.class)
				.isThrownBy(() -> impatient.enqueue(task("k", HOUR)))
				.withMessageContaining("0 of 1 replicas")
				.withMessageContaining("may run");
			assertThat(this.store.find(key("k"))).isPresent();
			assertThatExceptionOfType(UncertainWriteException.class).isThrownBy(() -> impatient.cancel(key("k")));
			assertThat(this.store.find(key("k"))).isEmpty();
			assertThat(impatient.cancel(key("k"))).isFalse();
		}
		finally {
			replica.start();
			awaitReplica();
		}
	}

	@Test
	void aTaskWhoseWriteIsUncertainWaitsForNoLeaseToEnd() throws Exception {
		Set<Integer> runs = ConcurrentHashMap.newKeySet();
		TestNode node = TestNode.start(stores.node(IMPATIENT), (argument, context) -> runs.add(argument),
				new TestSettings().lease(HOUR));
		TaskId far = TaskId.of(TestNode.NAME, "far");
		try (TestNode storing = TestNode.withoutHandler(this.other)) {
			storing.durable().enqueue(far, HOUR, 2);
		}
		replica.close();
		try {
			assertThatExceptionOfType(UncertainWriteException.class)
				.isThrownBy(() -> node.enqueue("k", Duration.ofMillis(1500), 1));
			assertThatExceptionOfType(UncertainWriteException.class)
				.isThrownBy(() -> node.durable().reschedule(far, Duration.ofMillis(1500)));
			await().until(() -> runs.equals(Set.of(1, 2)));
			await().until(() -> node.durable().inFlight() == 0);
			assertThat(this.store.counts()).isEmpty();
		}
		finally {
			replica.start();
			node.close();
			awaitReplica();
		}
	}

	private static void awaitReplica() {
		await().until(() -> {
			try (RedisConnection connection = stores.connection()) {
				String state = connection.serverCommands().info("replication").getProperty("slave0", "");
				return state.contains("state=online");
			}
		});
	}

}
