package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ExecutionException;

import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Which settings of Redis the store refuses at the start, and for which it logs a
 * warning.
 */
class RedisRequirementsTests extends RedisTestSupport {

	@RegisterExtension
	static final RedisProcess server = RedisProcess.with();

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(server);

	private final TestLog log = new TestLog();

	@AfterEach
	void restore() {
		configure("maxmemory-policy", "noeviction");
		configure("appendonly", "yes");
		configure("maxmemory", "0");
		stores.clear();
	}

	@Test
	void acceptsADurableRedis() throws Exception {
		check();
		check();
		assertThat(this.log).doesNotContain("Redis");
	}

	@ParameterizedTest
	@ValueSource(strings = { "allkeys-lru", "volatile-ttl" })
	void refusesToShareARedisThatEvicts(String policy) {
		configure("maxmemory-policy", policy);
		assertRefused(stores.node(), "'" + policy + "'", "maxmemory-policy noeviction");
	}

	/** Lettuce has no address for the connections that wait. */
	@Test
	void refusesToWaitForTheReplicasOfAListOfServers() {
		try (RedisStores listed = new RedisStores(new RedisStaticMasterReplicaConfiguration("127.0.0.1", server.port()),
				RedisStores.PATIENCE, RedisStores.OPTIONS)) {
			listed.node().check();
			assertRefused(listed.node(RedisStores.waiting(HOUR)), "wait-replicas=0");
		}
	}

	private static void assertRefused(DelayedTaskStore store, String... messages) {
		assertThatExceptionOfType(UnusableTaskStoreException.class).isThrownBy(() -> store.check())
			.satisfies((ex) -> assertThat(ex.getMessage()).contains(messages));
	}

	@Test
	void warnsWithoutAnAppendOnlyFile() throws Exception {
		configure("appendonly", "no");
		check();
		assertThat(this.log).contains("no append-only file").contains("appendonly yes");
	}

	@Test
	void refusesAnotherNumberOfPartitionsThanAtFirst() {
		stores.node().check();
		assertRefused(stores.node(eightPartitions("test")), "16 partitions, not 8",
				"timingwheel.store.redis.partitions=16", "timingwheel.store.redis.namespace");
		stores.node(eightPartitions("other")).check();
	}

	private static RedisStoreOptions eightPartitions(String namespace) {
		RedisStoreOptions defaults = RedisStoreOptions.DEFAULTS;
		return new RedisStoreOptions(namespace, 8, 0, defaults.waitTimeout(), defaults.maxDead());
	}

	@ParameterizedTest
	@ValueSource(strings = { "2", "3" })
	void refusesTasksOfAnotherFormat(String format) {
		stores.node().check();
		try (RedisConnection connection = stores.connection()) {
			byte[] key = Partitions.bytes("timingwheel:{" + RedisStores.OPTIONS.namespace() + "}:meta");
			connection.hashCommands().hSet(key, Partitions.bytes("format"), Partitions.bytes(format));
		}
		assertRefused(stores.node(), "format " + format, "timingwheel.store.redis.namespace");
	}

	@Test
	void acceptsAFullRedisThatIsInUse() throws Exception {
		DelayedTaskStore first = stores.node();
		first.check();
		Enqueued pending = first.recur(schedule("pending", "payload", HOUR));
		Enqueued running = first.recur(schedule("running", "payload", Duration.ZERO));
		ClaimRequest request = new ClaimRequest("a", Map.of("schedules", new Share(1, 0)), 1, false, Duration.ZERO,
				HOUR, 1000);
		assertThat(first.claim(request).tasks()).extracting(LeasedTask::id).containsExactly(running.id());
		configure("maxmemory", "1");
		check();
		DelayedTaskStore second = stores.node();
		assertThat(second.recur(schedule("pending", "payload", HOUR)))
			.extracting(Enqueued::outcome, Enqueued::id, Enqueued::dueAt)
			.containsExactly(Outcome.PENDING, pending.id(), pending.dueAt());
		assertThat(second.recur(schedule("running", "payload", HOUR))).extracting(Enqueued::outcome, Enqueued::id)
			.containsExactly(Outcome.PENDING, running.id());
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> second.recur(schedule("running", "another payload", HOUR)))
			.withStackTraceContaining("OOM");
	}

	@ParameterizedTest
	@ValueSource(strings = { "+info ", "" })
	void acceptsAUserWithTheRightsThatTheDocumentationNamesAndWarnsWithoutInfo(String info) throws Exception {
		checkAs(("-@all +@read +@write +@scripting +@connection +time ~timingwheel:* " + info).split(" "));
		assertThat(this.log.toString().contains("Redis")).isEqualTo(info.isEmpty());
		assertThat(this.log.toString().contains("+info")).isEqualTo(info.isEmpty());
	}

	@ParameterizedTest
	@ValueSource(strings = { "+@all -evalsha ~*", "+@all -time ~*", "+@all -@read ~*", "+@all -@write ~*",
			"+@all ~other:*", "+@all ~timingwheel:{test:*" })
	void refusesAUserWithoutTheRightsOfANode(String rights) {
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> checkAs(rights.split(" ")))
			.havingCause()
			.isInstanceOf(UnusableTaskStoreException.class)
			.withMessageContaining("Redis does not let this user")
			.withMessageContaining("+@scripting")
			.withMessageContaining("+time")
			.withMessageContaining("~timingwheel:{test*");
	}

	/** Checks with the connections of a user who has these rights only. */
	private void checkAs(String... rights) throws Exception {
		try (RedisConnection connection = stores.connection()) {
			List<String> user = new ArrayList<>(List.of("SETUSER", "node", "reset", "on", ">secret"));
			user.addAll(List.of(rights));
			connection.execute("ACL", user.stream().map(Partitions::bytes).toArray(byte[][]::new));
		}
		RedisStandaloneConfiguration configuration = RedisStores.configuration(server);
		configuration.setUsername("node");
		configuration.setPassword("secret");
		try (RedisStores ofUser = new RedisStores(configuration, RedisStores.PATIENCE, RedisStores.OPTIONS)) {
			this.log.of(() -> {
				ofUser.node().check();
				return null;
			});
		}
	}

	private static NewSchedule schedule(String key, String payload, Duration first) {
		return new NewSchedule(UUID.randomUUID().toString(), "schedules", key, payload, "every PT1H",
				DueTime.after(first), false);
	}

	@ParameterizedTest
	@CsvSource({ "5.0.14, false", "6.0.16, false", "6.1.9, false", "6.2.0, true", "6.2.6-v5, true", "7.0.15, true",
			"8.0.0, true", "10.1, true" })
	void needsRedis62(String version, boolean accepted) {
		ThrowingCallable check = () -> Requirements.checkVersion(version);
		if (accepted) {
			assertThatNoException().isThrownBy(check);
		}
		else {
			assertThatExceptionOfType(UnusableTaskStoreException.class).isThrownBy(check)
				.withMessageContaining("6.2 or newer")
				.withMessageContaining(version);
		}
	}

	private void check() throws Exception {
		this.log.of(() -> {
			stores.node().check();
			return null;
		});
	}

	private static void configure(String name, String value) {
		try (RedisConnection connection = stores.connection()) {
			connection.serverCommands().setConfig(name, value);
			Properties found = connection.serverCommands().getConfig(name);
			assertThat(found).containsEntry(name, value);
		}
	}

}
