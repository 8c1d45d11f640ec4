package io.timingwheel.spring.aop.internal.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

/**
 * The advice of {@link Delayed}, {@link CancelDelayed} and {@link Recurring}. The
 * parameters have the names of beans, which Spring finds without instantiating a
 * {@code FactoryBean}.
 */
@Configuration(proxyBeanMethods = false)
@Import(AnnotatedBeans.Setup.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class DelayedMethodConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TaskMethodRegistry timingWheelTaskMethods(AnnotatedBeans timingWheelAnnotatedBeans) {
		return new TaskMethodRegistry(timingWheelAnnotatedBeans);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TaskMethodRegistry.Outermost timingWheelOutermostAdvice() {
		return new TaskMethodRegistry.Outermost();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CancelDelayedBeanPostProcessor timingWheelCancelDelayedProcessor(AnnotatedBeans timingWheelAnnotatedBeans,
			TaskMethodRegistry timingWheelTaskMethods) {
		return new CancelDelayedBeanPostProcessor(timingWheelAnnotatedBeans, timingWheelTaskMethods);
	}

}
