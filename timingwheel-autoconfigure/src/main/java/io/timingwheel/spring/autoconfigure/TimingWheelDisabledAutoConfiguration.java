package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;

/**
 * Auto-configuration of a warning, if {@code timingwheel.enabled} is not {@code true}.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelAutoConfiguration.class)
@ConditionalOnMissingBean(DelayedTaskRegistry.class)
public final class TimingWheelDisabledAutoConfiguration {

	TimingWheelDisabledAutoConfiguration() {
		LogFactory.getLog(TimingWheelDisabledAutoConfiguration.class)
			.warn("timingwheel.enabled is not true: methods with @Delayed, @CancelDelayed and @Timeout run at once when"
					+ " they are called, and methods with @Recurring do not run by themselves");
	}

}
