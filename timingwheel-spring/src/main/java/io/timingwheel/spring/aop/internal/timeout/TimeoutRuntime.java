package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

import io.timingwheel.DirectTask;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.memory.CallerContext;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * What all calls with a time limit use. Thread-safe.
 *
 * @param executor completes expired futures, and runs their fallbacks
 * @param context the context in which these fallbacks run
 * @param listener is told of each method that timed out
 */
record TimeoutRuntime(TimingWheel wheel, Executor executor, CallerContext context, Consumer<Method> listener,
		DeadlineStacks stacks) {

	long nanoTime() {
		return this.wheel.nanoTime();
	}

	/**
	 * Starts a timer. Gives {@code null} if the wheel has stopped, because work that ends
	 * during shutdown has no time limit.
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

	/**
	 * Interrupts the thread of an expired call, in this method or soon after it. If a
	 * test moves the time, the thread has its interrupt when the time has been moved.
	 */
	void interrupt(InterruptGuard guard) {
		if (this.wheel.timeSource() instanceof ManualTimeSource) {
			guard.interrupt(guard.thread().getStackTrace());
		}
		else {
			this.stacks.interrupt(guard);
		}
	}

}
