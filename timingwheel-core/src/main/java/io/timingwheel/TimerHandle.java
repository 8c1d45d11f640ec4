package io.timingwheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A scheduled task. All methods may be called from any thread at any time; once the timer
 * is no longer pending the handle retains nothing.
 *
 * <p>
 * A timer can be cancelled and moved until it is handed over itself, also when others of
 * its tick have been. From then on {@link #cancel} and {@link #reschedule} say
 * {@code false} and the task runs, also when it has not begun.
 */
public interface TimerHandle {

	/**
	 * Calls the task off and frees it at once.
	 * @return {@code true} if it will never run, {@code false} if it was handed over or
	 * cancelled before
	 */
	boolean cancel();

	/**
	 * Moves the deadline. Moving it further away is the cheapest operation of the wheel.
	 * @param delay how long from now, as in
	 * {@link TimingWheel#schedule(Runnable, long, TimeUnit)}
	 * @param unit the unit of {@code delay}
	 * @return {@code true} if the timer was moved, {@code false} if it has been handed
	 * over or cancelled
	 */
	boolean reschedule(long delay, TimeUnit unit);

	/**
	 * Moves the deadline.
	 * @param delay how long from now
	 * @return {@code true} if the timer was moved, {@code false} if it has been handed
	 * over or cancelled
	 */
	boolean reschedule(Duration delay);

	/**
	 * Whether the timer waits for its deadline.
	 * @return {@code false} once it has been handed over, cancelled or returned by
	 * {@link TimingWheel#stop()}
	 */
	boolean isPending();

	/**
	 * Whether {@link #cancel} called the task off.
	 * @return whether it was cancelled
	 */
	boolean isCancelled();

	/**
	 * The time until the timer's tick; may exceed the given delay by up to one tick.
	 * @param unit the unit of the result
	 * @return the remaining time; zero when due or not pending
	 */
	long remaining(TimeUnit unit);

}
