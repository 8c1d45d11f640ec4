package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.Map;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Limits the time of a call, and of a result that comes after the call has returned.
 */
final class TimeoutInterceptor implements MethodInterceptor {

	private final TimeoutMethodRegistry methods;

	private final Map<Method, TimeLimit> overridden;

	private final TimeoutRuntime runtime;

	TimeoutInterceptor(TimeoutMethodRegistry methods, Map<Method, TimeLimit> overridden, TimeoutRuntime runtime) {
		this.methods = methods;
		this.overridden = overridden;
		this.runtime = runtime;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		return LimitedCall.of(limit(invocation), invocation, this.runtime).run(invocation);
	}

	private TimeLimit limit(MethodInvocation invocation) {
		Method method = invocation.getMethod();
		Object target = invocation.getThis();
		TimeLimit limit = this.methods.find(method, (target != null) ? target.getClass() : method.getDeclaringClass());
		Assert.state(limit != null, () -> "No @Timeout on " + method);
		return this.overridden.isEmpty() ? limit : this.overridden.getOrDefault(limit.method(), limit);
	}

}
