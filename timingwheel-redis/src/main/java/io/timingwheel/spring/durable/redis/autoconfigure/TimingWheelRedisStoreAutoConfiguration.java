package io.timingwheel.spring.durable.redis.autoconfigure;

import java.time.Duration;
import java.util.function.Consumer;

import io.lettuce.core.RedisClient;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.autoconfigure.internal.StoreType;
import io.timingwheel.spring.durable.redis.RedisDelayedTaskStore;
import io.timingwheel.spring.durable.redis.RedisStoreOptions;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Auto-configuration of the store of durable tasks in Redis.
 *
 * @since 0.1
 */
@AutoConfiguration(before = TimingWheelAutoConfiguration.class,
		afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnClass({ RedisDelayedTaskStore.class, LettuceConnectionFactory.class, RedisClient.class })
@ConditionalOnBooleanProperty(name = "timingwheel.enabled", matchIfMissing = true)
@ConditionalOnProperty(name = StoreType.PROPERTY, havingValue = "redis")
@ConditionalOnMissingBean(DelayedTaskStore.class)
@EnableConfigurationProperties(TimingWheelRedisStoreAutoConfiguration.RedisStoreProperties.class)
public final class TimingWheelRedisStoreAutoConfiguration {

	@Bean
	RedisDelayedTaskStore timingWheelDelayedTaskStore(ObjectProvider<RedisConnectionFactory> connectionFactories,
			RedisStoreProperties properties) {
		return new RedisDelayedTaskStore(connectionFactory(connectionFactories), properties.options());
	}

	private static LettuceConnectionFactory connectionFactory(ObjectProvider<RedisConnectionFactory> factories) {
		RedisConnectionFactory factory = factories.getIfUnique();
		if (factory instanceof LettuceConnectionFactory lettuce) {
			return lettuce;
		}
		if (factory != null) {
			throw new UnusableTaskStoreException(
					"the Redis store needs Lettuce, and the application uses " + factory.getClass().getSimpleName(),
					"set spring.data.redis.client-type=lettuce, or declare a LettuceConnectionFactory bean");
		}
		if (factories.stream().findAny().isEmpty()) {
			throw new UnusableTaskStoreException("there is no RedisConnectionFactory for the Redis store",
					"add the dependency org.springframework.boot:spring-boot-starter-data-redis and set"
							+ " spring.data.redis.url, or declare a LettuceConnectionFactory bean");
		}
		throw new UnusableTaskStoreException("there is more than one RedisConnectionFactory for the Redis store",
				"mark the RedisConnectionFactory for the tasks @Primary");
	}

	/**
	 * The {@code timingwheel.store.redis.*} properties.
	 *
	 * @param namespace Prefix of all keys in Redis. Applications that do not share their
	 * tasks need different namespaces.
	 * @param partitions Number of partitions that hold the tasks, from 1 to 1024. The
	 * first start fixes the number.
	 * @param waitReplicas Number of replicas that must have received a change before a
	 * task counts as stored or cancelled.
	 * @param waitTimeout How long to wait for these replicas.
	 * @param maxDead Number of dead tasks of a name that Redis keeps. It drops the oldest
	 * ones.
	 */
	@ConfigurationProperties("timingwheel.store.redis")
	record RedisStoreProperties(@DefaultValue("timingwheel") String namespace, @DefaultValue("16") int partitions,
			@DefaultValue("0") int waitReplicas, @DefaultValue("1s") Duration waitTimeout,
			@DefaultValue("10000") int maxDead) {

		RedisStoreOptions options() {
			RedisStoreOptions valid = RedisStoreOptions.DEFAULTS;
			check("namespace", this.namespace, (value) -> new RedisStoreOptions(value, 1, 0, valid.waitTimeout(), 1));
			check("partitions", this.partitions,
					(value) -> new RedisStoreOptions(valid.namespace(), value, 0, valid.waitTimeout(), 1));
			check("wait-replicas", this.waitReplicas,
					(value) -> new RedisStoreOptions(valid.namespace(), 1, value, valid.waitTimeout(), 1));
			check("wait-timeout", this.waitTimeout,
					(value) -> new RedisStoreOptions(valid.namespace(), 1, 0, value, 1));
			check("max-dead", this.maxDead,
					(value) -> new RedisStoreOptions(valid.namespace(), 1, 0, valid.waitTimeout(), value));
			return new RedisStoreOptions(this.namespace, this.partitions, this.waitReplicas, this.waitTimeout,
					this.maxDead);
		}

		private static <T> void check(String name, T value, Consumer<T> check) {
			PropertyChecks.pass("timingwheel.store.redis." + name, value, check);
		}

	}

}
