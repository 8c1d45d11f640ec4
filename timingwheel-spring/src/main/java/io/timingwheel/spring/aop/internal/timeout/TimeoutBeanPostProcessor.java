package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

/**
 * Adds the advice for {@link Timeout}: the innermost advice of a bean, and an outer one
 * at its place in the order of the advice.
 */
final class TimeoutBeanPostProcessor extends AdvicePostProcessor {

	private final transient TimeoutMethodRegistry methods;

	TimeoutBeanPostProcessor(AnnotatedBeans beans, TimeoutMethodRegistry methods) {
		super(beans, Timeout.class, TIMEOUT);
		this.methods = methods;
		this.advisor = advisor(InterruptGuard::runBody);
	}

	@Override
	protected void added(Advisor body, Advised proxy, String beanName) {
		DefaultPointcutAdvisor outer = advisor(new TimeoutInterceptor(this.methods, beanName));
		outer.setOrder(this.methods.adviceOrder());
		Advisor[] advisors = proxy.getAdvisors();
		int position = 0;
		while (advisors[position] != body
				&& AnnotationAwareOrderComparator.INSTANCE.compare(advisors[position], outer) <= 0) {
			position++;
		}
		proxy.addAdvisor(position, outer);
	}

	/**
	 * Limits the time of the calls of one bean, and of the results that come after a call
	 * has returned.
	 */
	private static final class TimeoutInterceptor implements MethodInterceptor {

		private final TimeoutMethodRegistry methods;

		private final String beanName;

		private final Map<Method, TimeLimit> limits = new ConcurrentHashMap<>();

		TimeoutInterceptor(TimeoutMethodRegistry methods, String beanName) {
			this.methods = methods;
			this.beanName = beanName;
		}

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			Method method = invocation.getMethod();
			TimeLimit limit = this.limits.get(method);
			if (limit == null) {
				limit = this.methods.find(method, AnnotatedMethods.targetClass(invocation), this.beanName);
				this.limits.put(method, limit);
			}
			return new LimitedCall(limit, invocation, limit.nanos(invocation.getArguments()), this.methods.runtime())
				.run();
		}

	}

}
