package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Which settings of Redis the store refuses at the start, and for which it logs a
 * warning.
 */
class RedisRequirementsTests extends RedisTestSupport {

	@RegisterExtension
	static final RedisProcess server = RedisProcess.with();

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(server);

	private static final List<String> NAMES = List.of(NAME);

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

	@Test
	void nodesThatStartAtTheSameTimeDoNotDisturbEachOther() throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(4);
		try {
			RedisDelayedTaskStore store = stores.node();
			List<Callable<Void>> checks = Collections.nCopies(40, () -> {
				store.check(NAMES);
				return null;
			});
			for (Future<Void> check : executor.invokeAll(checks)) {
				check.get();
			}
		}
		finally {
			executor.shutdown();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "allkeys-lru", "volatile-ttl" })
	void refusesToShareARedisThatEvicts(String policy) {
		configure("maxmemory-policy", policy);
		assertThatIllegalStateException().isThrownBy(() -> stores.node().check(NAMES))
			.withMessageContaining("'" + policy + "'")
			.withMessageContaining("maxmemory-policy noeviction");
	}

	@Test
	void warnsWithoutAnAppendOnlyFile() throws Exception {
		configure("appendonly", "no");
		check();
		assertThat(this.log).contains("no append-only file").contains("appendonly yes");
	}

	@Test
	void refusesAnotherNumberOfPartitionsThanAtFirst() {
		stores.node().check(NAMES);
		assertThatIllegalStateException().isThrownBy(() -> stores.node(eightPartitions("test")).check(NAMES))
			.withMessageContaining("16 partitions, not 8")
			.withMessageContaining("timingwheel.store.redis.partitions=16")
			.withMessageContaining("timingwheel.store.redis.namespace");
		stores.node(eightPartitions("other")).check(NAMES);
	}

	private static RedisStoreOptions eightPartitions(String namespace) {
		RedisStoreOptions defaults = RedisStoreOptions.DEFAULTS;
		return new RedisStoreOptions(namespace, 8, 0, defaults.waitTimeout(), defaults.maxDead());
	}

	@ParameterizedTest
	@ValueSource(strings = { "1", "3" })
	void refusesTasksOfAnotherFormat(String format) {
		stores.node().check(NAMES);
		try (RedisConnection connection = stores.connection()) {
			byte[] key = Partitions.bytes("timingwheel:{" + RedisStores.OPTIONS.namespace() + "}:meta");
			connection.hashCommands().hSet(key, Partitions.bytes("format"), Partitions.bytes(format));
		}
		assertThatExceptionOfType(UnusableTaskStoreException.class).isThrownBy(() -> stores.node().check(NAMES))
			.withMessageContaining("format " + format)
			.withMessageContaining("timingwheel.store.redis.namespace");
	}

	@Test
	void theSettingsAndPausesOfALostRedisAreStoredAgain() throws Exception {
		RedisDelayedTaskStore store = stores.node();
		store.check(NAMES);
		store.setPaused("paused", true);
		assertThat(claim(store, 10).pausedNames()).containsExactly("paused");
		try (RedisConnection connection = stores.connection()) {
			connection.serverCommands().flushAll();
		}
		this.log.of(() -> {
			assertThat(claim(store, 10).pausedNames()).containsExactly("paused");
			return null;
		});
		assertThat(this.log).containsOnlyOnce("Redis had lost data").contains("[paused]");
		assertThat(claim(stores.node(), 10).pausedNames()).containsExactly("paused");
		assertThatIllegalStateException().isThrownBy(() -> stores.node(eightPartitions("test")).check(NAMES));
	}

	@Test
	void acceptsAFullRedisThatIsInUse() throws Exception {
		DelayedTaskStore first = stores.node();
		first.check(NAMES);
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

	@Test
	void acceptsAUserWithTheRightsThatTheDocumentationNames() throws Exception {
		checkAs("-@all", "+@read", "+@write", "+@scripting", "+@connection", "+info", "+time", "~timingwheel:*");
		assertThat(this.log).doesNotContain("Redis");
	}

	@Test
	void warnsIfTheUserMayNotRunInfo() throws Exception {
		checkAs("-@all", "+@read", "+@write", "+@scripting", "+@connection", "+time", "~timingwheel:*");
		assertThat(this.log).contains("INFO").contains("+info");
	}

	@ParameterizedTest
	@ValueSource(strings = { "+@all -evalsha ~*", "+@all -eval ~*", "+@all -time ~*", "+@all -hset ~*",
			"+@all -zrangebylex ~*", "+@all -smembers ~*", "+@all -@write ~*", "+@all ~other:*",
			"+@all ~timingwheel:{test:*" })
	void refusesAUserWithoutARightThatANodeNeeds(String rights) {
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> checkAs(rights.split(" ")))
			.havingCause()
			.isInstanceOf(UnusableTaskStoreException.class)
			.withMessageContaining("Redis does not let this user")
			.withMessageContaining("+@scripting")
			.withMessageContaining("+time")
			.withMessageContaining("~timingwheel:{test*");
	}

	/**
	 * Checks with the connections of a user who has these rights only.
	 */
	private void checkAs(String... rights) throws Exception {
		try (RedisConnection connection = stores.connection()) {
			List<String> user = new ArrayList<>(List.of("SETUSER", "node", "reset", "on", ">secret"));
			user.addAll(List.of(rights));
			connection.execute("ACL", user.stream().map(Partitions::bytes).toArray(byte[][]::new));
		}
		RedisStandaloneConfiguration configuration = RedisStores.configuration(server);
		configuration.setUsername("node");
		configuration.setPassword("secret");
		try (RedisStores ofUser = new RedisStores(() -> configuration, RedisStores.PATIENCE)) {
			this.log.of(() -> {
				ofUser.node().check(NAMES);
				return null;
			});
		}
	}

	private static NewSchedule schedule(String key, String payload, Duration first) {
		return new NewSchedule(UUID.randomUUID().toString(), "schedules", key, payload, null, "every PT1H",
				DueTime.after(first), false);
	}

	@ParameterizedTest
	@ValueSource(strings = { "5.0.14", "6.0.16", "6.1.9" })
	void refusesAnOldRedis(String version) {
		assertThatIllegalStateException().isThrownBy(() -> Requirements.checkVersion(version))
			.withMessageContaining("6.2 or newer")
			.withMessageContaining(version);
	}

	@ParameterizedTest
	@ValueSource(strings = { "6.2.0", "6.2.6-v5", "7.0.15", "8.0.0", "10.1" })
	void acceptsANewerRedis(String version) {
		Requirements.checkVersion(version);
	}

	private void check() throws Exception {
		this.log.of(() -> {
			stores.node().check(NAMES);
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
