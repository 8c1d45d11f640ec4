package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One call of a method with a time limit.
 */
final class LimitedCall {

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

	/**
	 * Returns the name of the method, for messages.
	 */
	String method() {
		return InvalidAnnotatedMethodException.describe(this.method);
	}

	Class<?> returnType() {
		return this.method.getReturnType();
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
	 * Returns what the caller gets after the deadline.
	 * @param timeout the exception of this call
	 * @return the result of the fallback
	 * @throws Throwable the timeout if there is no fallback, or the exception of the
	 * fallback
	 */
	@Nullable Object afterDeadline(MethodTimeoutException timeout) throws Throwable {
		Fallback fallback = this.limit.fallback();
		if (fallback == null) {
			throw timeout;
		}
		return fallback.call(this.target, this.arguments, timeout);
	}

}
