package io.timingwheel.spring.autoconfigure;

import java.util.function.Function;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.redis.RedisDelayedTaskStore;
import io.timingwheel.spring.durable.redis.RedisStoreOptions;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Auto-configuration of the store of durable tasks in Redis.
 */
@AutoConfiguration(before = TimingWheelAutoConfiguration.class,
		afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnBooleanProperty(name = "timingwheel.enabled", matchIfMissing = true)
@ConditionalOnProperty(name = "timingwheel.store.type", havingValue = "redis")
@ConditionalOnMissingBean(DelayedTaskStore.class)
@EnableConfigurationProperties(TimingWheelProperties.class)
public final class TimingWheelRedisStoreAutoConfiguration {

	private static final String SPRING_DATA_REDIS = "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

	private static final String STORE = "io.timingwheel.spring.durable.redis.RedisDelayedTaskStore";

	private static final String LETTUCE = "io.lettuce.core.RedisClient";

	private static InvalidConfigurationPropertyValueException unusable(String reason) {
		return new InvalidConfigurationPropertyValueException("timingwheel.store.type", "redis", reason);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { STORE, SPRING_DATA_REDIS, LETTUCE })
	static class StoreConfiguration {

		@Bean
		RedisDelayedTaskStore timingWheelDelayedTaskStore(ObjectProvider<RedisConnectionFactory> connectionFactory,
				TimingWheelProperties properties) {
			return new RedisDelayedTaskStore(application(connectionFactory), options(properties.getStore().getRedis()));
		}

		private static LettuceConnectionFactory application(ObjectProvider<RedisConnectionFactory> connectionFactory) {
			RedisConnectionFactory application = connectionFactory.getIfUnique();
			if (application instanceof LettuceConnectionFactory lettuce) {
				return lettuce;
			}
			if (application != null) {
				throw unusable("the application uses " + application.getClass().getSimpleName()
						+ ", and the store needs Lettuce: set spring.data.redis.client-type=lettuce,"
						+ " or declare a LettuceConnectionFactory bean");
			}
			throw unusable(connectionFactory.stream().findAny().isEmpty()
					? "there is no RedisConnectionFactory: add the dependency spring-boot-starter-data-redis and set"
							+ " spring.data.redis.url, or declare a LettuceConnectionFactory bean"
					: "there is more than one RedisConnectionFactory: mark that of the tasks @Primary");
		}

		private static RedisStoreOptions options(TimingWheelProperties.Store.Redis redis) {
			RedisStoreOptions options = RedisStoreOptions.DEFAULTS;
			options = apply("namespace", redis.getNamespace(), options::withNamespace);
			options = apply("partitions", redis.getPartitions(), options::withPartitions);
			options = apply("wait-replicas", redis.getWaitReplicas(), options::withWaitReplicas);
			return apply("wait-timeout", redis.getWaitTimeout(), options::withWaitTimeout);
		}

		private static <T> RedisStoreOptions apply(String name, T value, Function<T, RedisStoreOptions> setter) {
			try {
				return setter.apply(value);
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidConfigurationPropertyValueException("timingwheel.store.redis." + name, value,
						String.valueOf(ex.getMessage()));
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass(STORE)
	static class MissingModuleConfiguration {

		@Bean
		DelayedTaskStore timingWheelDelayedTaskStore() {
			throw unusable("the store is not on the class path: add the dependency io.timingwheel:timingwheel-redis");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = STORE)
	@ConditionalOnMissingClass(SPRING_DATA_REDIS)
	static class MissingSpringDataRedisConfiguration {

		@Bean
		DelayedTaskStore timingWheelDelayedTaskStore() {
			throw unusable(
					"Spring Data Redis is not on the classpath: add the dependency spring-boot-starter-data-redis");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { STORE, SPRING_DATA_REDIS })
	@ConditionalOnMissingClass(LETTUCE)
	static class MissingLettuceConfiguration {

		@Bean
		DelayedTaskStore timingWheelDelayedTaskStore() {
			throw unusable("Lettuce is not on the classpath, and the store needs it: add the dependency"
					+ " io.lettuce:lettuce-core");
		}

	}

}
