package io.timingwheel.spring.aop.internal.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import io.timingwheel.spring.aop.internal.AnnotatedMethodConfiguration;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

/**
 * Configuration of {@link Delayed}, {@link CancelDelayed} and {@link Recurring}. Spring
 * needs the advice before the beans that the advice uses may be created. Parameters of
 * these early beans have the names of beans: Spring finds a bean of a given name without
 * instantiating any {@code FactoryBean}.
 */
@Configuration(proxyBeanMethods = false)
@Import(AnnotatedMethodConfiguration.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class DelayedMethodConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TaskRuntime timingWheelTaskRuntime(AnnotatedBeans timingWheelAnnotatedBeans) {
		return new TaskRuntime(timingWheelAnnotatedBeans.beanFactory());
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TaskMethodRegistry timingWheelTaskMethods(AnnotatedBeans timingWheelAnnotatedBeans,
			TaskRuntime timingWheelTaskRuntime) {
		return new TaskMethodRegistry(timingWheelAnnotatedBeans, timingWheelTaskRuntime);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DelayedBeanPostProcessor timingWheelDelayedProcessor(TaskMethodRegistry timingWheelTaskMethods,
			AnnotatedBeans timingWheelAnnotatedBeans) {
		return new DelayedBeanPostProcessor(timingWheelTaskMethods, timingWheelAnnotatedBeans.beanFactory());
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DelayedBeanPostProcessor.Outermost timingWheelOutermostAdvice() {
		return new DelayedBeanPostProcessor.Outermost();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CancelDelayedBeanPostProcessor timingWheelCancelDelayedProcessor(AnnotatedBeans timingWheelAnnotatedBeans,
			TaskMethodRegistry timingWheelTaskMethods, TaskRuntime timingWheelTaskRuntime) {
		return new CancelDelayedBeanPostProcessor(timingWheelAnnotatedBeans,
				new AnnotatedMethods<>(CancelDelayed.class), timingWheelTaskMethods, timingWheelTaskRuntime);
	}

}
