package io.timingwheel.spring.aop.internal.timeout;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The innermost advice of a method with a time limit. Throws the timeout as soon as an
 * expired body returns, so that the advice between this interceptor and
 * {@link TimeoutInterceptor} sees an exception: a transaction rolls back. Also clears the
 * interrupt, which would disturb the rollback.
 */
final class ExpiredBodyInterceptor implements MethodInterceptor {

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		InterruptGuard guard = InterruptGuard.current(invocation);
		if (guard == null) {
			return invocation.proceed();
		}
		if (guard.clearIfExpired()) {
			throw guard.timeout(null);
		}
		return guard.run((same) -> invocation.proceed(), false);
	}

}
