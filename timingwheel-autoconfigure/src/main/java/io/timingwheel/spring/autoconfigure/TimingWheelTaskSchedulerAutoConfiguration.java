package io.timingwheel.spring.autoconfigure;

import java.util.concurrent.ScheduledExecutorService;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.TimingWheelTaskScheduler;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.TaskScheduler;

/**
 * Auto-configuration of a {@code taskScheduler} on the wheel, which replaces Boot's. The
 * scheduler is also an executor. It is therefore configured after Boot's
 * {@code applicationTaskExecutor}, which would otherwise back off.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelAutoConfiguration.class, before = TaskSchedulingAutoConfiguration.class)
@ConditionalOnBooleanProperty("timingwheel.task-scheduler.enabled")
@ConditionalOnBean(TimingWheel.class)
@ConditionalOnMissingBean({ TaskScheduler.class, ScheduledExecutorService.class })
public final class TimingWheelTaskSchedulerAutoConfiguration {

	@Bean
	TimingWheelTaskScheduler taskScheduler(TimingWheel wheel) {
		return new TimingWheelTaskScheduler(wheel);
	}

}
