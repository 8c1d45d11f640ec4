package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.protocol.CommandType;
import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NodeState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** A primary of a Cluster hangs or is dead. It holds up its own tasks alone. */
@Tag("servers")
class RedisClusterOutageTests extends RedisTestSupport {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** Much less than a call waits for a server that hangs. */
	private static final Duration PROMPT = TIMEOUT.dividedBy(2);

	private static final int LOST = 1;

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.start();

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(cluster, TIMEOUT);

	private Partitions partitions = new Partitions(RedisStores.OPTIONS.namespace(), RedisStores.OPTIONS.partitions());

	@AfterEach
	void clear() {
		cluster.awaitOk();
		// The connection to the primary that was gone may be made anew.
		await().ignoreExceptions().untilAsserted(stores::clear);
	}

	/**
	 * All primaries have partitions. In the one namespace the first partition is on
	 * another primary than in the other.
	 */
	@ParameterizedTest
	@CsvSource({ "0, timingwheel", "1, timingwheel", "2, timingwheel", "0, test", "1, test", "2, test" })
	void aPrimaryThatHangsHoldsUpNoCallOfANode(int server, String namespace) {
		this.partitions = new Partitions(namespace, RedisStores.OPTIONS.partitions());
		RedisDelayedTaskStore store = stores.node(RedisStores.options(namespace));
		store.testing().deleteAll();
		String missing = nameOn(server);
		String other = nameOn((server + 1) % 3);
		store.check();
		store.setPaused("paused", true);
		store.enqueue(List.of(task(missing, null, NOW)));
		LeasedTask held = store.claim(request(10, missing)).tasks().get(0);
		cluster.process(server).hang();
		try {
			store.claim(request(10, missing, other));
			assertThat(store.partialOutage()).isNotNull()
				.satisfies((outage) -> assertThat(outage.parts()).containsExactly(cluster.address(server)));
			assertCallsArePrompt(store, missing, other, held);
		}
		finally {
			cluster.process(server).goOn();
		}
		await().until(() -> store.claim(request(10, other)).tasks().isEmpty() && store.partialOutage() == null);
		assertThat(store.renew(List.of(held.ref()), LEASE)).containsExactly(Reply.DONE);
		assertThat(store.claim(request(10, missing)).pausedNames()).containsExactly("paused");
	}

