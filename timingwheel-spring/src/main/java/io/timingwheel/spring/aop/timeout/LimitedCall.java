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
 */
final class LimitedCall {

	private static final Step UNCHANGED = (result) -> result;

	private final TimeLimit limit;

	private final long nanos;

	private final Method method;

	private final @Nullable Object target;

	private final @Nullable Object[] arguments;

	private final TimeoutRuntime runtime;

	LimitedCall(TimeLimit limit, MethodInvocation invocation, TimeoutRuntime runtime) {
		this.limit = limit;
		this.method = invocation.getMethod();
		this.target = invocation.getThis();
		this.arguments = invocation.getArguments();
		this.runtime = runtime;
		this.nanos = limit.nanos(this.arguments);
	}

	/**
	 * Returns the limit of this call.
	 * @return nanoseconds; zero or negative if the call has no time left
	 */
	long nanos() {
		return this.nanos;
	}

	TimeoutRuntime runtime() {
		return this.runtime;
	}

	TimeLimit limit() {
		return this.limit;
	}

	/**
	 * Returns the name of the method, for messages.
	 */
	String method() {
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
	 */
	@SuppressWarnings({ "unchecked", "NullAway" }) // V may be nullable.
	<V extends @Nullable Object> V runLater(Callable<V> work, Step fallback) throws Exception {
		try {
			return (V) run(work::call, UNCHANGED, fallback);
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new UndeclaredThrowableException(ex);
		}
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

	/**
	 * Returns what the caller gets after the deadline.
	 */
	@Nullable Object afterDeadline(MethodTimeoutException timeout) throws Throwable {
		Fallback fallback = this.limit.fallback();
		if (fallback == null) {
			throw timeout;
		}
		return fallback.call(this.target, this.arguments, timeout);
	}

	/**
	 * Returns what the caller gets after the deadline, for another thread. The fallback
	 * runs in the context of the current thread.
	 */
	Callable<@Nullable Object> afterDeadline() {
		Fallback fallback = this.limit.fallback();
		if (fallback == null) {
			return () -> {
				throw newException();
			};
		}
		return this.runtime.inContext(() -> {
			try {
				return fallback.call(this.target, this.arguments, newException());
			}
			catch (Exception | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new UndeclaredThrowableException(ex);
			}
		});
	}

	/**
	 * What is limited.
	 */
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
