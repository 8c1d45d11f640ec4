package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.lettuce.core.cluster.SlotHash;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nodes on a Cluster of which one primary is down for a while.
 */
abstract class RedisClusterTestSupport extends RedisNodeTestSupport {

	/** The server that is down. */
	static final int LOST = 1;

	/** How long a call waits for a reply. */
	static final Duration TIMEOUT = Duration.ofSeconds(5);

	/**
	 * Stores tasks on a server.
	 * @param thousands their numbers start with
	 * @param server where they were before any failover
	 * @return their numbers
	 */
	final Set<Integer> enqueueOn(int server, int thousands, int count, Duration delay) {
		List<Integer> numbers = numbersOn(server, thousands, count);
		numbers.forEach((number) -> enqueue(number, delay));
		return Set.copyOf(numbers);
	}

	/**
	 * Numbers of tasks that a server has.
	 */
	static List<Integer> numbersOn(int server, int thousands, int count) {
		return IntStream.iterate(thousands * 1000, (number) -> number + 1)
			.filter((number) -> server(number) == server)
			.limit(count)
			.boxed()
			.toList();
	}

	private static int server(int number) {
		Partitions partitions = new Partitions(RedisStores.OPTIONS.namespace(), RedisStores.OPTIONS.partitions());
		byte[] tasks = partitions.keys(partitions.of(Partitions.holderField(taskId(number))))[0];
		return RedisCluster.firstOwner(SlotHash.getSlot(tasks));
	}

	/**
	 * Waits until the node reports this server, and no other, as missing.
	 */
	final void awaitLost(String server) {
		await().untilAsserted(() -> {
			assertThat(this.node.durable().missingStoreParts()).containsExactly(server);
			assertThat(this.node.durable().storeError()).isPresent();
			assertThat(this.node.durable().storeDownSince()).isPresent();
			assertThat(this.log).contains(PARTLY_GONE + " (" + server + ")");
		});
	}

	/**
	 * Waits until the delayed tasks have run, and the node reports no missing server.
	 */
	final void awaitBack(Set<Integer> held) {
		awaitRun(held);
		awaitUp();
		assertThat(this.log).doesNotContain(GONE);
		awaitEmptyStore();
	}

}
