package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.MigrateArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster of three primaries that share the slots. When one primary is down, only
 * its own slots are unavailable. As an extension, this class stops the Cluster after the
 * tests of a class.
 */
public final class RedisCluster implements AutoCloseable, AfterAllCallback {

	private static final int PRIMARIES = 3;

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	/** A server that stalls for a few seconds is not dead. */
	private static final Duration SHORT = Duration.ofSeconds(4);

	/** A server that stalls for some time is not dead. */
	private static final Duration LONG = Duration.ofMinutes(1);

	private final List<RedisProcess> servers = new ArrayList<>();

	private final List<RedisCommands<String, String>> commands = new ArrayList<>();

	private final int size;

	/** After which time without an answer a server counts as dead. */
	private final Duration nodeTimeout;

	private final RedisClient client = RedisClient.create();

	private RedisCluster(int size, Duration nodeTimeout) {
		this.size = size;
		this.nodeTimeout = nodeTimeout;
		for (int i = 0; i < this.size; i++) {
			add();
		}
		for (int i = 0; i < PRIMARIES; i++) {
			server(i).clusterAddSlots(IntStream.range(firstSlot(i), firstSlot(i + 1)).toArray());
		}
		awaitOk();
	}

	public static RedisCluster start() {
		return new RedisCluster(PRIMARIES, SHORT);
	}

	/**
	 * Starts a Cluster for tests in which no server fails. A server that stalls for some
	 * time does not count as dead.
	 */
	public static RedisCluster startPatient() {
		return new RedisCluster(PRIMARIES, LONG);
	}

	/** Starts a Cluster with a replica for each primary. */
	public static RedisCluster withReplicas() {
		RedisCluster cluster = new RedisCluster(2 * PRIMARIES, SHORT);
		for (int i = 0; i < PRIMARIES; i++) {
			String primary = cluster.server(i).clusterMyId();
			cluster.server(PRIMARIES + i).clusterReplicate(primary);
		}
		IntStream.range(0, PRIMARIES).forEach(cluster::awaitReplica);
		return cluster;
	}

	private void add() {
		RedisProcess server = RedisProcess.with("cluster-enabled yes",
				"cluster-node-timeout " + this.nodeTimeout.toMillis(), "cluster-require-full-coverage no",
				"repl-diskless-sync yes", "repl-diskless-sync-delay 0");
		this.servers.add(server);
		RedisCommands<String, String> commands = this.client.connect(RedisURI.create("127.0.0.1", server.port()))
			.sync();
		// Servers that start with the same epoch choose others later. A replica that does
		// not know the epoch of its primary cannot take the place of its primary.
		commands.clusterSetConfigEpoch(this.servers.size());
		this.commands.add(commands);
		server(0).clusterMeet("127.0.0.1", server.port());
	}

	/** Waits until each server knows all others, and each slot is served. */
	public void awaitOk() {
		await().atMost(PATIENCE)
			.ignoreExceptions()
			.untilAsserted(() -> assertThat(this.commands)
				.allMatch((server) -> server.clusterInfo().contains("cluster_state:ok")
						&& server.clusterInfo().contains("cluster_slots_ok:" + SlotHash.SLOT_COUNT)
						&& server.clusterInfo().contains("cluster_known_nodes:" + this.size)));
	}

	/** Waits until a primary has a replica that is up to date. */
	private void awaitReplica(int index) {
		await().atMost(PATIENCE)
			.ignoreExceptions()
			.until(() -> server(index).info("replication").contains("state=online"));
	}

	public RedisClusterConfiguration configuration() {
		return new RedisClusterConfiguration(addresses());
	}

	public List<String> addresses() {
		return IntStream.range(0, this.size).mapToObj(this::address).toList();
	}

	public String address(int index) {
		return "127.0.0.1:" + process(index).port();
	}

	public int size() {
		return this.size;
	}

	public RedisProcess process(int index) {
		return this.servers.get(index);
	}

	public RedisCommands<String, String> server(int index) {
		return this.commands.get(index);
	}

	/** Returns the server that has had a slot since the start. */
	public static int firstOwner(int slot) {
		return (int) IntStream.rangeClosed(1, PRIMARIES).filter((i) -> firstSlot(i) <= slot).count();
	}

	private static int firstSlot(int index) {
		return SlotHash.SLOT_COUNT * index / PRIMARIES;
	}

	/**
	 * Moves a partition from its first primary to another one, as {@code redis-cli
	 * --cluster reshard} does. The move pauses in the middle.
	 */
	public void move(String namespace, int partition) throws InterruptedException {
		String prefix = "timingwheel:{" + namespace + ":" + partition + "}:";
		int slot = SlotHash.getSlot(prefix + "heads");
		int from = firstOwner(slot);
		int to = (from + 1) % PRIMARIES;
		RedisCommands<String, String> source = server(from);
		RedisCommands<String, String> target = server(to);
		target.clusterSetSlotImporting(slot, source.clusterMyId());
		source.clusterSetSlotMigrating(slot, target.clusterMyId());
		for (String key : List.of("heads", "bodies", "index", "holders", "paused", "starts", "nodes")) {
			source.migrate("127.0.0.1", process(to).port(), 0, PATIENCE.toMillis(),
					MigrateArgs.Builder.keys(prefix + key));
			// Meanwhile the slot is split between both servers.
			TimeUnit.MILLISECONDS.sleep(100);
		}
		// The target gets the command first. Otherwise target and source refer clients to
		// each other for a while.
		target.clusterSetSlotNode(slot, target.clusterMyId());
		for (int i = 0; i < PRIMARIES; i++) {
			server(i).clusterSetSlotNode(slot, target.clusterMyId());
		}
	}

	@Override
	public void afterAll(ExtensionContext context) {
		close();
	}

	@Override
	public void close() {
		this.client.shutdown();
		this.servers.forEach(RedisProcess::kill);
	}

}
