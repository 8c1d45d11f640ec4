package io.timingwheel.spring.durable.redis.autoconfigure;

import io.timingwheel.spring.autoconfigure.StartFailures;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.redis.RedisDelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class RedisStoreConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TimingWheelRedisStoreAutoConfiguration.class, DataRedisAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=redis");

	private final ApplicationContextRunner withTimingWheel = this.runner.withConfiguration(
			AutoConfigurations.of(TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class));

	@Test
	void usesTheConnectionFactoryOfTheApplication() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(RedisDelayedTaskStore.class));
	}

	@Test
	void isThereOnlyIfTheTypeNamesIt() {
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
		this.runner.withPropertyValues("spring.data.redis.client-type=jedis").run((context) -> {
			FailureAnalysis analysis = StartFailures.ofStore(context);
			assertThat(analysis.getDescription())
				.contains("The Redis store needs Lettuce, and the application uses JedisConnectionFactory");
			assertThat(analysis.getAction()).contains("spring.data.redis.client-type=lettuce");
		});
	}

	@Test
	void failsWithoutLettuce() {
		this.withTimingWheel.withClassLoader(new FilteredClassLoader("io.lettuce")).run((context) -> {
			assertThat(StartFailures.invalidValue(context).getReason())
				.isEqualTo("Lettuce, the client that the Redis store needs, is not on the class path;"
						+ " add the dependency io.lettuce:lettuce-core");
		});
	}

	@Test
	void failsWithoutSpringDataRedis() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelRedisStoreAutoConfiguration.class,
					TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=redis")
			.withClassLoader(
					new FilteredClassLoader("org.springframework.data.redis", "org.springframework.boot.data.redis"))
			.run((context) -> {
				assertThat(StartFailures.invalidValue(context).getReason())
					.isEqualTo("Spring Data Redis is not on the class path; add the dependency"
							+ " org.springframework.boot:spring-boot-starter-data-redis");
			});
	}

	@Test
	void failsWithoutAConnectionFactory() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelRedisStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=redis")
			.run((context) -> {
				FailureAnalysis analysis = StartFailures.ofStore(context);
				assertThat(analysis.getDescription()).contains("There is no RedisConnectionFactory");
				assertThat(analysis.getAction()).contains("spring-boot-starter-data-redis", "spring.data.redis.url");
			});
	}

	@Test
	void failsWithSeveralConnectionFactoriesAndNoPrimary() {
		this.runner.withBean("one", LettuceConnectionFactory.class, LettuceConnectionFactory::new)
			.withBean("two", LettuceConnectionFactory.class, LettuceConnectionFactory::new)
			.run((context) -> {
				FailureAnalysis analysis = StartFailures.ofStore(context);
				assertThat(analysis.getDescription()).contains("There is more than one RedisConnectionFactory");
				assertThat(analysis.getAction()).contains("@Primary");
			});
	}

	@ParameterizedTest
	@CsvSource({ "namespace, a{b", "partitions, 0", "partitions, 1025", "wait-replicas, -1", "wait-timeout, 0s",
			"max-dead, 0" })
	void refusesAValueThatMakesNoSense(String name, String value) {
		this.runner.withPropertyValues("timingwheel.store.redis." + name + "=" + value)
			.run((context) -> assertThat(StartFailures.invalidValue(context).getName())
				.isEqualTo("timingwheel.store.redis." + name));
	}

}
