package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AdvicePostProcessor;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;

/**
 * Adds the advice for {@link Delayed}. As with
 * {@link org.springframework.scheduling.annotation.Async @Async}, this advice is before
 * all other advice of a bean. The other advice therefore acts on the body.
 *
 * @since 0.1
 */
public final class DelayedAnnotationBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements AdvicePostProcessor {

	private final transient DelayedMethodRegistry methods;

	private final transient DelayedRuntime runtime;

	private final transient Pointcut pointcut;

	/**
	 * Creates a post-processor.
	 * @param methods the annotated methods
	 * @param runtime the beans that calls need
	 */
	public DelayedAnnotationBeanPostProcessor(DelayedMethodRegistry methods, DelayedRuntime runtime) {
		this.methods = methods;
		this.runtime = runtime;
		this.pointcut = methods.annotated().pointcut();
		this.advisor = advisor("");
		setBeforeExistingAdvisors(true);
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
			this.methods.register(advised.getTargetClass() != null ? advised.getTargetClass() : bean.getClass(),
					beanName);
			advised.replaceAdvisor(general, advisor(beanName));
		}
		return result;
	}

	/**
	 * Removes what {@link DelayedProxyBeanPostProcessor} has added to the proxy, or to
	 * the proxy inside of a later one.
	 */
	private static void removePlaceholder(@Nullable Object proxy) {
		for (Object next = proxy; next instanceof Advised advised; next = AopProxyUtils.getSingletonTarget(next)) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof DelayedProxyBeanPostProcessor.PlaceholderAdvisor) {
					advised.removeAdvisor(advisor);
				}
			}
		}
	}

	private Advisor advisor(String beanName) {
		return new DefaultPointcutAdvisor(this.pointcut, new DelayedInterceptor(this.methods, this.runtime, beanName));
	}

}
