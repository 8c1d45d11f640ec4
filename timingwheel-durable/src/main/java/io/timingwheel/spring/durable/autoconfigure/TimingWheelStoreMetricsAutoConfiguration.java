package io.timingwheel.spring.durable.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the meters of durable tasks.
 *
 * @since 0.1
 */
@AutoConfiguration(after = { TimingWheelStoreAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class })
@ConditionalOnClass({ MeterRegistry.class, CompositeMeterRegistryAutoConfiguration.class })
@ConditionalOnBean({ StoredTasks.class, MeterRegistry.class })
public final class TimingWheelStoreMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	StoreMetrics timingWheelStoreMetrics(StoredTasks storedTasks, DelayedTaskRegistry tasks) {
		return new StoreMetrics(storedTasks, tasks);
	}

}
