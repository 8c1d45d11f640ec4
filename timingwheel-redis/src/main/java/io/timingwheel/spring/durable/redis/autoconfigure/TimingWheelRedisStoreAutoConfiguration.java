package io.timingwheel.spring.durable.redis.autoconfigure;

import io.lettuce.core.RedisClient;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.internal.StoreType;
import io.timingwheel.spring.durable.redis.RedisDelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
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
@EnableConfigurationProperties(TimingWheelRedisStoreProperties.class)
public final class TimingWheelRedisStoreAutoConfiguration {

	@Bean
	RedisDelayedTaskStore timingWheelDelayedTaskStore(ObjectProvider<RedisConnectionFactory> connectionFactories,
			TimingWheelRedisStoreProperties properties) {
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

}
