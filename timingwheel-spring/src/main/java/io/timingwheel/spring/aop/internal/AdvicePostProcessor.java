package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

import io.timingwheel.spring.annotation.Delayed;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Reads the methods with an annotation, and adds their advice right after the auto-proxy
 * creator, so that the post-processors of listeners get the proxy.
 */
abstract class AdvicePostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	/** Makes the proxies of {@code @Delayed}, and adds {@code @CancelDelayed}. */
	static final int EARLY = Ordered.HIGHEST_PRECEDENCE + 100;

	/**
	 * Adds {@code @Timeout}. Its inner advice is inside that of {@code @CancelDelayed},
	 * so that a call that timed out cancels nothing, and its outer advice is inside that
	 * of {@code @Retryable}.
	 */
	static final int TIMEOUT = EARLY + 1;

	protected final transient AnnotatedBeans beans;

	private final Class<? extends Annotation> annotationType;

	/** A subclass may set another advisor, which only marks the proxies. */
	@SuppressWarnings("this-escape") // Spring's setters only set fields
	protected AdvicePostProcessor(AnnotatedBeans beans, Class<? extends Annotation> annotationType, int order) {
		this.beans = beans;
		this.annotationType = annotationType;
		this.advisor = advisor(adviceOf(""));
		setOrder(order);
		// Spring Boot's default, also where nothing else makes proxies.
		if (beans.beanFactory()
			.getBean("environment", Environment.class)
			.getProperty("spring.aop.proxy-target-class", Boolean.class, true)) {
			setProxyTargetClass(true);
		}
	}

	protected final DefaultPointcutAdvisor advisor(MethodInterceptor advice) {
		return new DefaultPointcutAdvisor(this.beans.annotated.pointcut(this.annotationType), advice);
	}

	/** Reads the methods of a bean, by the type of its definition, then by its class. */
	protected abstract void read(Class<?> beanClass, String beanName);

	/** Resolves and checks what depends on other beans, when all singletons exist. */
	protected abstract void resolveWithBeans();

	/**
	 * Finds the advice of a method.
	 * @param method the method that the calls invoke in the end
	 */
	protected abstract MethodInterceptor adviceOf(Method method, Class<?> targetClass, String beanName);

	private OfBean adviceOf(String beanName) {
		return new OfBean((method, targetClass) -> adviceOf(method, targetClass, beanName));
	}

	/** Called when a bean has got the advisor. */
	protected void added(Advisor advisor, Advised proxy, DefaultPointcutAdvisor ofBean) {
		proxy.replaceAdvisor(advisor, ofBean);
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		try {
			Object result = super.postProcessAfterInitialization(bean, beanName);
			Advisor advisor = this.advisor;
			if (advisor != null && result instanceof Advised proxy && proxy.indexOf(advisor) >= 0) {
				added(advisor, proxy, advisor(adviceOf(beanName)));
			}
			return result;
		}
		catch (AopConfigException ex) {
			Class<?> type = AopUtils.getTargetClass(bean);
			for (Method method : this.beans.annotated.of(type, this.annotationType).keySet()) {
				Refusal.when(Modifier.isFinal(type.getModifiers()), method,
						"@%s is on a method of the final class %s, which cannot be proxied by a subclass"
							.formatted(this.annotationType.getSimpleName(), type.getName()),
						"remove the final modifier from the class (in Kotlin, make it an open class)");
			}
			throw ex;
		}
	}

	/** The advice of one bean, which looks up that of each method once. */
	protected final class OfBean implements MethodInterceptor {

		private final BiFunction<Method, Class<?>, MethodInterceptor> search;

		private final Map<Method, MethodInterceptor> methods = new ConcurrentHashMap<>();

		OfBean(BiFunction<Method, Class<?>, MethodInterceptor> search) {
			this.search = search;
		}

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			Method method = invocation.getMethod();
			MethodInterceptor advice = this.methods.get(method);
			if (advice == null) {
				Class<?> targetClass = AnnotatedMethods.targetClass(invocation);
				advice = this.search.apply(AnnotatedMethods.mostSpecific(method, targetClass), targetClass);
				this.methods.put(method, advice);
			}
			return advice.invoke(invocation);
		}

		boolean isFor(Class<? extends Annotation> type) {
			return AdvicePostProcessor.this.annotationType == type;
		}

		@Override
		public String toString() {
			return "Advice of @" + AdvicePostProcessor.this.annotationType.getSimpleName();
		}

	}

	/**
	 * Moves the advice of {@code @Delayed} before all other advice of a bean, once this
	 * is known, so that the other advice acts on the body.
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
					if (advisor.getAdvice() instanceof OfBean advice && advice.isFor(Delayed.class)) {
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
