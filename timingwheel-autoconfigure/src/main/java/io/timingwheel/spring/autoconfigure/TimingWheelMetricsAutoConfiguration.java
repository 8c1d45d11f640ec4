package io.timingwheel.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.TimeoutMetrics;
import io.timingwheel.spring.actuate.TimingWheelMetrics;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.aop.internal.timeout.TimeoutMethodRegistry;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.micrometer.metrics.MaximumAllowableTagsMeterFilter;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the meters. A child context has meters of its own, since it has
 * tasks of its own.
 *
 * @since 0.1
 */
@AutoConfiguration(after = { TimingWheelAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class })
@ConditionalOnClass({ MeterRegistry.class, CompositeMeterRegistryAutoConfiguration.class })
@ConditionalOnBean({ DelayedTaskRegistry.class, MeterRegistry.class })
public final class TimingWheelMetricsAutoConfiguration {

	private static final int MAX_NAMES = 100;

	private static final String HINT = "Further names of tasks have no meters of their own.";

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	TimingWheelMetrics timingWheelMetrics(TimingWheel wheel, DelayedTaskRegistry tasks,
			ObjectProvider<StoredTasks> storedTasks) {
		return new TimingWheelMetrics(wheel, tasks, storedTasks.getIfAvailable());
	}

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	TimeoutMetrics timingWheelTimeoutMetrics(TimeoutMethodRegistry methods) {
		return new TimeoutMetrics(methods);
	}

	/** An application may make up names at run time. */
	@Bean
	static MeterFilter timingWheelNameFilter() {
		return new MaximumAllowableTagsMeterFilter("timingwheel.", "name", MAX_NAMES, HINT);
	}

	@Bean
	static MeterFilter timingWheelObservedNameFilter() {
		return new MaximumAllowableTagsMeterFilter("timingwheel.task.execution", "code.function", MAX_NAMES, HINT);
	}

	/**
	 * Binds the meters of a child context, since Boot does so only in the context of the
	 * registry.
	 */
	@Bean
	@ConditionalOnMissingBean(value = MeterRegistry.class, search = SearchStrategy.CURRENT)
	SmartInitializingSingleton timingWheelMetersOfChild(MeterRegistry registry, TimingWheelMetrics tasks,
			TimeoutMetrics timeouts) {
		return () -> {
			tasks.bindTo(registry);
			timeouts.bindTo(registry);
		};
	}

}
