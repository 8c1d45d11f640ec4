package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.UndeclaredThrowableException;
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
		this.runtime.timedOut(this.limit.method());
	}

	@Nullable Object run() throws Throwable {
		return run((guard) -> LaterResult.limit(this.invocation.proceed(), guard), false);
	}

	/**
	 * Does on the current thread, within the limit, the work that the method has
	 * returned.
	 */
	@SuppressWarnings({ "unchecked", "NullAway" }) // V may be nullable.
	<V extends @Nullable Object> V runLater(Callable<V> work) throws Exception {
		try {
			return (V) run((guard) -> work.call(), true);
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new UndeclaredThrowableException(ex);
		}
	}

	private @Nullable Object run(InterruptGuard.Body body, boolean later) throws Throwable {
		MethodTimeoutException timeout;
		if (this.nanos <= 0) {
			timeout = newException();
		}
		else {
			InterruptGuard guard = InterruptGuard.enter(this);
			if (guard == null) {
				return body.run(null);
			}
			try {
				return guard.run(body, true);
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
		Object value = fallback.call(this.invocation.getThis(), this.invocation.getArguments(), timeout);
		return later ? LaterResult.use(value) : value;
	}

	/**
	 * What the caller gets after the deadline, for another thread. The fallback runs in
	 * the context of the current thread.
	 */
	Callable<@Nullable Object> afterDeadline() {
		Callable<@Nullable Object> outcome = () -> afterDeadline(newException(), false);
		return (this.limit.fallback() != null) ? this.runtime.context().<@Nullable Object>capture(outcome) : outcome;
	}

}
