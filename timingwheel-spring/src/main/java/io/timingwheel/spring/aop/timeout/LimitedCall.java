package io.timingwheel.spring.aop.timeout;

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

	private static final Step UNCHANGED = (result) -> result;

	static LimitedCall of(TimeLimit limit, MethodInvocation invocation, TimeoutRuntime runtime) {
		@Nullable Object[] arguments = invocation.getArguments();
		return new LimitedCall(limit, invocation.getMethod(), invocation.getThis(), arguments, limit.nanos(arguments),
				runtime);
	}

	/**
	 * The name of the method, for messages.
	 */
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

	/**
	 * Runs the method on the current thread within the limit.
	 */
	@Nullable Object run(MethodInvocation invocation) throws Throwable {
		Step later = this.limit.resultMayComeLater() ? (returned) -> LaterResult.limit(returned, this) : UNCHANGED;
		return run(invocation::proceed, later, UNCHANGED);
	}

	/**
	 * Runs on the current thread, within the limit, the work that the method has
	 * returned.
	 * @param fallback does the work that the fallback has returned
	 */
	@SuppressWarnings({ "unchecked", "NullAway" }) // V may be nullable.
	<V extends @Nullable Object> V runLater(Callable<V> work, Step fallback) throws Exception {
		return (V) unchecked(() -> run(work::call, UNCHANGED, fallback));
	}

	private @Nullable Object run(Body body, Step later, Step fallback) throws Throwable {
		if (this.nanos <= 0) {
			notifyListeners();
			return fallback.apply(afterDeadline(newException()));
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
				return later.apply(result);
			}
			timeout = guard.timeout(failure);
		}
		finally {
			guard.leave();
		}
		notifyListeners();
		return fallback.apply(afterDeadline(timeout));
	}

	private @Nullable Object afterDeadline(MethodTimeoutException timeout) throws Throwable {
		Fallback fallback = this.limit.fallback();
		if (fallback == null) {
			throw timeout;
		}
		return fallback.call(this.target, this.arguments, timeout);
	}

	/**
	 * What the caller gets after the deadline, for another thread. The fallback runs in
	 * the context of the current thread.
	 */
	Callable<@Nullable Object> afterDeadline() {
		Callable<@Nullable Object> outcome = () -> unchecked(() -> afterDeadline(newException()));
		if (this.limit.fallback() == null) {
			return outcome;
		}
		return this.runtime.<@Nullable Object>inContext(outcome);
	}

	private static @Nullable Object unchecked(Body body) throws Exception {
		try {
			return body.run();
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new UndeclaredThrowableException(ex);
		}
	}

	@FunctionalInterface
	private interface Body {

		@Nullable Object run() throws Throwable;

	}

	/**
	 * What becomes of a result.
	 */
	@FunctionalInterface
	interface Step {

		@Nullable Object apply(@Nullable Object result) throws Exception;

	}

}
