package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.PolicyAttribute;
import io.timingwheel.spring.aop.ProxyRules;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Reads and checks one {@link Recurring} annotation.
 */
final class RecurringMethodReader {

	private final AttributeResolver attributes;

	private final DelayedMethodRules rules;

	private final TaskAttributes common;

	RecurringMethodReader(ConfigurableListableBeanFactory beanFactory) {
		this.attributes = new AttributeResolver(beanFactory);
		this.rules = new DelayedMethodRules(beanFactory, Recurring.class);
		this.common = new TaskAttributes(Recurring.class, this.attributes, this.rules);
	}

	/**
	 * Reads an annotation.
	 * @param method the most specific method
	 * @param annotation its annotation
	 * @param beanClass the class of the bean
	 * @param beanName the name of the bean, as the bean factory knows it
	 * @throws InvalidAnnotatedMethodException if the annotation cannot take effect
	 */
	RecurringMethod read(Method method, Recurring annotation, Class<?> beanClass, String beanName) {
		ProxyRules.checkCallable("@Recurring", method);
		this.rules.checkRecurring(method);
		this.rules.checkNotAsync(method, beanClass);
		if (annotation.durable()) {
			this.rules.checkStore(method);
		}
		if (AnnotatedElementUtils.hasAnnotation(method, Delayed.class)) {
			throw new InvalidAnnotatedMethodException(method, "@Recurring and @Delayed are on one method",
					"remove one of them");
		}
		String publicName = AnnotatedMethodScanner.publicName(beanName);
		return new RecurringMethod(publicName, method, this.common.name(method, annotation.name(), publicName),
				new RecurringTimes(method, annotation, this.attributes),
				this.common.duration(method, "initialDelay", annotation.initialDelay()),
				this.common.executor(method, annotation.executor()), annotation.durable(), annotation.missed(),
				readPolicy(method, annotation));
	}

	/**
	 * Checks that the bean of a method exists without a caller.
	 */
	void checkScope(RecurringMethod method) {
		this.rules.checkScope(method.method(), method.beanName());
	}

	private PolicyAttribute readPolicy(Method method, Recurring annotation) {
		if (annotation.policy().maxConcurrentPerKey() > 0) {
			throw new InvalidAnnotatedMethodException(method,
					"the policy of @Recurring limits the runs of a key, but the method has only one task",
					"remove maxConcurrentPerKey: a method never overlaps itself");
		}
		return this.common.policy(method, annotation.policy());
	}

}
