package io.timingwheel.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.TimeoutMetrics;
import io.timingwheel.spring.actuate.TimingWheelMetrics;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.aop.timeout.TimeoutMethodRegistry;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the meters.
 *
 * @since 0.1
 */
@AutoConfiguration(after = { TimingWheelAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class })
@ConditionalOnClass({ MeterRegistry.class, CompositeMeterRegistryAutoConfiguration.class })
@ConditionalOnBean({ DelayedTaskRegistry.class, MeterRegistry.class })
public final class TimingWheelMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	TimingWheelMetrics timingWheelMetrics(TimingWheel wheel, DelayedTaskRegistry tasks,
			ObjectProvider<StoredTasks> storedTasks, TimingWheelProperties properties) {
		return new TimingWheelMetrics(wheel, tasks, storedTasks.getIfAvailable(),
				properties.getMetrics().getMaxNames());
	}

	@Bean
	@ConditionalOnMissingBean
	TimeoutMetrics timingWheelTimeoutMetrics(TimeoutMethodRegistry methods) {
		return new TimeoutMetrics(methods);
	}

}
