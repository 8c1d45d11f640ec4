package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.redis.RedisDelayedTaskStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class RedisStoreConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TimingWheelRedisStoreAutoConfiguration.class, DataRedisAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=redis");

	@Test
	void isThereOnTheConnectionOfTheApplication() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(RedisDelayedTaskStore.class));
	}

	@Test
	void isThereOnlyIfItIsAskedFor() {
		this.runner.withPropertyValues("timingwheel.store.type=none")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DelayedTaskStore.class));
		this.runner.withPropertyValues("timingwheel.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DelayedTaskStore.class));
	}

	@Test
	void backsOffFromAStoreOfTheApplication() {
		this.runner.withBean("mine", DelayedTaskStore.class, () -> mock(DelayedTaskStore.class))
			.run((context) -> assertThat(context).hasSingleBean(DelayedTaskStore.class)
				.doesNotHaveBean(RedisDelayedTaskStore.class));
	}

	@Test
	void refusesJedis() {
		this.runner.withPropertyValues("spring.data.redis.client-type=jedis")
			.run((context) -> assertThat(failure(context).getReason()).contains("JedisConnectionFactory",
					"spring.data.redis.client-type=lettuce"));
	}

	@Test
	void failsWithoutLettuce() {
		this.runner.withClassLoader(new FilteredClassLoader("io.lettuce"))
			.run((context) -> assertThat(failure(context).getReason()).contains("io.lettuce:lettuce-core"));
	}

	@Test
	void failsWithoutSpringDataRedis() {
		this.runner
			.withClassLoader(
					new FilteredClassLoader("org.springframework.data.redis", "org.springframework.boot.data.redis"))
			.run((context) -> assertThat(failure(context).getReason()).contains("spring-boot-starter-data-redis"));
	}

	@Test
	void failsWithoutAConnectionFactory() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelRedisStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=redis")
			.run((context) -> assertThat(failure(context).getReason()).contains("there is no RedisConnectionFactory",
					"spring.data.redis.url"));
	}

	@Test
	void failsIfItIsNotClearWhichConnectionFactoryIsMeant() {
		this.runner.withBean("one", LettuceConnectionFactory.class, LettuceConnectionFactory::new)
			.withBean("two", LettuceConnectionFactory.class, LettuceConnectionFactory::new)
			.run((context) -> assertThat(failure(context).getReason()).contains("more than one", "@Primary"));
	}

	@ParameterizedTest
	@CsvSource({ "namespace, a{b", "partitions, 0", "partitions, 1025", "wait-replicas, -1", "wait-timeout, 0s" })
	void refusesAValueThatMakesNoSense(String name, String value) {
		this.runner.withPropertyValues("timingwheel.store.redis." + name + "=" + value)
			.run((context) -> assertThat(failure(context).getName()).isEqualTo("timingwheel.store.redis." + name));
	}

	private static InvalidConfigurationPropertyValueException failure(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof InvalidConfigurationPropertyValueException)) {
			failure = failure.getCause();
		}
		assertThat(failure).isNotNull();
		return (InvalidConfigurationPropertyValueException) failure;
	}

}
