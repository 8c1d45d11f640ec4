package io.timingwheel.spring.autoconfigure;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.TimingWheelEndpoint;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the actuator endpoints. A child context has endpoints of its own,
 * since it has tasks of its own.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(DelayedTaskRegistry.class)
@EnableConfigurationProperties(DelayedTasksEndpointProperties.class)
public final class TimingWheelEndpointAutoConfiguration {

	@Bean
	@ConditionalOnAvailableEndpoint
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	TimingWheelEndpoint timingWheelEndpoint(TimingWheel wheel, DelayedTaskRegistry tasks) {
		return new TimingWheelEndpoint(wheel, tasks);
	}

	/** The console needs it, too. Boot serves it only if it is exposed. */
	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	DelayedTasksEndpoint delayedTasksEndpoint(DelayedTaskRegistry tasks, ObjectProvider<StoredTasks> storedTasks,
			DelayedTasksEndpointProperties properties) {
		return new DelayedTasksEndpoint(tasks, storedTasks.getIfAvailable(), properties.showValues(),
				properties.roles());
	}

}
