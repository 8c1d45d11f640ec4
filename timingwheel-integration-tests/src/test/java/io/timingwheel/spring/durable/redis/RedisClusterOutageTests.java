package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.cluster.SlotHash;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A primary of a Cluster hangs or is dead. It holds up its own tasks alone.
 */
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
		await().ignoreExceptions().until(() -> {
			stores.clear();
			return true;
		});
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
		store.check(List.of(NAME));
		store.setPaused("paused", true);
		LeasedTask held = store.enqueue(List.of(taskOn(server, "held", NOW))).isEmpty() ? null
				: claim(store, 10).tasks().get(0);
		cluster.process(server).hang();
		try {
			claim(store, 10);
			assertThat(store.partialOutage()).isNotNull()
				.satisfies((outage) -> assertThat(outage.parts()).containsExactly(cluster.address(server)));
			assertCallsArePrompt(store, server, held);
		}
		finally {
			cluster.process(server).goOn();
		}
		await().until(() -> claim(store, 10).tasks().isEmpty() && store.partialOutage() == null);
		assertThat(store.renew(List.of(held.ref()), LEASE)).containsExactly(Reply.DONE);
		assertThat(claim(store, 10).pausedNames()).containsExactly("paused");
	}

	private void assertCallsArePrompt(RedisDelayedTaskStore store, int server, LeasedTask held) {
		int other = (server + 1) % 3;
		prompt(() -> assertThat(store.enqueue(List.of(taskOn(other, "other", NOW)))).hasSize(1));
		prompt(() -> {
			List<LeasedTask> tasks = store.claim(request(100, NAME)).tasks();
			assertThat(tasks).extracting(LeasedTask::key).hasSize(1);
			assertThat(acknowledge(store, tasks)).containsExactly(Reply.DONE);
		});
		prompt(() -> assertThat(store.claim(request(3, NAME)).pausedNames()).containsExactly("paused"));
		prompt(() -> assertThat(store.claim(request(3)).pausedNames()).containsExactly("paused"));
		prompt(() -> assertThat(store.renew(List.of(held.ref()), LEASE)).containsExactly(Reply.BUSY));
		for (int node = 0; node < 8; node++) {
			NodeState state = new NodeState("node " + node, NodeState.Activity.CLAIMING, 1);
			prompt(() -> store.heartbeat(state));
		}
		prompt(() -> assertThat(store.nodes()).isNotEmpty());
		prompt(() -> assertThat(store.counts(List.of())).isEmpty());
		prompt(() -> assertThat(store.counts(List.of(NAME))).isEmpty());
		prompt(() -> assertThat(pending(store)).isEmpty());
		prompt(() -> assertThat(store.list(new ListQuery(NAME, ListQuery.Order.DEAD_LATEST_FIRST, null, 10)).tasks())
			.isEmpty());
		prompt(() -> assertThat(store.discardOlder(HOUR, 100)).isZero());
		prompt(() -> assertThat(store.now()).isPositive());
	}

	/**
	 * Makes a call that has to be prompt.
	 */
	private static void prompt(Runnable call) {
		long start = System.nanoTime();
		call.run();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PROMPT);
	}

	@Test
	void countsAndListsHaveWhatTheOtherPrimariesHave() {
		RedisDelayedTaskStore store = stores.node();
		store.enqueue(IntStream.range(0, 3).mapToObj((server) -> taskOn(server, "k", HOUR)).toList());
		cluster.process(LOST).kill();
		try {
			await().until(() -> {
				claim(store, 10);
				return store.partialOutage() != null;
			});
			assertThat(store.counts(List.of()).get(NAME)).satisfies((counts) -> {
				assertThat(counts.pending()).isEqualTo(2);
				assertThat(counts.estimated()).isTrue();
			});
			assertThat(pending(store)).extracting(StoredTask::name).containsExactly(NAME, NAME);
		}
		finally {
			cluster.process(LOST).start();
		}
		await().until(() -> claim(store, 10).tasks().isEmpty() && store.partialOutage() == null);
		assertThat(store.counts(List.of()).get(NAME).pending()).isEqualTo(3);
	}

	/**
	 * Redis has answered, and so no part of the store is missing.
	 */
	@Test
	void anErrorOfOnePrimaryIsNoOutage() {
		RedisDelayedTaskStore store = stores.node();
		enqueue(store, "k", NOW);
		cluster.server(LOST)
			.aclSetuser("default",
					io.lettuce.core.AclSetuserArgs.Builder.removeCommand(io.lettuce.core.protocol.CommandType.EVALSHA));
		try {
			claim(store, 10);
			assertThat(store.partialOutage()).isNull();
		}
		finally {
			cluster.server(LOST)
				.aclSetuser("default", io.lettuce.core.AclSetuserArgs.Builder
					.addCommand(io.lettuce.core.protocol.CommandType.EVALSHA));
		}
	}

	@Test
	void aPrimaryThatIsDeadTakesNoPlacesOfALimitedName() {
		RedisDelayedTaskStore store = stores.node();
		String name = IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> "limited" + i)
			.filter((one) -> server(this.partitions.of(one)) != LOST)
			.findFirst()
			.orElseThrow();
		List<NewTask> tasks = Stream.generate(() -> task(name, null, NOW))
			.filter((task) -> server(this.partitions.of(task.id())) != LOST)
			.limit(44)
			.toList();
		StartLimits limits = new StartLimits(32, 0, HOUR.toMillis() * 1000 / 36, 36);
		ClaimRequest request = request(100, Map.of(name, new Share(100, 0, limits, null)));
		cluster.process(LOST).kill();
		try {
			await().until(() -> {
				store.claim(request);
				return store.partialOutage() != null;
			});
			tasks.subList(0, 4).forEach((task) -> store.enqueue(List.of(task)));
			List<LeasedTask> first = store.claim(request).tasks();
			assertThat(first).hasSize(4);
			tasks.subList(4, 44).forEach((task) -> store.enqueue(List.of(task)));
			assertThat(store.claim(request).tasks()).as("all other places are free").hasSize(28);
			assertThat(acknowledge(store, first)).containsOnly(Reply.DONE);
			assertThat(store.claim(request).tasks()).as("no start was lost").hasSize(4);
		}
		finally {
			cluster.process(LOST).start();
		}
	}

	@Test
	void noNodeStartsWithoutAPrimary() {
		cluster.process(LOST).kill();
		try (RedisStores late = RedisStores.on(cluster, TIMEOUT)) {
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> late.node().check(List.of(NAME)));
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
					writes.add(executor.submit(() -> waiting.enqueue(List.of(taskOn(LOST, "k", HOUR)))));
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
			.isThrownBy(() -> store.enqueue(List.of(taskOn(server, "k", HOUR))));
	}

	@Test
	void aNodeThatHasRoomForFewerTasksThanThereArePartitionsGetsTheTasksOfTheOthers() {
		RedisDelayedTaskStore store = stores.node();
		cluster.process(LOST).kill();
		try {
			await().until(() -> {
				claim(store, 4);
				return store.partialOutage() != null;
			});
			Set<String> stored = new HashSet<>();
			for (int i = 0; i < 20; i++) {
				store.enqueue(List.of(taskOn(i % 2 * 2, "k" + i + " ", NOW))).forEach((task) -> stored.add(task.id()));
			}
			Set<String> claimed = new HashSet<>();
			await().until(() -> {
				claim(store, 4).tasks().forEach((task) -> claimed.add(task.id()));
				return claimed.equals(stored);
			});
		}
		finally {
			cluster.process(LOST).start();
		}
	}

	/**
	 * A task in a partition that a server has. Its key begins with this text.
	 */
	private NewTask taskOn(int server, String key, Duration delay) {
		String found = IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> (i == 0) ? key : key + i)
			.filter((one) -> server(this.partitions.of(new TaskId(NAME, one))) == server)
			.findFirst()
			.orElseThrow();
		return task(found, delay);
	}

	private int server(int partition) {
		return RedisCluster.firstOwner(SlotHash.getSlot(this.partitions.keys(partition)[0]));
	}

}
