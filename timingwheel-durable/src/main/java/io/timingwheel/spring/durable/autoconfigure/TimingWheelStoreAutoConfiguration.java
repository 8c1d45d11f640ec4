package io.timingwheel.spring.durable.autoconfigure;

import java.time.Duration;

import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelProperties;
import io.timingwheel.spring.durable.PayloadMigration;
import io.timingwheel.spring.durable.admin.DeadTasks;
import io.timingwheel.spring.durable.admin.OperatedTasks;
import io.timingwheel.spring.durable.admin.TaskCounts;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.call.StoreAccess;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.node.NodeLoop;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.ManualTime;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.function.SingletonSupplier;

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
	DurableHandlers timingWheelDurableHandlers() {
		return new DurableHandlers();
	}

	@Bean
	PayloadCodec timingWheelPayloadCodec(ObjectProvider<JsonMapper> mapper, ObjectProvider<PayloadMigration> migrations,
			TimingWheelStoreProperties properties) {
		return new PayloadCodec(mapper.getIfAvailable(JsonMapper::new), properties.maxPayloadSize().toBytes(),
				() -> migrations.orderedStream().toList());
	}

	/**
	 * The node looks after the schedules of the tasks, and the tasks tell the node what
	 * is due. So the tasks look up the node at their first call.
	 */
	@Bean
	DurableTasks timingWheelDurableTasks(DelayedTaskStore store, DurableHandlers handlers, PayloadCodec codec,
			TimingWheel wheel, DelayedTaskRegistry tasks, ObjectProvider<TaskExecution.Interceptor> interceptors,
			ObjectProvider<DurableNode> nodes, ConfigurableListableBeanFactory beanFactory) {
		try {
			store.check();
		}
		catch (RuntimeException ex) {
			throw UnusableTaskStoreException.of(ex);
		}
		SingletonSupplier<DurableNode> node = SingletonSupplier.of(nodes::getObject);
		StoreAccess access = new StoreAccess(store, handlers, tasks::recorder, wheel::nanoTime,
				(name, millis) -> node.obtain().expect(name, millis));
		return new DurableTasks(access, codec, TaskExecution.Interceptor.compose(interceptors.orderedStream().toList()),
				beanFactory);
	}

	@Bean
	DurableNode timingWheelDurableNode(DelayedTaskStore store, TimingWheelStoreProperties properties,
			DurableHandlers handlers, TimingWheel wheel, DelayedTaskRegistry tasks, HandOverExecutors handOvers,
			ObjectProvider<TaskExecution.Interceptor> interceptors, DurableTasks durableTasks,
			ObjectProvider<NodeLoop.Factory> loops) {
		DurableNode.Services services = new DurableNode.Services(tasks::recorder, tasks.policies(),
				tasks.atShutdown().bodies(), handOvers,
				TaskExecution.Interceptor.compose(interceptors.orderedStream().toList()),
				durableTasks.schedules()::lookAfter);
		return new DurableNode(store, properties.settings(), handlers, wheel, services,
				loops.getIfAvailable(NodeLoop.Factory::onThreads));
	}

	@Bean
	OperatedTasks timingWheelStoredTasks(DurableTasks tasks, DurableHandlers handlers, DurableNode node,
			DelayedTaskStore store, ObjectProvider<ManualTime> manualTime) {
		TaskCounts counts = new TaskCounts(store, handlers, node,
				(manualTime.getIfAvailable() != null) ? Duration.ZERO : TaskCounts.RECENT);
		return new OperatedTasks(tasks, handlers, node, counts, new DeadTasks(store, node::list, node::requeueDead));
	}

	@Bean
	DurableTasksLifecycle timingWheelDurableTasksLifecycle(DurableTasks tasks, DurableNode node,
			TimingWheelProperties properties, TimingWheelStoreProperties storeProperties,
			ConfigurableApplicationContext applicationContext) {
		return new DurableTasksLifecycle(tasks, node, storeProperties.claimTasks(),
				properties.shutdown().awaitTerminationPeriod(), applicationContext);
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

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	static class Metrics {

		@Bean
		@ConditionalOnMissingBean
		StoreMetrics timingWheelStoreMetrics(StoredTasks storedTasks, DelayedTaskRegistry tasks) {
			return new StoreMetrics(storedTasks, tasks);
		}

	}

}
