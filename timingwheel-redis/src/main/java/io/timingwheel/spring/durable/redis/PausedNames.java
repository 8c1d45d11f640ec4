package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.TaskLimits;

/**
 * The names that are paused for all nodes: a set beside the partitions. Thread-safe.
 */
final class PausedNames {

	private final StoreConnection connection;

	private final byte[] key;

	PausedNames(StoreConnection connection, String namespace) {
		this.connection = connection;
		this.key = Partitions.bytes("timingwheel:{" + namespace + "}:paused");
	}

	void set(String name, boolean paused) {
		TaskLimits.checkName(name);
		byte[] member = Partitions.bytes(name);
		this.connection.get(paused ? this.connection.commands().sadd(this.key, member)
				: this.connection.commands().srem(this.key, member));
	}

	Set<String> read() {
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
