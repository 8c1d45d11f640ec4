package io.timingwheel.spring.aop.internal.delayed;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;

/**
 * Adds the advice for {@link Delayed}, right after the auto-proxy creator, so that the
 * post-processors of listeners, such as that of {@code @KafkaListener}, get the proxy in
 * place of the bean.
 */
final class DelayedBeanPostProcessor extends AdvicePostProcessor {

	private final transient TaskMethodRegistry methods;

	DelayedBeanPostProcessor(TaskMethodRegistry methods, ConfigurableListableBeanFactory beanFactory) {
		super(methods.delayed(), EARLY, beanFactory);
		this.methods = methods;
		this.advisor = advisor("");
	}

	private Advisor advisor(String beanName) {
		return new DefaultPointcutAdvisor(this.methods.delayed().pointcut(),
				new DelayedInterceptor(this.methods, beanName));
	}

	/**
	 * Replaces the advisor from the superclass by an advisor with the name of the bean.
	 * The name of the tasks may contain the name of the bean.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Object proxy = super.postProcessAfterInitialization(bean, beanName);
		Advisor general = this.advisor;
		if (general != null && proxy instanceof Advised advised && advised.indexOf(general) >= 0) {
			advised.replaceAdvisor(general, advisor(beanName));
		}
		return proxy;
	}

	/**
	 * Moves the advice before all other advice of a bean, once this is known, as that of
	 * {@link org.springframework.scheduling.annotation.Async @Async}. The other advice
	 * therefore acts on the body.
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
			for (Object next = bean; next instanceof Advised advised; next = AopProxyUtils.getSingletonTarget(next)) {
				for (Advisor advisor : advised.getAdvisors()) {
					if (advisor.getAdvice() instanceof DelayedInterceptor) {
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
