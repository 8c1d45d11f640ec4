package io.timingwheel.spring.autoconfigure;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.TimingWheelHealthIndicator;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the health component {@code timingWheel}.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
@ConditionalOnBean(DelayedTaskRegistry.class)
@ConditionalOnEnabledHealthIndicator("timingwheel")
public final class TimingWheelHealthContributorAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = "timingWheelHealthIndicator")
	TimingWheelHealthIndicator timingWheelHealthIndicator(TimingWheel wheel, TimingWheelProperties properties,
			ObjectProvider<StoredTasks> storedTasks) {
		return new TimingWheelHealthIndicator(wheel, properties.health().maxLag(), storedTasks.getIfAvailable());
	}

}
