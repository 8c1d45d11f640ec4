package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.aop.AdvicePostProcessor;

import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;

/**
 * Adds the advice for {@link CancelDelayed} after the advice of the auto-proxy creator,
 * such as that of {@code @Transactional}.
 *
 * @since 0.1
 */
public final class CancelDelayedAnnotationBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements AdvicePostProcessor {

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
	 * Checks the methods that the type of the bean did not show at startup.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof AopInfrastructureBean)) {
			this.methods.read(AopUtils.getTargetClass(bean), beanName);
		}
		return super.postProcessAfterInitialization(bean, beanName);
	}

}
