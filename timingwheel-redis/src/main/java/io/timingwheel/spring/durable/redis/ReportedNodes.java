package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.NodeState;
import io.timingwheel.spring.durable.ReportedNode;

/**
 * What the nodes report about themselves: a hash beside the partitions. Each node writes
 * its own field only. A node that begins deletes the fields of nodes that have not
 * reported for long. There are no reports while the primary of a Cluster that has the
 * hash does not answer. Thread-safe.
 */
final class ReportedNodes {

	private final StoreConnection connection;

	private final PartitionOutages outages;

	private final byte[] key;

	private final LongSupplier clock;

	ReportedNodes(StoreConnection connection, PartitionOutages outages, String namespace, LongSupplier clock) {
		this.connection = connection;
		this.outages = outages;
		this.key = Partitions.bytes("timingwheel:{" + namespace + "}:nodes");
		this.clock = clock;
	}

	void report(NodeState state) {
		if (this.outages.isMissing(this.key)) {
			return;
		}
		String value = (state.claiming() ? 1 : 0) + " " + state.inFlight() + " " + this.clock.getAsLong();
		boolean begins = this.connection
			.get(this.connection.commands().hset(this.key, Partitions.bytes(state.nodeId()), Partitions.bytes(value)));
		if (begins) {
			all().stream().filter((node) -> !isKept(node)).forEach((node) -> forget(node.state().nodeId()));
		}
	}

	void forget(String nodeId) {
		this.connection.get(this.connection.commands().hdel(this.key, Partitions.bytes(nodeId)));
	}

	List<ReportedNode> read() {
		if (this.outages.isMissing(this.key)) {
			return List.of();
		}
		return all().stream()
			.filter(ReportedNodes::isKept)
			.sorted(Comparator.comparing(ReportedNode::age).thenComparing((node) -> node.state().nodeId()))
			.limit(DelayedTaskStore.MAX_NODES)
			.toList();
	}

	private List<ReportedNode> all() {
		Map<byte[], byte[]> fields = this.connection.get(this.connection.commands().hgetall(this.key));
		long now = this.clock.getAsLong();
		return fields.entrySet()
			.stream()
			.map((field) -> node(text(field.getKey()), text(field.getValue()), now))
			.toList();
	}

	private static ReportedNode node(String nodeId, String value, long now) {
		String[] parts = value.split(" ");
		return new ReportedNode(new NodeState(nodeId, parts[0].equals("1"), Integer.parseInt(parts[1])),
				Duration.ofMillis(Math.max(0, now - Long.parseLong(parts[2]))));
	}

	private static boolean isKept(ReportedNode node) {
		return node.age().compareTo(DelayedTaskStore.NODE_RETENTION) <= 0;
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
