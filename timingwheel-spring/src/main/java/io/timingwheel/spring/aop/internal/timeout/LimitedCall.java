package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.Callable;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One call of a method with a time limit.
 *
 * @param method the called method
 * @param nanos the limit; zero or negative if the call has no time left
 */
record LimitedCall(TimeLimit limit, Method method, @Nullable Object target, @Nullable Object[] arguments, long nanos,
		TimeoutRuntime runtime) {

	static LimitedCall of(TimeLimit limit, MethodInvocation invocation, TimeoutRuntime runtime) {
		@Nullable Object[] arguments = invocation.getArguments();
		return new LimitedCall(limit, invocation.getMethod(), invocation.getThis(), arguments, limit.nanos(arguments),
				runtime);
	}

	String describe() {
		return InvalidAnnotatedMethodException.describe(this.method);
	}

	boolean isFor(MethodInvocation invocation) {
		return this.method == invocation.getMethod() && this.target == invocation.getThis();
	}

	MethodTimeoutException newException() {
		return this.limit.newException(this.nanos);
	}

	void notifyListeners() {
		this.runtime.timedOut(this.limit);
	}

	@Nullable Object run(MethodInvocation invocation) throws Throwable {
		return run(invocation::proceed, false);
	}

	/**
	 * Does on the current thread, within the limit, the work that the method has
	 * returned.
	 */
	@SuppressWarnings({ "unchecked", "NullAway" }) // V may be nullable.
	<V extends @Nullable Object> V runLater(Callable<V> work) throws Exception {
		try {
			return (V) run(work::call, true);
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new UndeclaredThrowableException(ex);
		}
	}

	private @Nullable Object run(Body body, boolean later) throws Throwable {
		if (this.nanos <= 0) {
			notifyListeners();
			return afterDeadline(newException(), later);
		}
		InterruptGuard guard = InterruptGuard.enter(this);
		if (guard == null) {
			return body.run();
		}
		MethodTimeoutException timeout;
		try {
			Object result = null;
			Throwable failure = null;
			try {
				result = body.run();
			}
			catch (Throwable ex) {
				failure = ex;
			}
			Object limited = later ? result : LaterResult.limit(result, guard);
			if (guard.finish()) {
				if (failure != null) {
					throw failure;
				}
				return limited;
			}
			FutureTimeout.cancel(result);
			timeout = guard.timeout(failure);
		}
		finally {
			guard.leave();
		}
		notifyListeners();
		return afterDeadline(timeout, later);
	}

	/**
	 * Returns what the caller gets after the deadline.
	 * @param later whether the caller wants the result of the work that a fallback
	 * returns
	 */
	private @Nullable Object afterDeadline(MethodTimeoutException timeout, boolean later) throws Exception {
		Fallback fallback = this.limit.fallback();
		if (fallback == null) {
			throw timeout;
		}
		Object value = fallback.call(this.target, this.arguments, timeout);
		return later ? LaterResult.use(value) : value;
	}

	/**
	 * What the caller gets after the deadline, for another thread. The fallback runs in
	 * the context of the current thread.
	 */
	Callable<@Nullable Object> afterDeadline() {
		Callable<@Nullable Object> outcome = () -> afterDeadline(newException(), false);
		return (this.limit.fallback() != null) ? this.runtime.<@Nullable Object>inContext(outcome) : outcome;
	}

	@FunctionalInterface
	private interface Body {

		@Nullable Object run() throws Throwable;

	}

}
