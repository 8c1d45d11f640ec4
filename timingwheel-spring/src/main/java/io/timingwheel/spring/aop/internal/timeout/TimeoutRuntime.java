package io.timingwheel.spring.aop.internal.timeout;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

import io.timingwheel.DirectTask;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.internal.UserErrors;
import io.timingwheel.spring.task.memory.CallerContext;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * The beans that a call with a time limit uses: the wheel, the executor of expired
 * futures, and the listeners. The advice exists before Spring may create these beans, and
 * therefore looks them up at calls. Thread-safe.
 */
final class TimeoutRuntime {

	private static final Log logger = LogFactory.getLog(TimeoutListener.class);

	private final Supplier<TimingWheel> wheel;

	private final Supplier<? extends Executor> executor;

	private final Supplier<CallerContext> context;

	private final Supplier<List<TimeoutListener>> listeners;

	private final DeadlineStacks stacks = new DeadlineStacks();

	TimeoutRuntime(Supplier<TimingWheel> wheel, Supplier<? extends Executor> executor, Supplier<CallerContext> context,
			Supplier<List<TimeoutListener>> listeners) {
		this.wheel = wheel;
		this.executor = executor;
		this.context = context;
		this.listeners = listeners;
	}

	long nanoTime() {
		return this.wheel.get().nanoTime();
	}

	/**
	 * Starts a timer. Gives {@code null} if the wheel has stopped, because work that ends
	 * during shutdown has no time limit.
	 */
	@Nullable TimerHandle schedule(DirectTask task, long startNanos, long nanos) {
		TimingWheel wheel = this.wheel.get();
		try {
			return wheel.scheduleAt(task, startNanos + nanos);
		}
		catch (RejectedExecutionException ex) {
			if (wheel.snapshot().state() == WheelSnapshot.State.STOPPED) {
				return null;
			}
			throw new TaskRejectedException("No timer for the @Timeout of this call: " + ex.getMessage(), ex);
		}
	}

	Executor executor() {
		return this.executor.get();
	}

	/**
	 * Code for another thread in the context of this thread.
	 */
	<T extends @Nullable Object> Callable<T> inContext(Callable<T> code) {
		return this.context.get().capture(code);
	}

	/**
	 * Interrupts the thread of an expired call, in this method or soon after it. If a
	 * test moves the time, the thread has its interrupt when the time has been moved.
	 */
	void interrupt(InterruptGuard guard) {
		if (this.wheel.get().timeSource() instanceof ManualTimeSource) {
			guard.interrupt(guard.thread().getStackTrace());
		}
		else {
			this.stacks.interrupt(guard);
		}
	}

	/**
	 * Notifies the listeners of a timeout. Their exceptions are logged only, because the
	 * caller gets the {@code MethodTimeoutException}.
	 */
	void timedOut(TimeLimit limit) {
		try {
			for (TimeoutListener listener : this.listeners.get()) {
				listener.timedOut(limit.method());
			}
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn, "Listener failed on the timeout of " + limit.method(), ex);
		}
	}

	void close() {
		this.stacks.close();
	}

}
