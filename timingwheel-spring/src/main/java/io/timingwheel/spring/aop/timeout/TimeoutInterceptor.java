package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.concurrent.Executor;

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

	private final TimeoutRuntime runtime;

	TimeoutInterceptor(TimeoutMethodRegistry methods, TimeoutRuntime runtime) {
		this.methods = methods;
		this.runtime = runtime;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		TimeLimit limit = limit(invocation);
		long nanos = limit.nanos(invocation.getArguments());
		if (nanos <= 0) {
			this.runtime.timedOut(limit);
			throw limit.newException(nanos);
		}
		InterruptGuard guard = InterruptGuard.enter(limit, nanos, invocation, this.runtime);
		if (guard == null) {
			return invocation.proceed();
		}
		Object result;
		try {
			result = proceed(invocation, guard);
		}
		finally {
			guard.leave();
		}
		if (REACTOR_PRESENT && result != null) {
			return ReactorTimeout.apply(result, invocation.getMethod().getReturnType(), limit, nanos, this.runtime);
		}
		return result;
	}

	private TimeLimit limit(MethodInvocation invocation) {
		Method method = invocation.getMethod();
		Object target = invocation.getThis();
		TimeLimit limit = this.methods.find(method, (target != null) ? target.getClass() : method.getDeclaringClass());
		Assert.state(limit != null, () -> "No @Timeout on " + method);
		return limit;
	}

	private @Nullable Object proceed(MethodInvocation invocation, InterruptGuard guard) throws Throwable {
		Object result = null;
		Throwable failure = null;
		try {
			result = invocation.proceed();
		}
		catch (Throwable ex) {
			failure = ex;
		}
		FutureTimeout future = FutureTimeout.of(result, invocation.getMethod().getReturnType(), guard, this.runtime);
		if (future != null) {
			Executor executor = this.runtime.executor();
			if (guard.handOver(() -> executor.execute(future::expire))) {
				return future.start();
			}
			FutureTimeout.cancelSource(result);
		}
		if (!guard.finish()) {
			this.runtime.timedOut(guard.limit());
			throw guard.timeout(failure);
		}
		if (failure != null) {
			throw failure;
		}
		return result;
	}

}
