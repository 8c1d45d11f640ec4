package io.timingwheel.spring.durable.redis;

import java.time.Duration;

import org.springframework.util.Assert;

/**
 * How a {@link RedisDelayedTaskStore} uses Redis.
 *
 * @param namespace what its keys have in common; applications that do not share their
 * tasks have different ones
 * @param partitions over how many partitions the tasks are spread, from 1 to
 * {@link #MAX_PARTITIONS}; fixed with the first start
 * @param waitReplicas how many replicas must have a task before it counts as stored, 0
 * for none
 * @param waitTimeout how long to wait for the replicas, at least 1 ms
 */
public record RedisStoreOptions(String namespace, int partitions, int waitReplicas, Duration waitTimeout) {

	/** The largest number of partitions. */
	public static final int MAX_PARTITIONS = 1024;

	/** Those that hold unless others are set. */
	public static final RedisStoreOptions DEFAULTS = new RedisStoreOptions("timingwheel", 16, 0, Duration.ofSeconds(1));

	/**
	 * Checks the values.
	 * @throws IllegalArgumentException if one makes no sense
	 */
	public RedisStoreOptions {
		Assert.isTrue(namespace.matches("[^{}\\s]+"),
				"the namespace must not be empty, and have neither braces nor blanks");
		Assert.isTrue(partitions >= 1 && partitions <= MAX_PARTITIONS,
				"the number of partitions must be from 1 to " + MAX_PARTITIONS);
		Assert.isTrue(waitReplicas >= 0, "the number of replicas must not be negative");
		Assert.isTrue(waitTimeout.toMillis() >= 1, "the time to wait for replicas must be at least 1ms");
	}

	/**
	 * The same with another namespace.
	 * @param namespace the namespace
	 * @return the options
	 */
	public RedisStoreOptions withNamespace(String namespace) {
		return new RedisStoreOptions(namespace, this.partitions, this.waitReplicas, this.waitTimeout);
	}

	/**
	 * The same with another number of partitions.
	 * @param partitions the number
	 * @return the options
	 */
	public RedisStoreOptions withPartitions(int partitions) {
		return new RedisStoreOptions(this.namespace, partitions, this.waitReplicas, this.waitTimeout);
	}

	/**
	 * The same with another number of replicas to wait for.
	 * @param waitReplicas the number
	 * @return the options
	 */
	public RedisStoreOptions withWaitReplicas(int waitReplicas) {
		return new RedisStoreOptions(this.namespace, this.partitions, waitReplicas, this.waitTimeout);
	}

	/**
	 * The same with another time to wait for replicas.
	 * @param waitTimeout the time
	 * @return the options
	 */
	public RedisStoreOptions withWaitTimeout(Duration waitTimeout) {
		return new RedisStoreOptions(this.namespace, this.partitions, this.waitReplicas, waitTimeout);
	}

}
