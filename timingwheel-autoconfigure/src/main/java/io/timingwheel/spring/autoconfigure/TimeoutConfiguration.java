package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.aop.internal.timeout.TimeoutMethodConfiguration;
import io.timingwheel.spring.aop.internal.timeout.TimeoutOverrides;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.memory.CallerContext;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;

/**
 * What the methods with {@code @Timeout} need.
 */
@Configuration(proxyBeanMethods = false)
@Import(TimeoutMethodConfiguration.class)
class TimeoutConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutOverrides timingWheelTimeoutOverrides(Environment environment) {
		return new TimeoutLimitProperties(environment);
	}

	@Bean
	static CallerContext timingWheelCallerContext(ObjectProvider<TaskDecorator> decorators,
			ObjectProvider<TaskExecutors> executors) {
		return new CallerContext(TimingWheelAutoConfiguration.compose(decorators.orderedStream().toList()),
				() -> executors.getObject().defaultExecutor());
	}

}
