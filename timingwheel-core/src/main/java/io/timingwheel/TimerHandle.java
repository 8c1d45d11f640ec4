package io.timingwheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A scheduled timer. All methods are thread-safe. A handle whose timer is no longer
 * pending retains neither the task nor the wheel.
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
	 * @return {@code true} if this call has cancelled the timer, so that the task will
	 * never run; {@code false} if the timer was no longer pending
	 */
	boolean cancel();

	/**
	 * Moves the deadline. A move to a later deadline is the cheapest operation of the
	 * wheel.
	 * @param delay the time from now to the new deadline, in {@code unit}, as in
	 * {@link TimingWheel#schedule(Runnable, long, TimeUnit)}
	 * @param unit the unit of {@code delay}
	 * @return {@code true} if the timer was moved, {@code false} if it was no longer
	 * pending
	 */
	boolean reschedule(long delay, TimeUnit unit);

	/**
	 * Moves the deadline.
	 * @param delay the time from now to the new deadline
	 * @return {@code true} if the timer was moved, {@code false} if it was no longer
	 * pending
	 */
	boolean reschedule(Duration delay);

	/**
	 * Returns whether the timer is pending.
	 * @return {@code false} once the timer has been handed over, cancelled or returned by
	 * {@link TimingWheel#stop()}
	 */
	boolean isPending();

	/**
	 * Returns whether {@link #cancel} has cancelled the timer.
	 * @return {@code true} once the timer has been cancelled
	 */
	boolean isCancelled();

	/**
	 * Returns the time until the tick at which the timer is due. This time may exceed the
	 * remaining delay by up to one tick.
	 * @param unit the unit of the result
	 * @return the remaining time, 0 if the timer is due or not pending
	 */
	long remaining(TimeUnit unit);

}
