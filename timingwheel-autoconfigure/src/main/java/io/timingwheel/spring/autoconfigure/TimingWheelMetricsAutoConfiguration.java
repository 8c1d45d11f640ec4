package io.timingwheel.spring.autoconfigure;

import java.util.concurrent.atomic.AtomicBoolean;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.TimeoutMetrics;
import io.timingwheel.spring.actuate.TimingWheelMetrics;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.aop.internal.timeout.TimeoutMethodRegistry;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
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

	private static final Log logger = LogFactory.getLog(TimingWheelMetricsAutoConfiguration.class);

	private static final int MAX_NAMES = 100;

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

	/**
	 * Limits how many names have meters, since an application may make up names at run
	 * time.
	 */
	@Bean
	static MeterFilter timingWheelNameFilter() {
		return MeterFilter.maximumAllowableTags("timingwheel.", "name", MAX_NAMES, new Denial());
	}

	@Bean
	static MeterFilter timingWheelObservedNameFilter() {
		return MeterFilter.maximumAllowableTags("timingwheel.task.execution", "code.function", MAX_NAMES, new Denial());
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

	private static final class Denial implements MeterFilter {

		private final AtomicBoolean warned = new AtomicBoolean();

		@Override
		public MeterFilterReply accept(Meter.Id id) {
			if (this.warned.compareAndSet(false, true)) {
				logger.warn("More than %d names of tasks: %s and further names have no meters of their own"
					.formatted(MAX_NAMES, id.getTags()));
			}
			return MeterFilterReply.DENY;
		}

	}

}
