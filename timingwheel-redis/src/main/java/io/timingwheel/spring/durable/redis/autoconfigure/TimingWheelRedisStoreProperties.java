package io.timingwheel.spring.durable.redis.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.durable.redis.RedisStoreOptions;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The {@code timingwheel.store.redis.*} properties.
 *
 * @since 0.1
 */
@ConfigurationProperties("timingwheel.store.redis")
public class TimingWheelRedisStoreProperties implements InitializingBean {

	/**
	 * Prefix of all keys in Redis. Applications that do not share their tasks need
	 * different namespaces.
	 */
	private String namespace = "timingwheel";

	/**
	 * Number of partitions that hold the tasks, from 1 to 1024. The first start fixes the
	 * number.
	 */
	private int partitions = 16;

	/**
	 * Number of replicas that must have received a change before a task counts as stored
	 * or cancelled.
	 */
	private int waitReplicas = 0;

	/**
	 * How long to wait for these replicas.
	 */
	private Duration waitTimeout = Duration.ofSeconds(1);

	/**
	 * Number of dead tasks that Redis keeps. Each partition keeps its share, and drops
	 * the oldest ones.
	 */
	private int maxDead = 100_000;

	public String getNamespace() {
		return this.namespace;
	}

	public void setNamespace(String namespace) {
		this.namespace = namespace;
	}

	public int getPartitions() {
		return this.partitions;
	}

	public void setPartitions(int partitions) {
		this.partitions = partitions;
	}

	public int getWaitReplicas() {
		return this.waitReplicas;
	}

	public void setWaitReplicas(int waitReplicas) {
		this.waitReplicas = waitReplicas;
	}

	public Duration getWaitTimeout() {
		return this.waitTimeout;
	}

	public void setWaitTimeout(Duration waitTimeout) {
		this.waitTimeout = waitTimeout;
	}

	public int getMaxDead() {
		return this.maxDead;
	}

	public void setMaxDead(int maxDead) {
		this.maxDead = maxDead;
	}

	/**
	 * Checks the values.
	 * @throws InvalidConfigurationPropertyValueException if a value is not valid
	 */
	@Override
	public void afterPropertiesSet() {
		RedisStoreOptions defaults = RedisStoreOptions.DEFAULTS;
		Duration timeout = defaults.waitTimeout();
		String prefix = "timingwheel.store.redis.";
		PropertyChecks.pass(prefix + "namespace", this.namespace,
				(value) -> new RedisStoreOptions(value, 1, 0, timeout, 1));
		PropertyChecks.pass(prefix + "partitions", this.partitions,
				(value) -> new RedisStoreOptions(defaults.namespace(), value, 0, timeout, 1));
		PropertyChecks.pass(prefix + "wait-replicas", this.waitReplicas,
				(value) -> new RedisStoreOptions(defaults.namespace(), 1, value, timeout, 1));
		PropertyChecks.pass(prefix + "wait-timeout", this.waitTimeout,
				(value) -> new RedisStoreOptions(defaults.namespace(), 1, 0, value, 1));
		PropertyChecks.pass(prefix + "max-dead", this.maxDead,
				(value) -> new RedisStoreOptions(defaults.namespace(), 1, 0, timeout, value));
	}

}
