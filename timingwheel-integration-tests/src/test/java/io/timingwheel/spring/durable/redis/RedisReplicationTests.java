package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.data.redis.connection.RedisConnection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Calls that wait for a replica, with and without a replica. */
class RedisReplicationTests extends RedisTestSupport {

	@RegisterExtension
	static final RedisProcess primary = RedisProcess.with("repl-diskless-sync yes", "repl-diskless-sync-delay 0");

	@RegisterExtension
	static final RedisProcess replica = RedisProcess.with("replicaof 127.0.0.1 " + primary.port());

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(primary);

	private final DelayedTaskStore store = stores.node(RedisStores.waiting(Duration.ofSeconds(30)));

	@AfterEach
	void clear() {
		stores.clear();
	}

	@Test
	void aWriteIsDoneOnceAReplicaHasIt() {
		assertThat(enqueue(this.store, "k", HOUR).outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(this.store.move(key("k"), DueTime.after(Duration.ofMinutes(1)))).isNotNull();
		NewTask task = task("k", HOUR);
		NewTask kept = new NewTask(task.id(), NAME, "k", "kept", null, task.due(), IfPending.KEEP, null);
		assertThat(this.store.enqueue(List.of(kept)).get(0).outcome()).isEqualTo(Outcome.PENDING);
		assertThat(this.store.cancel(key("k"))).isTrue();
		assertThat(this.store.cancel(key("k"))).isFalse();
	}

	@Test
	void withoutAReplicaAWriteIsUncertain() {
		DelayedTaskStore impatient = stores.node(RedisStores.waiting(Duration.ofMillis(500)));
		replica.close();
		try {
			assertThatExceptionOfType(UncertainWriteException.class).isThrownBy(() -> enqueue(impatient, "k", HOUR))
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

	@BeforeAll
	static void awaitReplica() {
		await().until(() -> {
			try (RedisConnection connection = stores.connection()) {
				String state = connection.serverCommands().info("replication").getProperty("slave0", "");
				return state.contains("state=online");
			}
		});
	}

}
