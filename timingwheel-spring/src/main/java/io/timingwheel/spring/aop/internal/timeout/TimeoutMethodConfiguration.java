package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

/**
 * The advice of {@link Timeout}. The parameters have the names of beans, which Spring
 * finds without instantiating a {@code FactoryBean}.
 */
@Configuration(proxyBeanMethods = false)
@Import(AnnotatedBeans.Setup.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class TimeoutMethodConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutMethodRegistry timingWheelTimeoutMethods(AnnotatedBeans timingWheelAnnotatedBeans,
			TimeoutMethodRegistry.Overrides timingWheelTimeoutOverrides) {
		return new TimeoutMethodRegistry(timingWheelAnnotatedBeans, timingWheelTimeoutOverrides);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutBeanPostProcessor timingWheelTimeoutProcessor(AnnotatedBeans timingWheelAnnotatedBeans,
			TimeoutMethodRegistry timingWheelTimeoutMethods) {
		return new TimeoutBeanPostProcessor(timingWheelAnnotatedBeans, timingWheelTimeoutMethods);
	}

	/**
	 * Adds the advice for {@link Timeout}: the innermost advice of a bean, and an outer
	 * one at its place in the order of the advice.
	 */
	static final class TimeoutBeanPostProcessor extends AdvicePostProcessor {

		private final transient TimeoutMethodRegistry methods;

		TimeoutBeanPostProcessor(AnnotatedBeans beans, TimeoutMethodRegistry methods) {
			super(beans, Timeout.class, TIMEOUT);
			this.methods = methods;
			this.advisor = advisor(InterruptGuard::runBody);
		}

		@Override
		protected MethodInterceptor adviceOf(Method method, Class<?> targetClass, String beanName) {
			TimeLimit limit = this.methods.find(method, targetClass, beanName);
			return (invocation) -> new LimitedCall(limit, invocation, limit.nanos(invocation.getArguments()),
					this.methods.runtime())
				.run();
		}

		@Override
		protected void added(Advisor body, Advised proxy, DefaultPointcutAdvisor outer) {
			outer.setOrder(this.methods.adviceOrder());
			Advisor[] advisors = proxy.getAdvisors();
			int position = 0;
			while (advisors[position] != body
					&& AnnotationAwareOrderComparator.INSTANCE.compare(advisors[position], outer) <= 0) {
				position++;
			}
			proxy.addAdvisor(position, outer);
		}

	}

}
