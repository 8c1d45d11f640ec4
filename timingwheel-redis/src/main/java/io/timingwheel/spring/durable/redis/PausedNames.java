package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.TaskLimits;

/**
 * The names that are paused for all nodes: a set beside the partitions. While the primary
 * of a Cluster that has the set does not answer, the names are those that were read last,
 * so that the tasks of the other primaries run. Thread-safe.
 */
final class PausedNames {

	private final StoreConnection connection;

	private final PartitionOutages outages;

	private final byte[] key;

	private volatile Set<String> known = Set.of();

	PausedNames(StoreConnection connection, PartitionOutages outages, String namespace) {
		this.connection = connection;
		this.outages = outages;
		this.key = Partitions.bytes("timingwheel:{" + namespace + "}:paused");
	}

	void set(String name, boolean paused) {
		TaskLimits.checkName(name);
		byte[] member = Partitions.bytes(name);
		this.connection.get(paused ? this.connection.commands().sadd(this.key, member)
				: this.connection.commands().srem(this.key, member));
	}

	Set<String> read() {
		if (!this.connection.isCluster()) {
			return ask();
		}
		if (!this.outages.isMissing(this.key)) {
			try {
				this.known = ask();
			}
			catch (RuntimeException ex) {
				// The next claims show whether the other primaries answer.
			}
		}
		return this.known;
	}

	private Set<String> ask() {
		return this.connection.get(this.connection.commands().smembers(this.key))
			.stream()
			.map((member) -> new String(member, StandardCharsets.UTF_8))
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Resumes all names. Only tests do this.
	 */
	void deleteAll() {
		this.connection.get(this.connection.commands().del(this.key));
	}

}
