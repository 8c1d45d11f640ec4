package io.timingwheel.spring.durable.autoconfigure;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelProperties;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.call.MethodHandlers;
import io.timingwheel.spring.durable.support.DurableHandlerRegistry;
import io.timingwheel.spring.durable.support.DurableSettings;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.durable.support.NodeTurns;
import io.timingwheel.spring.durable.support.PayloadCodec;
import io.timingwheel.spring.task.internal.Backoff;
import io.timingwheel.spring.task.internal.CompositeTaskExecutionInterceptor;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;
import org.springframework.util.StringUtils;

/**
 * Auto-configuration of durable tasks, if there is a store.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelAutoConfiguration.class,
		afterName = "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration")
@ConditionalOnBean({ DelayedTaskStore.class, DelayedTaskRegistry.class })
@EnableConfigurationProperties(TimingWheelStoreProperties.class)
public final class TimingWheelStoreAutoConfiguration {

	@Bean
	TaskStoreCheck timingWheelTaskStoreCheck(DelayedTaskStore store) {
		return new TaskStoreCheck(store);
	}

	@Bean
	DurableHandlerRegistry timingWheelDurableHandlers() {
		return new DurableHandlerRegistry();
	}

	@Bean
	PayloadCodec timingWheelPayloadCodec(ObjectProvider<JsonMapper> mapper, ObjectProvider<PayloadMigration> migrations,
			TimingWheelStoreProperties properties) {
		return new PayloadCodec(mapper.getIfAvailable(() -> JsonMapper.builder().findAndAddModules().build()),
				properties.getMaxPayloadSize().toBytes(), () -> migrations.orderedStream().toList());
	}

	@Bean
	@DependsOn("timingWheelTaskStoreCheck")
	DurableTaskManager timingWheelDurableTasks(DelayedTaskStore store, TimingWheelStoreProperties properties,
			DurableHandlerRegistry handlers, PayloadCodec codec, TimingWheel wheel, DelayedTaskRegistry tasks,
			HandOverExecutors handOvers, ObjectProvider<TaskExecutionInterceptor> interceptors,
			ObjectProvider<NodeTurns> turns) {
		return new DurableTaskManager(store, settings(properties), handlers, codec, wheel, tasks, handOvers,
				CompositeTaskExecutionInterceptor.of(interceptors.orderedStream().toList()),
				turns.getIfAvailable(NodeTurns::onThreads));
	}

	@Bean
	StoredTasks timingWheelStoredTasks(DurableTaskManager tasks, DelayedTaskStore store) {
		return new ManagedStoredTasks(tasks, store);
	}

	@Bean
	MethodHandlers timingWheelDurableMethods(DurableTaskManager tasks, ConfigurableListableBeanFactory beanFactory) {
		return new MethodHandlers(tasks, beanFactory);
	}

	private static DurableSettings settings(TimingWheelStoreProperties properties) {
		String nodeId = properties.getNodeId();
		TimingWheelStoreProperties.Backoff backoff = properties.getBackoff();
		return new DurableSettings(StringUtils.hasText(nodeId) ? nodeId : NodeId.generate(), properties.getLease(),
				properties.getLookAhead(), properties.getPollInterval(), properties.getBatchSize(),
				properties.getMaxInFlight(), properties.getMaxAttempts(), properties.getMaxLostDeliveries(),
				new Backoff(backoff.getInitial(), backoff.getMultiplier(), backoff.getMax(), backoff.getJitter()),
				properties.getMaxPayloadSize().toBytes(), properties.getDead().getRetention());
	}

	@Bean
	DurableTasksLifecycle timingWheelDurableTasksLifecycle(DurableTaskManager tasks, TimingWheelProperties properties,
			TimingWheelStoreProperties storeProperties, ApplicationContext applicationContext) {
		return new DurableTasksLifecycle(tasks, storeProperties.isClaimTasks(),
				properties.getShutdown().getAwaitTerminationPeriod(), applicationContext);
	}

	/**
	 * With a strict early shutdown, Boot's executor would refuse the bodies that begin or
	 * go on while the context closes.
	 */
	@Bean
	@ConditionalOnMissingBean(name = "timingWheelTaskExecutorCustomizer")
	ThreadPoolTaskExecutorCustomizer timingWheelTaskExecutorCustomizer() {
		return (executor) -> executor.setAcceptTasksAfterContextClose(true);
	}

}
