package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.Map;

import io.timingwheel.spring.aop.AdvicePostProcessor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.Ordered;

/**
 * Gives the proxy of a bean an advisor of its own if {@link TimeoutOverrides} has limits
 * for this bean. The general advisor knows the class of a bean only, and several beans
 * may have one class.
 *
 * @since 0.1
 */
public final class TimeoutBeanPostProcessor
		implements AdvicePostProcessor, SmartInstantiationAwareBeanPostProcessor, Ordered {

	private final TimeoutMethodRegistry methods;

	/**
	 * Creates a post-processor.
	 * @param methods the annotated methods
	 */
	public TimeoutBeanPostProcessor(TimeoutMethodRegistry methods) {
		this.methods = methods;
	}

	/**
	 * Puts this post-processor after the auto-proxy creator.
	 */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		return postProcessAfterInitialization(bean, beanName);
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof Advised advised && !advised.isFrozen()) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof TimeoutAdvisor general) {
					replace(advised, general, beanName);
				}
			}
		}
		return bean;
	}

	private void replace(Advised advised, TimeoutAdvisor general, String beanName) {
		Class<?> targetClass = advised.getTargetClass();
		if (targetClass != null) {
			Map<Method, TimeLimit> overridden = this.methods.overridden(targetClass, beanName);
			if (!overridden.isEmpty()) {
				advised.replaceAdvisor(general, general.with(overridden));
			}
		}
	}

}
