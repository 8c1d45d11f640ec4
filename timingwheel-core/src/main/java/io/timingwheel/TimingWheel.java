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
 * Runs tasks after a delay. Starting, cancelling and moving a timer take constant time,
 * however many are pending.
 *
 * <pre class="code">
 * TimingWheel wheel = TimingWheel.builder(executor).build();
 * TimerHandle timeout = wheel.schedule(() -&gt; connection.close(), Duration.ofSeconds(30));
 * timeout.reschedule(Duration.ofSeconds(30)); // a packet arrived
 * timeout.cancel();                           // closed by the peer
 * </pre>
 *
 * <p>
 * A timer fires at the first tick at or after its deadline: never early, and late by at
 * most one tick plus what the machine itself needs. Firing means handing the task over to
 * the executor, in tick order; timers with equal deadlines that one thread scheduled are
 * handed over in the order in which it scheduled them. Each accepted timer ends in
 * exactly one of handed over, cancelled, or returned by {@link #stop()}. When the
 * executor refuses a task, its timer is pending again and is tried later.
 *
 * <p>
 * All methods may be called from any thread. {@code null} arguments cause a
 * {@link NullPointerException}.
 */
public interface TimingWheel extends AutoCloseable {

	/**
	 * Starts the configuration of a wheel.
	 * @param executor where the tasks of expired timers run. Its {@code execute} is
	 * called by the wheel's only thread and has to return promptly. With
	 * {@code Runnable::run} the tasks run on that thread, and each delays all others.
	 * @return a builder with the defaults
	 */
	static Builder builder(Executor executor) {
		return new WheelBuilder(Objects.requireNonNull(executor, "executor"));
	}

	/**
	 * Schedules a task.
	 * @param task what to run
	 * @param delay how long from now, in {@code unit}; zero and negative delays are due
	 * now and are handed over at the driver's next turn, never on the calling thread
	 * @param unit the unit of {@code delay}; nanoseconds beyond {@link Long#MAX_VALUE}
	 * (292 years) saturate
	 * @return the handle of the pending timer
	 * @throws RejectedExecutionException if the wheel is stopped or
	 * {@link Builder#maxPending} timers are pending
	 */
	TimerHandle schedule(Runnable task, long delay, TimeUnit unit);

	/**
	 * Schedules a task.
	 * @param task what to run
	 * @param delay how long from now; as in {@link #schedule(Runnable, long, TimeUnit)},
	 * and a duration of more than 292 years saturates
	 * @return the handle of the pending timer
	 * @throws RejectedExecutionException if the wheel is stopped or
	 * {@link Builder#maxPending} timers are pending
	 */
	TimerHandle schedule(Runnable task, Duration delay);

	/**
	 * The clock by which this wheel measures delays.
	 * @return the clock that {@link Builder#timeSource} set
	 */
	default TimeSource timeSource() {
		return TimeSource.system();
	}

	/**
	 * The number of timers that are neither handed over nor cancelled; a timer counts
	 * until the executor has accepted its task. Takes the lock of each shard for a
	 * moment.
	 * @return the number of pending timers, exact for one moment
	 */
	long pending();

	/**
	 * The state of the wheel and its counters since it was built. Takes each shard's lock
	 * for a moment; independent of the number of timers.
	 * @return a consistent reading of each shard
	 */
	WheelSnapshot snapshot();

	/**
	 * Stops the wheel for good. Waits until the batch of expired timers that is being
	 * handed over is through, unless called from a task on the driver's own thread.
	 * Afterwards {@link #schedule} throws {@link RejectedExecutionException} and all
	 * handles say that they are not pending.
	 * @return the tasks of all timers that were not handed over, in no particular order;
	 * empty from the second call on
	 */
	List<Runnable> stop();

	/**
	 * Stops the wheel and discards the tasks that are pending.
	 * @see #stop()
	 */
	@Override
	void close();

	/**
	 * The wheel for whatever takes a {@link ScheduledExecutorService}. Each call gives an
	 * independent service, which runs its tasks on the wheel's executor and behaves as a
	 * {@link java.util.concurrent.ScheduledThreadPoolExecutor} with its defaults: after
	 * {@code shutdown()} periodic tasks are cancelled and delayed ones still run, and
	 * {@code shutdownNow()} returns what has not begun and interrupts what has. Neither
	 * stops the wheel; {@link #stop()} returns the service's pending tasks. The limit of
	 * {@link Builder#maxPending} is the service's, too: a periodic task whose next run it
	 * refuses ends with the {@link RejectedExecutionException}.
	 * @return a new service
	 */
	ScheduledExecutorService asScheduledExecutorService();

	/**
	 * Configures a wheel. Not thread-safe.
	 */
	interface Builder {

		/**
		 * The resolution: how late a timer may fire at most. Default: 1 ms.
		 * @param tick a positive duration of at most one day
		 * @return this builder
		 * @throws IllegalArgumentException if out of range
		 */
		Builder tick(Duration tick);

		/**
		 * The number of slots of each level. Level <em>n</em> + 1 has the span of level
		 * <em>n</em> as its tick. Default: 256.
		 * @param slotsPerLevel a power of two from 2 to 65,536
		 * @return this builder
		 * @throws IllegalArgumentException if it is none
		 */
		Builder wheelSize(int slotsPerLevel);

		/**
		 * How many wheels with a lock of their own share the load. A thread schedules on
		 * the shard that its id selects. Default: derived from the number of processors.
		 * @param shards a power of two from 1 to 1,024
		 * @return this builder
		 * @throws IllegalArgumentException if it is none
		 */
		Builder shards(int shards);

		/**
		 * The limit of pending timers, never exceeded: beyond it {@code schedule} throws
		 * {@link RejectedExecutionException}. Default: no limit.
		 * @param limit at least 1
		 * @return this builder
		 * @throws IllegalArgumentException if below 1
		 */
		Builder maxPending(long limit);

		/**
		 * Makes the driver's thread, and another if that one should die. Default: daemon
		 * threads named {@code timing-wheel-1}, {@code timing-wheel-2} and so on, which
		 * inherit no thread-locals.
		 * @param factory the factory
		 * @return this builder
		 */
		Builder threadFactory(ThreadFactory factory);

		/**
		 * Where the time comes from. With a {@link ManualTimeSource} no thread is
		 * started. Default: {@link TimeSource#system()}.
		 * @param source the source
		 * @return this builder
		 */
		Builder timeSource(TimeSource source);

		/**
		 * What to do with an exception or error that a task has thrown. It is called on
		 * the thread that ran the task, with the task as it was scheduled. Default: log
		 * it.
		 * @param handler takes the task and what it threw
		 * @return this builder
		 */
		Builder onError(BiConsumer<? super Runnable, ? super Throwable> handler);

		/**
		 * Builds a running wheel.
		 * @return the wheel
		 */
		TimingWheel build();

	}

}
