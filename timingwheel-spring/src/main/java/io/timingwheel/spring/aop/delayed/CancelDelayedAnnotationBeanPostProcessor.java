package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.aop.AdvicePostProcessor;
import io.timingwheel.spring.aop.BodyAdvisor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.Ordered;

/**
 * Adds the advice for {@link CancelDelayed} after all other advice of a bean, but before
 * a {@link BodyAdvisor}. Runs right after the auto-proxy creator, as the advice for
 * {@code @Transactional} does, so that post-processors of listeners get the proxy.
 *
 * @since 0.1
 */
public final class CancelDelayedAnnotationBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements AdvicePostProcessor {

	/** After the auto-proxy creator, which is the first, and before listeners. */
	static final int EARLY = Ordered.HIGHEST_PRECEDENCE + 100;

	private final transient CancelDelayedMethodRegistry methods;

	/**
	 * Creates a post-processor.
	 * @param methods the annotated methods
	 * @param runtime the beans that calls need
	 */
	public CancelDelayedAnnotationBeanPostProcessor(CancelDelayedMethodRegistry methods, DelayedRuntime runtime) {
		this.methods = methods;
		this.advisor = new DefaultPointcutAdvisor(methods.annotated().pointcut(),
				new CancelDelayedInterceptor(methods, runtime));
		setOrder(EARLY);
	}

	/**
	 * Checks the methods that the type of the bean did not show at startup. Moves the
	 * advisor before a {@link BodyAdvisor}. A body that ended after its time limit then
	 * counts as failed, and the task is not cancelled.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof AopInfrastructureBean)) {
			this.methods.read(AopUtils.getTargetClass(bean), beanName);
		}
		Object result = super.postProcessAfterInitialization(bean, beanName);
		Advisor own = this.advisor;
		if (own != null && result instanceof Advised advised && advised.removeAdvisor(own)) {
			int position = 0;
			while (position < advised.getAdvisorCount() && !(advised.getAdvisors()[position] instanceof BodyAdvisor)) {
				position++;
			}
			advised.addAdvisor(position, own);
		}
		return result;
	}

}
