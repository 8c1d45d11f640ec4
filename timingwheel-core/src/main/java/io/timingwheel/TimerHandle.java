package io.timingwheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A scheduled timer. All methods are thread-safe. A handle retains neither the task nor
 * the wheel once the timer was cancelled or returned by {@link TimingWheel#stop()}, or
 * once its task has begun.
 *
 * <p>
 * A timer can be cancelled and moved until it is handed over, even while the wheel hands
 * over other timers of the same tick. From then on, {@link #cancel} and
 * {@link #reschedule} return {@code false}, and the task runs, even if it has not begun
 * yet.
 *
 * @since 0.1
 */
public interface TimerHandle {

	/**
	 * Cancels the timer. The wheel releases the task at once.
	 * @return {@code true} if this call has cancelled the timer, so that the task never
	 * runs; {@code false} if the timer was no longer pending
	 */
	boolean cancel();

	/**
	 * Moves the deadline. A move to a later deadline is the cheapest operation of the
	 * wheel.
	 * @param delay the time from now to the new deadline, in {@code unit}, as in
	 * {@link TimingWheel#schedule(Runnable, long, TimeUnit)}
	 * @return {@code false} if the timer was no longer pending
	 */
	boolean reschedule(long delay, TimeUnit unit);

	/** Moves the deadline, as {@link #reschedule(long, TimeUnit)} does. */
	boolean reschedule(Duration delay);

	/**
	 * Moves the deadline to a time of the wheel's clock. A move to a later deadline does
	 * not read the clock.
	 * @param nanoTime the new deadline, as in {@link TimingWheel#scheduleAt}
	 * @return {@code false} if the timer was no longer pending
	 */
	boolean rescheduleAt(long nanoTime);

	/**
	 * {@code false} once the timer has been handed over, cancelled or returned by
	 * {@link TimingWheel#stop()}.
	 */
	boolean isPending();

	/** Whether {@link #cancel} has cancelled the timer. */
	boolean isCancelled();

	/**
	 * Returns the time until the tick at which the timer is due, which exceeds the
	 * remaining delay by up to one tick; 0 if the timer is due or not pending.
	 */
	long remaining(TimeUnit unit);

}