	private void assertCallsArePrompt(RedisDelayedTaskStore store, String missing, String other, LeasedTask held) {
		for (int limit : List.of(1, 100)) {
			prompt(() -> assertThat(store.enqueue(List.of(task(other, "k", NOW)))).hasSize(1));
			prompt(() -> {
				List<LeasedTask> tasks = store.claim(request(limit, missing, other)).tasks();
				assertThat(tasks).extracting(LeasedTask::name).containsExactly(other);
				assertThat(acknowledge(store, tasks)).containsExactly(Reply.DONE);
			});
		}
		for (ClaimRequest request : List.of(request(3, missing, other), request(3, missing), request(3))) {
			prompt(() -> assertThat(store.claim(request).pausedNames()).containsExactly("paused"));
		}
		prompt(() -> assertThat(store.renew(List.of(held.ref()), LEASE)).containsExactly(Reply.BUSY));
		for (int node = 0; node < 8; node++) {
			NodeState state = new NodeState("node " + node, NodeState.Activity.CLAIMING, 1);
			prompt(() -> store.heartbeat(state));
		}
		prompt(() -> assertThat(store.nodes()).isNotEmpty());
		prompt(() -> assertThat(store.counts(List.of())).isEmpty());
		prompt(() -> assertThat(store.counts(List.of(missing, other))).isEmpty());
		prompt(() -> assertThat(store.list(new ListQuery(other, ListQuery.Order.PENDING, null, 10)).tasks()).isEmpty());
		prompt(() -> assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> store.list(new ListQuery(missing, ListQuery.Order.DEAD_LATEST_FIRST, null, 10))));
		prompt(() -> assertThat(store.discardOlder(HOUR, 100)).isZero());
		prompt(() -> assertThat(store.now()).isPositive());
	}

	private static void prompt(Runnable call) {
		long start = System.nanoTime();
		call.run();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PROMPT);
	}

	@Test
	void countsHaveTheNamesOfTheOtherPrimaries() {
		RedisDelayedTaskStore store = stores.node();
		List<String> names = IntStream.range(0, 3).mapToObj(this::nameOn).toList();
		store.enqueue(names.stream().map((name) -> task(name, "k", HOUR)).toList());
		ClaimRequest request = request(10, names.toArray(String[]::new));
		cluster.process(LOST).kill();
		try {
			await().until(() -> {
				store.claim(request);
				return store.partialOutage() != null;
			});
			assertThat(store.counts(List.of())).containsOnlyKeys(names.get(0), names.get(2));
			assertThat(
					store.forecast(new Forecast.Query(Map.of(names.get(0), 1L, names.get(LOST), 1L), HOUR, 2)).names())
				.containsOnlyKeys(names.get(0));
		}
		finally {
			cluster.process(LOST).start();
		}
		await().until(() -> store.claim(request).tasks().isEmpty() && store.partialOutage() == null);
		assertThat(store.counts(List.of())).containsOnlyKeys(names);
	}

	/** Redis has answered, and so no part of the store is missing. */
	@Test
	void anErrorOfOnePrimaryIsNoOutageAndIsLogged() throws Exception {
		TestLog log = new TestLog();
		RedisDelayedTaskStore store = stores.node();
		ClaimRequest request = request(10, nameOn(0), nameOn(LOST));
		cluster.server(LOST).aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.EVALSHA));
		try {
			log.of(() -> store.claim(request));
			assertThat(store.partialOutage()).isNull();
			assertThat(log).contains(nameOn(LOST)).contains("evalsha");
		}
		finally {
			cluster.server(LOST).aclSetuser("default", AclSetuserArgs.Builder.addCommand(CommandType.EVALSHA));
		}
	}

	@Test
	void noNodeStartsWithoutAPrimary() {
		cluster.process(LOST).kill();
		try (RedisStores late = RedisStores.on(cluster, TIMEOUT)) {
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> late.node().check());
		}
		finally {
			cluster.process(LOST).start();
		}
	}

	@Test
	void writesThatWaitForTheReplicasOfAPrimaryThatHangsHoldUpNoOtherWrites() throws Exception {
		RedisDelayedTaskStore waiting = stores.node(RedisStores.waiting(Duration.ofMillis(100)));
		enqueueUncertainly(waiting, 0);
		enqueueUncertainly(waiting, LOST);
		int writers = ReplicatedWrites.MAX_CONNECTIONS + 4;
		ExecutorService executor = Executors.newFixedThreadPool(writers);
		cluster.process(LOST).hang();
		try {
			boolean goesOn = false;
			// On a machine that stalls, the first writes may time out meanwhile.
			for (int attempt = 1; !goesOn; attempt++) {
				assertThat(attempt).isLessThanOrEqualTo(3);
				List<Future<?>> writes = new ArrayList<>();
				for (int i = 0; i < writers; i++) {
					writes.add(executor.submit(() -> waiting.enqueue(List.of(task(nameOn(LOST), "k", HOUR)))));
				}
				// The servers have no replicas, so a write that has come through is
				// uncertain.
				enqueueUncertainly(waiting, 0);
				goesOn = writes.stream().noneMatch(Future::isDone);
				if (!goesOn) {
					await().until(() -> writes.stream().allMatch(Future::isDone));
				}
			}
		}
		finally {
			cluster.process(LOST).goOn();
			executor.shutdownNow();
		}
	}

	private void enqueueUncertainly(DelayedTaskStore store, int server) {
		assertThatExceptionOfType(UncertainWriteException.class)
			.isThrownBy(() -> store.enqueue(List.of(task(nameOn(server), "k", HOUR))));
	}

	private String nameOn(int server) {
		return IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> "name" + i)
			.filter((name) -> server(this.partitions.of(name)) == server)
			.findFirst()
			.orElseThrow();
	}

	private int server(int partition) {
		return RedisCluster.firstOwner(SlotHash.getSlot(this.partitions.keys(partition)[0]));
	}

}
