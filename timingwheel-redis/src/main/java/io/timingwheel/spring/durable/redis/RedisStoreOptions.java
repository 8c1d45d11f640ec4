package io.timingwheel.spring.durable.redis;

import java.time.Duration;

import org.springframework.util.Assert;

/**
 * How a {@link RedisDelayedTaskStore} uses Redis. Immutable.
 *
 * @param namespace the common part of all keys in Redis, with neither braces nor white
 * space; stores with the same namespace share their tasks
 * @param partitions the number of partitions that the tasks are spread over, from 1 to
 * {@link #MAX_PARTITIONS}; the first start fixes it for the namespace
 * @param waitReplicas how many replicas must acknowledge that a task was stored,
 * cancelled or moved before the call returns; 0 for none
 * @param waitTimeout how long a call waits for the replicas, at least 1 ms; then the call
 * throws {@link UncertainWriteException}
 * @param maxDead how many dead tasks of a name the store keeps, at least 1; it drops the
 * oldest ones
 * @since 0.1
 */
public record RedisStoreOptions(String namespace, int partitions, int waitReplicas, Duration waitTimeout, int maxDead) {

	public static final int MAX_PARTITIONS = 1024;

	/**
	 * The default options: namespace {@code timingwheel}, 16 partitions, no waiting for
	 * replicas, a timeout of 1 s for the replicas, and 10,000 dead tasks of each name.
	 */
	public static final RedisStoreOptions DEFAULTS = new RedisStoreOptions("timingwheel", 16, 0, Duration.ofSeconds(1),
			10_000);

	/**
	 * @throws IllegalArgumentException if a value is out of its range
	 */
	public RedisStoreOptions {
		Assert.isTrue(namespace.matches("[^{}\\s]+"),
				"the namespace must not be empty, and must not contain braces or white space");
		Assert.isTrue(partitions >= 1 && partitions <= MAX_PARTITIONS,
				"the number of partitions must be from 1 to " + MAX_PARTITIONS);
		Assert.isTrue(waitReplicas >= 0, "the number of replicas must not be negative");
		Assert.isTrue(waitTimeout.toMillis() >= 1, "the time to wait for replicas must be at least 1ms");
		Assert.isTrue(maxDead >= 1, "the number of dead tasks must be at least 1");
	}

}
