package io.timingwheel;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Runs tasks after a delay. To start, cancel or move a timer takes constant time.
 *
 * <pre class="code">
 * TimingWheel wheel = TimingWheel.builder(executor).build();
 * TimerHandle timeout = wheel.schedule(() -&gt; connection.close(), Duration.ofSeconds(30));
 * timeout.reschedule(Duration.ofSeconds(30)); // a packet has arrived
 * timeout.cancel();                           // the peer has closed the connection
 * </pre>
 *
 * <p>
 * A timer fires at the first tick at or after its deadline: never early, and late by at
 * most one tick plus the delay of the machine itself. To fire means to hand the task over
 * to the executor. Timers fire in the order of their ticks, and timers with equal
 * deadlines of one thread in the order of its {@code schedule} calls, unless they were
 * moved or refused. Each accepted timer ends in exactly one of three ways: handed over,
 * cancelled, or returned by {@link #stop()}. If an executor refuses a task, the timer is
 * pending again, and is handed over again after 5 ms, 10 ms and so on up to 1 s. While an
 * executor accepts nothing, further timers of this executor wait, too.
 *
 * <p>
 * All methods are thread-safe. A {@code null} argument causes a
 * {@link NullPointerException}. No method returns {@code null}.
 *
 * @since 0.1
 */
public interface TimingWheel extends AutoCloseable {

	/**
	 * Starts the configuration of a wheel.
	 * @param executor runs the tasks of expired timers. The wheel's only thread calls
	 * {@code execute}, which must return promptly. With {@code Runnable::run}, each task
	 * delays all other timers.
	 */
	static Builder builder(Executor executor) {
		return new WheelBuilder(Objects.requireNonNull(executor, "executor"));
	}

	/**
	 * Schedules a task.
	 * @param delay the time from now to the deadline, in {@code unit}, at most
	 * {@link Long#MAX_VALUE} nanoseconds (292 years). Without a positive delay, the timer
	 * is due now. This call itself never hands it over
	 * @throws RejectedExecutionException if the wheel is stopped, or as many timers are
	 * pending as {@link Builder#maxPending} allows
	 */
	TimerHandle schedule(Runnable task, long delay, TimeUnit unit);

	/** Schedules a task, as {@link #schedule(Runnable, long, TimeUnit)} does. */
	default TimerHandle schedule(Runnable task, Duration delay) {
		return schedule(task, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
	}

	/**
	 * Returns the current time of the wheel's clock. Only the difference of two readings
	 * has a meaning. A reading plus a delay in nanoseconds is a deadline for
	 * {@link #scheduleAt} and {@link TimerHandle#rescheduleAt}.
	 * @return nanoseconds since an arbitrary origin, which may be negative and may wrap
	 * around
	 */
	long nanoTime();

	/**
	 * Schedules a task with a deadline. The call does not read the clock, unless the
	 * timer is the next one of its shard. So a caller that starts many timers at a time,
	 * such as an event loop, reads {@link #nanoTime()} once for all of them.
	 * @param nanoTime the deadline, a time of the wheel's clock. The timer is due at the
	 * first tick at or after it, so one in the past is due now or at the next tick. The
	 * order among timers that were overdue when they were scheduled is not defined. A
	 * reading plus {@link Long#MAX_VALUE} is the latest possible deadline
	 * @throws RejectedExecutionException if the wheel is stopped, or as many timers are
	 * pending as {@link Builder#maxPending} allows
	 */
	TimerHandle scheduleAt(Runnable task, long nanoTime);

	/** The clock that {@link Builder#timeSource} has set. */
	default TimeSource timeSource() {
		return TimeSource.system();
	}

	/**
	 * Returns the number of pending timers, exact for one moment during the call. A timer
	 * counts until the executor has accepted its task, and a periodic task of
	 * {@link #asScheduledExecutorService()} until it ends. The call takes the lock of
	 * each shard for a moment.
	 */
	long pending();

	/**
	 * Returns the state of the wheel and its counters since it was built, consistent for
	 * each shard. The call takes the lock of each shard for a moment, whatever the number
	 * of timers.
	 */
	WheelSnapshot snapshot();

	/**
	 * Stops the wheel for good. Afterwards, {@link #schedule} throws a
	 * {@link RejectedExecutionException}, and no handle is pending any more.
	 *
	 * <p>
	 * If the wheel's thread is handing over a batch of expired timers, the call waits for
	 * the end of the batch, for 5 seconds at most, unless a task calls this method on
	 * that thread. A batch takes longer only if an executor blocks, or if tasks run on
	 * the wheel's thread: for example, two such tasks stop each other's wheel. Then the
	 * call also returns the rest of the batch, but not the task in progress. The executor
	 * may still accept this task or continue to run it. If it refuses the task, the task
	 * never runs and counts as cancelled.
	 *
	 * <p>
	 * If the call fails with an {@link OutOfMemoryError}, the wheel may still hand over
	 * the rest of the batch, and the next call returns all other tasks.
	 * @return the tasks of all timers that were not handed over, in no particular order.
	 * Each later call returns an empty list
	 */
	List<Runnable> stop();

	/** Stops the wheel and discards what {@link #stop()} returns. */
	@Override
	default void close() {
		stop();
	}

	/**
	 * Returns a new view of the wheel as a {@link ScheduledExecutorService}. The service
	 * runs its tasks on the wheel's executor, and behaves as a
	 * {@link java.util.concurrent.ScheduledThreadPoolExecutor} with its defaults:
	 * {@code shutdown()} cancels the periodic tasks and lets the delayed tasks run,
	 * {@code shutdownNow()} returns the tasks that have not begun and interrupts the
	 * others. Neither method stops the wheel. {@link #stop()} returns the service's
	 * pending tasks.
	 *
	 * <p>
	 * A periodic task counts as pending until it ends, so the limit of
	 * {@link Builder#maxPending} never prevents its next run. If an
	 * {@link OutOfMemoryError} does, the task's future and {@link Builder#onError} get
	 * it. If the executor accepts a task but drops it, the service does not terminate,
	 * unless the task is cancelled or {@code shutdownNow()} is called.
	 */
	ScheduledExecutorService asScheduledExecutorService();

	/** Configures a wheel. A builder is not thread-safe. */
	interface Builder {

		/**
		 * Sets the resolution: a timer fires at most this long after its deadline. The
		 * default is 1 ms.
		 * @param tick a positive duration of at most one day
		 * @throws IllegalArgumentException if the duration is out of range
		 */
		Builder tick(Duration tick);

		/**
		 * Sets the number of slots of each level. The default is 256.
		 * @param slotsPerLevel a power of two from 2 to 4,096
		 * @throws IllegalArgumentException if the number is not such a power of two
		 */
		Builder wheelSize(int slotsPerLevel);

		/**
		 * Sets the number of shards. Each has its own lock, and the id of a thread
		 * selects the shard of its timers. The default depends on the number of
		 * processors.
		 * @param shards a power of two from 1 to 1,024
		 * @throws IllegalArgumentException if the number is not such a power of two
		 */
		Builder shards(int shards);

		/**
		 * Sets the limit of pending timers, which is never exceeded. At the limit,
		 * {@code schedule} throws a {@link RejectedExecutionException}. By default there
		 * is no limit.
		 * @param limit at least 1
		 * @throws IllegalArgumentException if the limit is below 1
		 */
		Builder maxPending(long limit);

		/**
		 * Sets the factory of the wheel's thread. By default it is a daemon thread named
		 * {@code timing-wheel-1} and so on, which inherits no thread-locals.
		 * @param factory the factory, which must not return {@code null}
		 */
		Builder threadFactory(ThreadFactory factory);

		/**
		 * Sets the clock of the wheel. With a {@link ManualTimeSource}, the wheel starts
		 * no thread. The default is {@link TimeSource#system()}.
		 */
		Builder timeSource(TimeSource source);

		/**
		 * Sets the handler of exceptions and errors that tasks throw. By default the
		 * wheel logs them.
		 * @param handler takes the task as it was scheduled and the exception or error,
		 * on the thread that ran the task
		 */
		Builder onError(BiConsumer<? super Runnable, ? super Throwable> handler);

		/** Builds a wheel and starts it. */
		TimingWheel build();

	}

}
