package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.TaskLimits;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The names that are paused for all nodes: a set beside the partitions. While the primary
 * of a Cluster that has the set does not answer, the names are those that were read last,
 * so that the tasks of the other primaries run. If Redis has lost its data, the names
 * that were read last are stored again, with the values that the nodes of the namespace
 * agree on, which are in the same slot. Thread-safe.
 */
final class PausedNames {

	private static final Log logger = LogFactory.getLog(PausedNames.class);

	private final StoreConnection connection;

	private final PartitionOutages outages;

	private final byte[] key;

	private volatile Set<String> known = Set.of();

	/** Knows the values that all nodes agree on, once this node has checked them. */
	private volatile @Nullable Requirements requirements;

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

	/**
	 * Restores the set from now on if Redis has lost it.
	 * @param requirements has found or stored the values that all nodes agree on
	 */
	void restoreIfLost(Requirements requirements) {
		this.requirements = requirements;
	}

	Set<String> read() {
		if (!this.connection.isCluster()) {
			this.known = ask();
			return this.known;
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
		Requirements requirements = this.requirements;
		if (requirements != null && requirements.restoreAgreed()) {
			Set<String> lost = this.known;
			lost.forEach((name) -> set(name, true));
			if (lost.isEmpty()) {
				logger.info("Redis had lost its data, and the settings of the namespace are stored again");
			}
			else {
				logger.warn("Redis had lost its data, and the pauses of " + lost + " are stored again");
			}
		}
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
