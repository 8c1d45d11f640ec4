package io.timingwheel.spring.aop.timeout;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Makes a body that has run past its deadline fail before the advice around it, such as
 * that of a transaction, sees its result. Also clears the interrupt, so that a rollback
 * is not disturbed.
 */
final class ExpiredBodyInterceptor implements MethodInterceptor {

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		InterruptGuard guard = InterruptGuard.of(invocation);
		if (guard == null) {
			return invocation.proceed();
		}
		if (guard.isExpired()) {
			throw guard.timeOut(null);
		}
		Object result = null;
		Throwable failure = null;
		try {
			result = invocation.proceed();
		}
		catch (Throwable ex) {
			failure = ex;
		}
		if (guard.isExpired()) {
			PendingResult.cancelSource(result);
			throw guard.timeOut(failure);
		}
		if (failure != null) {
			throw failure;
		}
		return result;
	}

}
