package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;

import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Three primaries that share the slots.
 */
final class RedisCluster {

	private final List<RedisProcess> servers = IntStream.range(0, 3)
		.mapToObj((i) -> RedisProcess.with("cluster-enabled yes", "cluster-node-timeout 5000"))
		.toList();

	private final RedisClient client = RedisClient.create();

	private final List<RedisCommands<String, String>> commands = this.servers.stream()
		.map((server) -> this.client.connect(RedisURI.create("127.0.0.1", server.port())).sync())
		.toList();

	private RedisCluster() {
		int size = this.servers.size();
		for (int i = 0; i < size; i++) {
			int first = SlotHash.SLOT_COUNT * i / size;
			int last = SlotHash.SLOT_COUNT * (i + 1) / size;
			this.commands.get(i).clusterAddSlots(IntStream.range(first, last).toArray());
			this.commands.get(0).clusterMeet("127.0.0.1", this.servers.get(i).port());
		}
		await().atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> assertThat(this.commands)
				.allMatch((server) -> server.clusterInfo().contains("cluster_state:ok")
						&& server.clusterInfo().contains("cluster_known_nodes:3")));
	}

	static RedisCluster start() {
		return new RedisCluster();
	}

	RedisStores stores() {
		return new RedisStores(new RedisClusterConfiguration(
				this.servers.stream().map((server) -> "127.0.0.1:" + server.port()).toList()));
	}

	int size() {
		return this.servers.size();
	}

	RedisProcess process(int index) {
		return this.servers.get(index);
	}

	RedisCommands<String, String> server(int index) {
		return this.commands.get(index);
	}

	/**
	 * Which server has a slot.
	 */
	int owner(int slot) {
		for (int i = 0; i < size(); i++) {
			if (this.commands.get(i).clusterCountKeysInSlot(slot) > 0) {
				return i;
			}
		}
		throw new IllegalStateException("Slot " + slot + " is empty");
	}

}
