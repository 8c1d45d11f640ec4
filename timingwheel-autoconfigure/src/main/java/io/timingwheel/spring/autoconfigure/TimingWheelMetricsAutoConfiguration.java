package io.timingwheel.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.StoreMetrics;
import io.timingwheel.spring.actuate.TimeoutMetrics;
import io.timingwheel.spring.actuate.TimingWheelMetrics;
import io.timingwheel.spring.durable.DurableTasks;
import io.timingwheel.spring.task.DelayedTasks;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the meters.
 */
@AutoConfiguration(after = { TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class,
		CompositeMeterRegistryAutoConfiguration.class })
@ConditionalOnClass({ MeterRegistry.class, CompositeMeterRegistryAutoConfiguration.class })
@ConditionalOnBean({ DelayedTasks.class, MeterRegistry.class })
public final class TimingWheelMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	TimingWheelMetrics timingWheelMetrics(TimingWheel wheel, DelayedTasks tasks,
			ObjectProvider<DurableTasks> durableTasks) {
		return new TimingWheelMetrics(wheel, tasks, durableTasks.getIfAvailable());
	}

	@Bean
	@ConditionalOnBean(DurableTasks.class)
	@ConditionalOnMissingBean
	StoreMetrics timingWheelStoreMetrics(DurableTasks durableTasks, DelayedTasks tasks) {
		return new StoreMetrics(durableTasks, tasks);
	}

	@Bean
	@ConditionalOnMissingBean
	TimeoutMetrics timingWheelTimeoutMetrics(MeterRegistry registry) {
		return new TimeoutMetrics(registry);
	}

}
