package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.cluster.SlotHash;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.TestNode;
import io.timingwheel.spring.durable.TestSettings;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * One primary of a Cluster hangs or is dead, and comes back. Its tasks wait, and the
 * tasks of the other primaries run.
 */
@Order(1)
@Tag("faults")
class RedisClusterOutageTests extends RedisClusterTestSupport {

	/** A delay in which a busy machine can store some tasks and stop their server. */
	private static final Duration HELD = Duration.ofSeconds(10);

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.start();

	@RegisterExtension
	static final RedisStores stores = cluster.stores(TIMEOUT);

	@Override
	protected void clear() {
		// The connection to the primary that was gone may be made anew.
		await().ignoreExceptions().until(() -> {
			stores.clear();
			return true;
		});
	}

	@Override
	protected DelayedTaskStore node() {
		return stores.node();
	}

	@Test
	void aPrimaryThatHangsHoldsUpItsOwnTasksAlone() {
		Set<Integer> held = enqueueOn(LOST, 1, 60, HELD);
		Instant due = Instant.now().plus(HELD);
		cluster.process(LOST).hang();
		try {
			awaitLost(cluster.address(LOST));
			assertOthersGoOn();
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> enqueueOn(LOST, 9, 1, Duration.ZERO))
				.withMessageContaining("timed out");
			await().until(() -> Instant.now().isAfter(due));
			assertThat(this.lateness).doesNotContainKeys(held.toArray(Integer[]::new));
		}
		finally {
			cluster.process(LOST).goOn();
		}
		awaitBack(held);
		assertThat(this.log).containsOnlyOnce(PARTLY_GONE).containsOnlyOnce(BACK);
	}

	@Test
	void aPrimaryThatIsDeadHoldsUpItsOwnTasksAloneUntilItIsStartedAgain() {
		Set<Integer> held = enqueueOn(LOST, 1, 60, HELD);
		Instant due = Instant.now().plus(HELD);
		cluster.process(LOST).kill();
		try {
			awaitLost(cluster.address(LOST));
			assertOthersGoOn();
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> enqueueOn(LOST, 9, 1, Duration.ZERO));
			await().until(() -> Instant.now().isAfter(due));
			assertThat(this.lateness).doesNotContainKeys(held.toArray(Integer[]::new));
		}
		finally {
			cluster.process(LOST).start();
		}
		awaitBack(held);
		assertThat(this.log).containsOnlyOnce(PARTLY_GONE).containsOnlyOnce(BACK);
		cluster.awaitOk();
	}

	@Test
	void aClusterThatIsDownIsReportedUntilItsLastPrimaryIsBack() {
		Set<Integer> held = enqueueOn(LOST, 1, 20, Duration.ofSeconds(1));
		IntStream.range(0, 3).forEach((server) -> cluster.process(server).kill());
		try {
			await().until(() -> this.log.toString().contains(GONE));
			await().until(() -> this.node.durable().missingStoreParts().isEmpty());
		}
		finally {
			cluster.process(0).start();
			cluster.process(2).start();
		}
		await().until(() -> this.node.durable().missingStoreParts().equals(Set.of(cluster.address(LOST))));
		assertOthersGoOn();
		assertThat(this.log).doesNotContain(BACK);
		cluster.process(LOST).start();
		awaitRun(held);
		awaitUp();
		assertThat(this.log).containsOnlyOnce(GONE).containsOnlyOnce(BACK);
		awaitEmptyStore();
		cluster.awaitOk();
	}

	@Test
	void aPrimaryThatIsDeadTakesNoPlacesOfALimitedName() {
		Partitions partitions = new Partitions(RedisStores.OPTIONS.namespace(), RedisStores.OPTIONS.partitions());
		String name = IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> "limited" + i)
			.filter((one) -> isThere(partitions, partitions.of(Partitions.bytes(one))))
			.findFirst()
			.orElseThrow();
		List<NewTask> tasks = Stream.generate(() -> task(name, null, new DueTime(1000, true), IfPending.REPLACE, null))
			.filter((task) -> isThere(partitions, partitions.of(Partitions.bytes(task.id()))))
			.limit(44)
			.toList();
		StartLimits limits = new StartLimits(32, 0, HOUR.toMillis() * 1000 / 36, 36);
		ClaimRequest request = new ClaimRequest("a", Map.of(name, new Limit(100, 0)), 100, false, LOOK_AHEAD, LEASE,
				ANY_SIZE, Map.of(name, limits));
		cluster.process(LOST).kill();
		try {
			await().until(() -> !this.node.durable().missingStoreParts().isEmpty());
			tasks.subList(0, 4).forEach(this.store::enqueue);
			List<LeasedTask> first = this.store.claim(request).tasks();
			assertThat(first).hasSize(4);
			tasks.subList(4, 44).forEach(this.store::enqueue);
			assertThat(this.store.claim(request).tasks()).as("all other places are free").hasSize(28);
			assertThat(this.store.acknowledge(first.stream().map(LeasedTask::ref).toList())).containsOnly(Reply.DONE);
			assertThat(this.store.claim(request).tasks()).as("no start was lost").hasSize(4);
		}
		finally {
			cluster.process(LOST).start();
		}
		awaitUp();
		cluster.awaitOk();
	}

	private static boolean isThere(Partitions partitions, int partition) {
		return RedisCluster.firstOwner(SlotHash.getSlot(partitions.keys(partition)[0])) != LOST;
	}

	@Test
	void noNodeStartsWithoutAPrimary() {
		cluster.process(LOST).kill();
		try (RedisStores late = cluster.stores(TIMEOUT)) {
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(late.node()::check);
		}
		finally {
			cluster.process(LOST).start();
		}
		awaitUp();
		cluster.awaitOk();
	}

	@Test
	void aNodeThatHasRoomForFewerTasksThanThereArePartitionsGoesOnToo() throws Exception {
		this.node.close();
		cluster.process(LOST).kill();
		this.node = TestNode.start(this.store, this::run, new TestSettings().maxInFlight(4));
		try {
			await().until(() -> !this.node.durable().missingStoreParts().isEmpty());
			assertOthersGoOn();
		}
		finally {
			cluster.process(LOST).start();
		}
		awaitUp();
		cluster.awaitOk();
	}

	@Test
	void writesThatWaitForTheReplicasOfAPrimaryThatHangsHoldUpNoOtherWrites() throws Exception {
		RedisDelayedTaskStore waiting = stores
			.node(RedisStores.OPTIONS.withWaitReplicas(1).withWaitTimeout(Duration.ofMillis(100)));
		enqueueUncertainly(waiting, 0, 9);
		enqueueUncertainly(waiting, LOST, 8);
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
					writes.add(executor.submit(() -> waiting.enqueue(taskOn(LOST, 7))));
				}
				// The servers have no replicas, so a write that has come through is
				// uncertain.
				enqueueUncertainly(waiting, 0, 6);
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
		awaitUp();
		cluster.awaitOk();
	}

	private static void enqueueUncertainly(DelayedTaskStore store, int server, int thousands) {
		assertThatExceptionOfType(UncertainWriteException.class)
			.isThrownBy(() -> store.enqueue(taskOn(server, thousands)));
	}

	private static NewTask taskOn(int server, int thousands) {
		String key = numbersOn(server, thousands, 1).get(0).toString();
		return task(TestNode.NAME, key, DueTime.after(HOUR), IfPending.REPLACE, null);
	}

	/**
	 * Asserts several times that tasks of the other primaries run long before a call to
	 * the missing primary would time out. A machine that stalls has more attempts.
	 */
	private void assertOthersGoOn() {
		int prompt = 0;
		for (int round = 1; prompt < 3; round++) {
			assertThat(round).as("with %d prompt rounds", prompt).isLessThanOrEqualTo(9);
			Set<Integer> others = enqueueOn((LOST + round) % 2 * 2, 10 * round, 40, Duration.ofMillis(300));
			awaitRun(others);
			prompt += others.stream()
				.allMatch((number) -> this.lateness.get(number).compareTo(TIMEOUT.dividedBy(2)) < 0) ? 1 : 0;
		}
	}

}
