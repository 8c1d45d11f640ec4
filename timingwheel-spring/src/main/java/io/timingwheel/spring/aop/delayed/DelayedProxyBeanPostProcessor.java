package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AdvicePostProcessor;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;

/**
 * Makes the proxy of a bean with {@link Delayed} methods right after the auto-proxy
 * creator. The post-processors of listeners, such as those of {@code @Scheduled} and
 * {@code @KafkaListener}, then get the proxy in place of the bean. The advice itself
 * follows from {@link DelayedAnnotationBeanPostProcessor} when all other advice is known.
 *
 * @since 0.1
 */
public final class DelayedProxyBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	/**
	 * Creates a post-processor.
	 * @param methods the annotated methods
	 */
	public DelayedProxyBeanPostProcessor(DelayedMethodRegistry methods) {
		MethodInterceptor placeholder = (invocation) -> invocation.proceed();
		this.advisor = new PlaceholderAdvisor(methods, placeholder);
		setOrder(AdvicePostProcessor.EARLY);
	}

	/**
	 * Stands in the proxy until the advice is there.
	 */
	static final class PlaceholderAdvisor extends DefaultPointcutAdvisor {

		PlaceholderAdvisor(DelayedMethodRegistry methods, MethodInterceptor advice) {
			super(methods.annotated().pointcut(), advice);
		}

	}

}
