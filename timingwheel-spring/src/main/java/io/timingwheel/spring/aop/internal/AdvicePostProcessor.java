package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Adds the advice for an annotation right after the auto-proxy creator, so that the
 * post-processors of listeners get the proxy.
 */
public abstract class AdvicePostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	/** Makes the proxies of {@code @Delayed}, and adds {@code @CancelDelayed}. */
	public static final int EARLY = Ordered.HIGHEST_PRECEDENCE + 100;

	/**
	 * Adds {@code @Timeout}. Its inner advice is inside that of {@code @CancelDelayed},
	 * so that a call that timed out cancels nothing, and its outer advice is inside that
	 * of {@code @Retryable}.
	 */
	public static final int TIMEOUT = EARLY + 1;

	private final transient AnnotatedMethods<?> annotated;

	/** A subclass sets the advisor. */
	@SuppressWarnings("this-escape") // Spring's setters only set fields
	protected AdvicePostProcessor(AnnotatedBeans beans, Class<? extends Annotation> annotationType, int order) {
		this.annotated = beans.methods(annotationType);
		setOrder(order);
		// Spring Boot's default, also where nothing else makes proxies.
		if (beans.beanFactory()
			.getBean("environment", Environment.class)
			.getProperty("spring.aop.proxy-target-class", Boolean.class, true)) {
			setProxyTargetClass(true);
		}
	}

	/** An advisor of the annotated methods. */
	protected final DefaultPointcutAdvisor advisor(MethodInterceptor advice) {
		return new DefaultPointcutAdvisor(this.annotated.pointcut(), advice);
	}

	/** Called when a bean has got the advisor. */
	protected void added(Advisor advisor, Advised proxy, String beanName) {
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		try {
			Object result = super.postProcessAfterInitialization(bean, beanName);
			Advisor advisor = this.advisor;
			if (advisor != null && result instanceof Advised proxy && proxy.indexOf(advisor) >= 0) {
				added(advisor, proxy, beanName);
			}
			return result;
		}
		catch (AopConfigException ex) {
			Class<?> type = AopUtils.getTargetClass(bean);
			for (Method method : this.annotated.of(type).keySet()) {
				Refusal.when(Modifier.isFinal(type.getModifiers()), method,
						"%s is on a method of the final class %s, which cannot be proxied by a subclass"
							.formatted(this.annotated.annotation(), type.getName()),
						"remove the final modifier from the class (in Kotlin, make it an open class)");
			}
			throw ex;
		}
	}

}
