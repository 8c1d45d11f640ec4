package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Adds the advice for {@link Delayed}, before all other advice of a bean, which then acts
 * on the body; as {@link org.springframework.scheduling.annotation.Async @Async} does.
 */
public final class DelayedAnnotationBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	private final transient DelayedMethodRegistry methods;

	private final transient DelayedRuntime runtime;

	private final transient Pointcut pointcut;

	/**
	 * Creates a post-processor.
	 * @param methods the annotated methods
	 * @param runtime what is needed at calls
	 */
	public DelayedAnnotationBeanPostProcessor(DelayedMethodRegistry methods, DelayedRuntime runtime) {
		this.methods = methods;
		this.runtime = runtime;
		this.pointcut = methods.annotated().pointcut();
		this.advisor = advisor("");
		setBeforeExistingAdvisors(true);
	}

	/**
	 * The advice knows its bean, whose name may be that of the tasks.
	 * {@link BeanPostProcessor} does not tell it where the superclass uses the advisor.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Object result = super.postProcessAfterInitialization(bean, beanName);
		Advisor general = this.advisor;
		if (general != null && result instanceof Advised advised && advised.indexOf(general) >= 0) {
			this.methods.register(advised.getTargetClass() != null ? advised.getTargetClass() : bean.getClass(),
					beanName);
			advised.replaceAdvisor(general, advisor(beanName));
		}
		return result;
	}

	private Advisor advisor(String beanName) {
		return new DefaultPointcutAdvisor(this.pointcut, new DelayedInterceptor(this.methods, this.runtime, beanName));
	}

}
