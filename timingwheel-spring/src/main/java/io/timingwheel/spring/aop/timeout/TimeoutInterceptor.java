package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.Map;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Limits the time of a call, and of the future or publisher that the call returns.
 */
final class TimeoutInterceptor implements MethodInterceptor {

	private static final boolean REACTOR_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Flux",
			TimeoutInterceptor.class.getClassLoader());

	private final TimeoutMethodRegistry methods;

	private final Map<Method, TimeLimit> overridden;

	private final TimeoutRuntime runtime;

	/**
	 * Creates an interceptor.
	 * @param methods the methods with a time limit
	 * @param overridden the limits that apply to one bean in place of those of its class
	 * @param runtime the beans that calls need
	 */
	TimeoutInterceptor(TimeoutMethodRegistry methods, Map<Method, TimeLimit> overridden, TimeoutRuntime runtime) {
		this.methods = methods;
		this.overridden = overridden;
		this.runtime = runtime;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LimitedCall call = new LimitedCall(limit(invocation), invocation, this.runtime);
		if (call.nanos() <= 0) {
			call.notifyListeners();
			return call.afterDeadline(call.newException());
		}
		InterruptGuard guard = InterruptGuard.enter(call);
		if (guard == null) {
			return invocation.proceed();
		}
		MethodTimeoutException timeout;
		try {
			Object result = null;
			Throwable failure = null;
			try {
				result = invocation.proceed();
			}
			catch (Throwable ex) {
				failure = ex;
			}
			FutureTimeout future = FutureTimeout.of(result, guard);
			if (future != null) {
				if (future.handOver()) {
					return future.start();
				}
				FutureTimeout.cancelSource(result);
			}
			if (guard.finish()) {
				if (failure != null) {
					throw failure;
				}
				return (REACTOR_PRESENT && result != null) ? ReactorTimeout.apply(result, call) : result;
			}
			timeout = guard.timeout(failure);
		}
		finally {
			guard.leave();
		}
		call.notifyListeners();
		return call.afterDeadline(timeout);
	}

	private TimeLimit limit(MethodInvocation invocation) {
		Method method = invocation.getMethod();
		Object target = invocation.getThis();
		TimeLimit limit = this.methods.find(method, (target != null) ? target.getClass() : method.getDeclaringClass());
		Assert.state(limit != null, () -> "No @Timeout on " + method);
		return this.overridden.isEmpty() ? limit : this.overridden.getOrDefault(limit.method(), limit);
	}

}
