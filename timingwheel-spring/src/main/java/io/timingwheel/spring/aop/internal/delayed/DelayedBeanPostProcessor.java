package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;

/**
 * Adds the advice for {@link Delayed}, for each bean with its name, which is a part of
 * the names of its tasks.
 */
final class DelayedBeanPostProcessor extends AdvicePostProcessor {

	private final transient TaskMethodRegistry methods;

	DelayedBeanPostProcessor(AnnotatedBeans beans, TaskMethodRegistry methods) {
		super(beans, Delayed.class, EARLY);
		this.methods = methods;
		this.advisor = advisor(new DelayedInterceptor(methods, ""));
	}

	@Override
	protected void added(Advisor general, Advised proxy, String beanName) {
		proxy.replaceAdvisor(general, advisor(new DelayedInterceptor(this.methods, beanName)));
	}

	/** Submits the calls of one bean instead of running the bodies. */
	private static final class DelayedInterceptor implements MethodInterceptor {

		private final TaskMethodRegistry methods;

		private final String beanName;

		private final Map<Method, MethodInterceptor> tasks = new ConcurrentHashMap<>();

		DelayedInterceptor(TaskMethodRegistry methods, String beanName) {
			this.methods = methods;
			this.beanName = beanName;
		}

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			Method method = invocation.getMethod();
			MethodInterceptor tasks = this.tasks.get(method);
			if (tasks == null) {
				tasks = this.methods.tasksOf(this.beanName,
						AnnotatedMethods.mostSpecific(method, AnnotatedMethods.targetClass(invocation)));
				this.tasks.put(method, tasks);
			}
			return tasks.invoke(invocation);
		}

	}

	/**
	 * Moves the advice before all other advice of a bean, once this is known, so that the
	 * other advice acts on the body.
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
