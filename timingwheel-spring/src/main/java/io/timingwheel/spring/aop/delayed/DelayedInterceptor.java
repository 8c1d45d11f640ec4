package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.aop.AnnotatedMethods;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;

/**
 * The advice of one bean: schedules the body in place of calling it.
 */
final class DelayedInterceptor implements MethodInterceptor {

	private final DelayedMethodRegistry methods;

	private final DelayedRuntime runtime;

	private final String beanName;

	private final Map<Method, MethodCalls> calls = new ConcurrentHashMap<>();

	DelayedInterceptor(DelayedMethodRegistry methods, DelayedRuntime runtime, String beanName) {
		this.methods = methods;
		this.runtime = runtime;
		this.beanName = beanName;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Method method = invocation.getMethod();
		MethodCalls calls = this.calls.get(method);
		if (calls == null) {
			calls = find(invocation);
			this.calls.put(method, calls);
		}
		return calls.schedule(invocation);
	}

	private MethodCalls find(MethodInvocation invocation) {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target)
				: invocation.getMethod().getDeclaringClass();
		Method specific = AnnotatedMethods.mostSpecific(invocation.getMethod(), targetClass);
		DelayedMethod method = this.methods.register(targetClass, this.beanName).get(specific);
		if (method == null) {
			throw new IllegalStateException("No @Delayed on " + specific);
		}
		return method.durable() ? new DurableCalls(method, this.runtime) : new DelayedCalls(method, this.runtime);
	}

}
