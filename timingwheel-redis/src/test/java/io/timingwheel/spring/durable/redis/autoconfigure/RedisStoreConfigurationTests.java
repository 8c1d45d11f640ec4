package io.timingwheel.spring.durable.redis.autoconfigure;

import io.timingwheel.spring.durable.redis.RedisDelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * When there is a store. What stops the start is in the approved files.
 */
class RedisStoreConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TimingWheelRedisStoreAutoConfiguration.class, DataRedisAutoConfiguration.class))
		.withPropertyValues("timingwheel.store.type=redis");

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

}
