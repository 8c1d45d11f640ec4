package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodClassKey;

/**
 * Limits the time of the calls of one bean, and of the results that come after a call has
 * returned.
 */
final class TimeoutInterceptor implements MethodInterceptor {

	private final TimeoutMethodRegistry methods;

	private final String beanName;

	private final Supplier<TimeoutRuntime> runtime;

	private final Map<MethodClassKey, TimeLimit> limits = new ConcurrentHashMap<>();

	TimeoutInterceptor(TimeoutMethodRegistry methods, String beanName, Supplier<TimeoutRuntime> runtime) {
		this.methods = methods;
		this.beanName = beanName;
		this.runtime = runtime;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		TimeLimit limit = limit(invocation);
		return new LimitedCall(limit, invocation, limit.nanos(invocation.getArguments()), this.runtime.get()).run();
	}

	private TimeLimit limit(MethodInvocation invocation) {
		Method method = invocation.getMethod();
		Class<?> targetClass = AnnotatedMethods.targetClass(invocation);
		MethodClassKey key = new MethodClassKey(method, targetClass);
		TimeLimit limit = this.limits.get(key);
		if (limit == null) {
			limit = this.methods.find(method, targetClass, this.beanName);
			this.limits.put(key, limit);
		}
		return limit;
	}

}
