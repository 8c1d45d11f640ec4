package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.support.FutureCompletion;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * Starts the timers of calls, and runs what has to happen to a future at its deadline.
 */
final class Deadlines {

	private final Supplier<TimingWheel> wheel;

	private final Supplier<? extends Executor> executor;

	Deadlines(Supplier<TimingWheel> wheel, Supplier<? extends Executor> executor) {
		this.wheel = wheel;
		this.executor = executor;
	}

	/**
	 * Starts a timer.
	 * @return the timer, or {@code null} if the wheel is stopped: work that is finished
	 * during shutdown has no limit
	 * @throws TaskRejectedException if the wheel's limit of timers is reached
	 */
	@Nullable TimerHandle schedule(DirectTask task, long nanos) {
		TimingWheel wheel = this.wheel.get();
		try {
			return wheel.schedule(task, nanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			if (wheel.snapshot().state() == WheelSnapshot.State.STOPPED) {
				return null;
			}
			throw new TaskRejectedException("No timer for the @Timeout of this call: " + ex.getMessage(), ex);
		}
	}

	/**
	 * Where futures are completed. Never refuses: a timeout has to reach its future also
	 * when the executor has no room or is shut down.
	 */
	Executor executor() {
		return FutureCompletion.unrefusing(this.executor.get());
	}

}
