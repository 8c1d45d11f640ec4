package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.concurrent.Executor;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Limits a call, and the future or publisher that it returns.
 */
final class TimeoutInterceptor implements MethodInterceptor {

	private static final boolean REACTOR_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Flux",
			TimeoutInterceptor.class.getClassLoader());

	private final TimeoutMethods methods;

	private final Deadlines deadlines;

	private final TimeoutEvents events;

	TimeoutInterceptor(TimeoutMethods methods, Deadlines deadlines, TimeoutEvents events) {
		this.methods = methods;
		this.deadlines = deadlines;
		this.events = events;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		TimeLimit limit = limit(invocation);
		long nanos = limit.nanos(invocation.getArguments());
		if (nanos <= 0) {
			this.events.timedOut(limit);
			throw limit.exception(nanos);
		}
		InterruptGuard guard = InterruptGuard.enter(limit, nanos, invocation, this.deadlines);
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
			return ReactorTimeout.apply(result, invocation.getMethod().getReturnType(), limit, nanos, this.deadlines,
					this.events);
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
		PendingResult pending = PendingResult.of(result, invocation.getMethod().getReturnType(), guard, this.events);
		if (pending != null) {
			Executor executor = this.deadlines.executor();
			if (guard.handOver(() -> executor.execute(pending::expire))) {
				return pending.follow();
			}
			pending.cancelSource();
		}
		if (!guard.finish()) {
			this.events.timedOut(guard.limit());
			throw guard.timeOut(failure);
		}
		if (failure != null) {
			throw failure;
		}
		return result;
	}

}
