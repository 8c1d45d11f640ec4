package io.timingwheel.spring.durable.redis.autoconfigure;

import java.time.Duration;
import java.util.function.Consumer;

import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.durable.redis.RedisStoreOptions;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The {@code timingwheel.store.redis.*} properties.
 *
 * @param namespace Prefix of all keys in Redis. Applications that do not share their
 * tasks need different namespaces.
 * @param partitions Number of partitions that hold the tasks, from 1 to 1024. The first
 * start fixes the number.
 * @param waitReplicas Number of replicas that must have received a change before a task
 * counts as stored or cancelled.
 * @param waitTimeout How long to wait for these replicas.
 * @param maxDead Number of dead tasks of a name that Redis keeps. It drops the oldest
 * ones.
 */
@ConfigurationProperties("timingwheel.store.redis")
record TimingWheelRedisStoreProperties(@DefaultValue("timingwheel") String namespace,
		@DefaultValue("16") int partitions, @DefaultValue("0") int waitReplicas,
		@DefaultValue("1s") Duration waitTimeout, @DefaultValue("10000") int maxDead) {

	RedisStoreOptions options() {
		RedisStoreOptions valid = RedisStoreOptions.DEFAULTS;
		check("namespace", this.namespace, (value) -> new RedisStoreOptions(value, 1, 0, valid.waitTimeout(), 1));
		check("partitions", this.partitions,
				(value) -> new RedisStoreOptions(valid.namespace(), value, 0, valid.waitTimeout(), 1));
		check("wait-replicas", this.waitReplicas,
				(value) -> new RedisStoreOptions(valid.namespace(), 1, value, valid.waitTimeout(), 1));
		check("wait-timeout", this.waitTimeout, (value) -> new RedisStoreOptions(valid.namespace(), 1, 0, value, 1));
		check("max-dead", this.maxDead,
				(value) -> new RedisStoreOptions(valid.namespace(), 1, 0, valid.waitTimeout(), value));
		return new RedisStoreOptions(this.namespace, this.partitions, this.waitReplicas, this.waitTimeout,
				this.maxDead);
	}

	private static <T> void check(String name, T value, Consumer<T> check) {
		PropertyChecks.pass("timingwheel.store.redis." + name, value, check);
	}

}
