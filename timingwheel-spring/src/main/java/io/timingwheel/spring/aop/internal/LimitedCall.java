package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

import io.timingwheel.DirectTask;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.aop.internal.TimeLimit.Fallback;
import io.timingwheel.spring.task.memory.CallerContext;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * One call of a method with a time limit.
 *
 * @param nanos the limit; zero or negative if the call has no time left
 */
record LimitedCall(TimeLimit limit, MethodInvocation invocation, long nanos, Runtime runtime) {

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

	private @Nullable Object afterDeadline(MethodTimeoutException timeout) throws Exception {
		Fallback fallback = this.limit.fallback();
		if (fallback == null) {
			throw timeout;
		}
		return fallback.call(AnnotatedMethods.target(this.invocation), this.invocation.getArguments(), timeout);
	}

	/**
	 * What the caller gets after the deadline, for another thread. The fallback runs in
	 * the context of the current thread.
	 */
	Callable<@Nullable Object> afterDeadline() {
		Callable<@Nullable Object> outcome = () -> afterDeadline(newException());
		return (this.limit.fallback() != null) ? this.runtime.context().<@Nullable Object>capture(outcome) : outcome;
	}

	/**
	 * What all calls with a time limit use. Thread-safe.
	 *
	 * @param executor completes expired futures, and runs their fallbacks
	 * @param context the context in which these fallbacks run
	 * @param listener is told of each method that timed out
	 */
	record Runtime(TimingWheel wheel, Executor executor, CallerContext context, Consumer<Method> listener,
			DeadlineStacks stacks) {

		/**
		 * Starts a timer. Gives {@code null} if the wheel has stopped, because work that
		 * ends during shutdown has no time limit.
		 */
		@Nullable TimerHandle schedule(DirectTask task, long startNanos, long nanos) {
			try {
				return this.wheel.scheduleAt(task, startNanos + nanos);
			}
			catch (RejectedExecutionException ex) {
				if (this.wheel.snapshot().state() == WheelSnapshot.State.STOPPED) {
					return null;
				}
				throw new TaskRejectedException("No timer for the @Timeout of this call: " + ex.getMessage(), ex);
			}
		}

		/** Once a test has moved the time, the thread has its interrupt. */
		void interrupt(InterruptGuard guard) {
			if (this.wheel.timeSource() instanceof ManualTimeSource) {
				guard.interrupt(guard.thread.getStackTrace());
			}
			else {
				this.stacks.interrupt(guard);
			}
		}

	}

}
