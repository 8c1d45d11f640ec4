package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;

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
	static DelayedBeanPostProcessor timingWheelDelayedProcessor(AnnotatedBeans timingWheelAnnotatedBeans,
			TaskMethodRegistry timingWheelTaskMethods) {
		return new DelayedBeanPostProcessor(timingWheelAnnotatedBeans, timingWheelTaskMethods);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DelayedBeanPostProcessor.Outermost timingWheelOutermostAdvice() {
		return new DelayedBeanPostProcessor.Outermost();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CancelDelayedBeanPostProcessor timingWheelCancelDelayedProcessor(AnnotatedBeans timingWheelAnnotatedBeans,
			TaskMethodRegistry timingWheelTaskMethods) {
		return new CancelDelayedBeanPostProcessor(timingWheelAnnotatedBeans, timingWheelTaskMethods);
	}

	/**
	 * Adds the advice for {@link Delayed}, for each bean with its name, which is a part
	 * of the names of its tasks.
	 */
	static final class DelayedBeanPostProcessor extends AdvicePostProcessor {

		private final transient TaskMethodRegistry methods;

		DelayedBeanPostProcessor(AnnotatedBeans beans, TaskMethodRegistry methods) {
			super(beans, Delayed.class, EARLY);
			this.methods = methods;
		}

		@Override
		protected MethodInterceptor adviceOf(Method method, Class<?> targetClass, String beanName) {
			return this.methods.tasksOf(beanName, method);
		}

		/**
		 * Moves the advice before all other advice of a bean, once this is known, so that
		 * the other advice acts on the body.
		 */
		static final class Outermost implements BeanPostProcessor, Ordered {

			@Override
			public int getOrder() {
				return LOWEST_PRECEDENCE;
			}

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				Advisor delayed = null;
				// A later post-processor may have made a proxy of the proxy.
				for (Object next = bean; next instanceof Advised advised; next = AopProxyUtils
					.getSingletonTarget(next)) {
					for (Advisor advisor : advised.getAdvisors()) {
						if (advisor.getAdvice() instanceof OfBean advice && advice.isFor(Delayed.class)) {
							advised.removeAdvisor(advisor);
							delayed = advisor;
						}
					}
				}
				if (delayed != null) {
					((Advised) bean).addAdvisor(0, delayed);
				}
				return bean;
			}

		}

	}

}
