package io.timingwheel.spring.autoconfigure;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.support.DurableHandlerRegistry;
import io.timingwheel.spring.durable.support.DurableSettings;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.durable.support.PayloadCodec;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.HandOverExecutors;
import io.timingwheel.spring.task.support.TaskExecutionInterceptor;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of durable tasks, once there is a store to keep them in.
 */
@AutoConfiguration(after = TimingWheelAutoConfiguration.class,
		afterName = { "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
				"io.timingwheel.spring.autoconfigure.TimingWheelJdbcStoreAutoConfiguration",
				"io.timingwheel.spring.autoconfigure.TimingWheelRedisStoreAutoConfiguration" })
@ConditionalOnBean({ DelayedTaskStore.class, DelayedTaskRegistry.class })
public final class TimingWheelStoreAutoConfiguration {

	/**
	 * Boot's executor, if it is set to a strict early shutdown, would refuse the tasks
	 * that have begun when the context closes.
	 */
	@Bean
	ThreadPoolTaskExecutorCustomizer timingWheelStoreTaskExecutorCustomizer() {
		return (executor) -> executor.setAcceptTasksAfterContextClose(true);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(JsonMapper.class)
	static class JacksonConfiguration {

		@Bean
		PayloadCodec timingWheelPayloadCodec(ObjectProvider<JsonMapper> mapper, TimingWheelProperties properties) {
			return new PayloadCodec(mapper.getIfAvailable(() -> JsonMapper.builder().findAndAddModules().build()),
					properties.getStore().getMaxPayloadSize().toBytes());
		}

		@Bean
		DurableTaskManager timingWheelDurableTasks(DelayedTaskStore store, TimingWheelProperties properties,
				DurableHandlerRegistry handlers, PayloadCodec codec, TimingWheel wheel, DelayedTaskRegistry tasks,
				HandOverExecutors handOvers, ObjectProvider<TaskExecutionInterceptor> interceptor) {
			DurableSettings settings = new StoreSettings(properties.getStore()).get();
			store.check();
			return new DurableTaskManager(store, settings, handlers, codec, wheel, tasks, handOvers,
					interceptor.getIfAvailable());
		}

		@Bean
		DurableTasksLifecycle timingWheelDurableTasksLifecycle(DurableTaskManager tasks,
				TimingWheelProperties properties, ApplicationContext applicationContext) {
			return new DurableTasksLifecycle(tasks, properties.getShutdown().getAwaitTerminationPeriod(),
					applicationContext);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("tools.jackson.databind.json.JsonMapper")
	static class WithoutJacksonConfiguration {

		WithoutJacksonConfiguration() {
			throw new IllegalStateException("Durable tasks are stored as JSON, and there is no Jackson 3 on the"
					+ " classpath: add the dependency org.springframework.boot:spring-boot-starter-jackson");
		}

	}

}
