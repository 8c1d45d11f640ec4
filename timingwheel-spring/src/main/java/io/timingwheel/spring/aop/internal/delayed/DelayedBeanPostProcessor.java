package io.timingwheel.spring.aop.internal.delayed;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;

/**
 * Adds the advice for {@link Delayed}. As with
 * {@link org.springframework.scheduling.annotation.Async @Async}, this advice is before
 * all other advice of a bean. The other advice therefore acts on the body.
 */
final class DelayedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements AdvicePostProcessor {

	private final transient TaskMethodRegistry methods;

	private final transient TaskRuntime runtime;

	DelayedBeanPostProcessor(TaskMethodRegistry methods, TaskRuntime runtime, boolean classBased) {
		this.methods = methods;
		this.runtime = runtime;
		this.advisor = advisor("");
		setBeforeExistingAdvisors(true);
		setProxyTargetClass(classBased);
	}

	/**
	 * Replaces the advisor from the superclass by an advisor with the name of the bean.
	 * The name of the tasks may contain the name of the bean.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Object result = super.postProcessAfterInitialization(bean, beanName);
		removePlaceholder(result);
		Advisor general = this.advisor;
		if (general != null && result instanceof Advised advised && advised.indexOf(general) >= 0) {
			advised.replaceAdvisor(general, advisor(beanName));
		}
		return result;
	}

	/**
	 * Removes what {@link Early} has added to the proxy, or to the proxy inside of a
	 * later one.
	 */
	private static void removePlaceholder(@Nullable Object proxy) {
		for (Object next = proxy; next instanceof Advised advised; next = AopProxyUtils.getSingletonTarget(next)) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof Placeholder) {
					advised.removeAdvisor(advisor);
				}
			}
		}
	}

	private Advisor advisor(String beanName) {
		return new DefaultPointcutAdvisor(this.methods.delayedCalls(),
				new DelayedInterceptor(this.methods, this.runtime, beanName));
	}

	/**
	 * Makes the proxy right after the auto-proxy creator. The post-processors of
	 * listeners, such as that of {@code @KafkaListener}, then get the proxy in place of
	 * the bean. The advice itself follows when all other advice is known.
	 */
	static final class Early extends AbstractBeanFactoryAwareAdvisingPostProcessor {

		Early(TaskMethodRegistry methods, boolean classBased) {
			this.advisor = new Placeholder(methods);
			setOrder(AdvicePostProcessor.EARLY);
			setProxyTargetClass(classBased);
		}

	}

	/**
	 * Stands in the proxy until the advice is there.
	 */
	private static final class Placeholder extends DefaultPointcutAdvisor {

		Placeholder(TaskMethodRegistry methods) {
			super(methods.delayedCalls(), (MethodInterceptor) MethodInvocation::proceed);
		}

	}

}
