package io.timingwheel.spring.aop.internal.timeout;

import java.time.Duration;
import java.util.concurrent.Callable;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One call of a method with a time limit.
 *
 * @param nanos the limit; zero or negative if the call has no time left
 */
record LimitedCall(TimeLimit limit, MethodInvocation invocation, long nanos, TimeoutRuntime runtime) {

	boolean isFor(MethodInvocation other) {
		return this.invocation.getMethod() == other.getMethod() && this.invocation.getThis() == other.getThis();
	}

	MethodTimeoutException newException() {
		return new MethodTimeoutException(this.limit.method(), Duration.ofNanos(this.nanos));
	}

	void notifyListeners() {
		this.runtime.listener().accept(this.limit.method());
	}

	@Nullable Object run() throws Throwable {
		MethodTimeoutException timeout;
		if (this.nanos <= 0) {
			timeout = newException();
		}
		else {
			InterruptGuard guard = InterruptGuard.enter(this);
			if (guard == null) {
				return this.invocation.proceed();
			}
			try {
				return guard.run(this.invocation, true);
			}
			catch (MethodTimeoutException ex) {
				if (!guard.hasExpired()) {
					throw ex;
				}
				timeout = ex;
			}
			finally {
				guard.leave();
			}
		}
		notifyListeners();
		return afterDeadline(timeout);
	}

	/** Returns what the caller gets after the deadline. */
	private @Nullable Object afterDeadline(MethodTimeoutException timeout) throws Exception {
		Fallback fallback = this.limit.fallback();
		if (fallback == null) {
			throw timeout;
		}
		return fallback.call(this.invocation.getThis(), this.invocation.getArguments(), timeout);
	}

	/**
	 * What the caller gets after the deadline, for another thread. The fallback runs in
	 * the context of the current thread.
	 */
	Callable<@Nullable Object> afterDeadline() {
		Callable<@Nullable Object> outcome = () -> afterDeadline(newException());
		return (this.limit.fallback() != null) ? this.runtime.context().<@Nullable Object>capture(outcome) : outcome;
	}

}
