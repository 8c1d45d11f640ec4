package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A view of a wheel as a {@link ScheduledExecutorService}, with the defaults of
 * {@link java.util.concurrent.ScheduledThreadPoolExecutor}. Tasks run on the wheel's
 * executor.
 */
final class WheelScheduledExecutorService extends AbstractExecutorService implements ScheduledExecutorService {

	private final HierarchicalTimingWheel wheel;

	final WheelClock time;

	private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);

	/** All tasks that have not ended. */
	private final Set<WheelScheduledTask<?>> tasks = ConcurrentHashMap.newKeySet();

	private final CountDownLatch terminated = new CountDownLatch(1);

	WheelScheduledExecutorService(HierarchicalTimingWheel wheel, WheelClock time) {
		this.wheel = wheel;
		this.time = time;
	}

	@Override
	public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
		return schedule(Executors.callable(command), delay, unit);
	}

	@Override
	public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
		return start(new WheelScheduledTask<>(this, callable, after(unit.toNanos(delay)), 0));
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
		return schedulePeriodic(command, initialDelay, unit.toNanos(requirePositive("period", period)), unit);
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
		return schedulePeriodic(command, initialDelay, -unit.toNanos(requirePositive("delay", delay)), unit);
	}

	private ScheduledFuture<?> schedulePeriodic(Runnable command, long initialDelay, long periodNanos, TimeUnit unit) {
		return start(new WheelScheduledTask<>(this, Executors.callable(command), after(unit.toNanos(initialDelay)),
				periodNanos));
	}

	private static long requirePositive(String name, long value) {
		if (value <= 0) {
			throw new IllegalArgumentException(name + " must be positive, but is " + value);
		}
		return value;
	}

	@Override
	protected <T> RunnableFuture<T> newTaskFor(Callable<T> task) {
		return new WheelScheduledTask<>(this, task, after(0), 0);
	}

	@Override
	protected <T> RunnableFuture<T> newTaskFor(Runnable task, T result) {
		return newTaskFor(Executors.callable(task, result));
	}

	@Override
	public void execute(Runnable command) {
		if (command instanceof WheelScheduledTask<?> task && task.service == this) {
			start(task);
		}
		else {
			schedule(command, 0, TimeUnit.NANOSECONDS);
		}
	}

	private <T extends WheelScheduledTask<?>> T start(T task) {
		try {
			// The set may fail after it has taken the task.
			this.tasks.add(task);
			// If shutdownNow has returned the task meanwhile, timer() ends it.
			if (this.state.get() != State.RUNNING && task.withdraw()) {
				throw new RejectedExecutionException("The executor service has been shut down");
			}
			task.timer(this.wheel.schedule(task, nanosUntil(task.deadline), TimeUnit.NANOSECONDS));
			return task;
		}
		catch (Throwable ex) {
			ended(task);
			throw ex;
		}
	}

	boolean isStopped() {
		return this.state.get() == State.STOPPED;
	}

	/** Also for a task that {@code stop} has returned. */
	void ended(WheelScheduledTask<?> task) {
		this.tasks.remove(task);
		terminateIfDone();
	}

	private void terminateIfDone() {
		if (this.state.get() != State.RUNNING && this.tasks.isEmpty()) {
			this.terminated.countDown();
		}
	}

	private long after(long delay) {
		return WheelClock.saturatedSum(this.time.elapsed(), Math.max(0, delay));
	}

	long next(long deadline, long period) {
		return (period > 0) ? WheelClock.saturatedSum(deadline, period) : after(-period);
	}

	long nanosUntil(long deadline) {
		return deadline - this.time.elapsed();
	}

	@Override
	public void shutdown() {
		this.state.compareAndSet(State.RUNNING, State.SHUTDOWN);
		for (WheelScheduledTask<?> task : this.tasks) {
			// A running task is cancelled when its next run would be scheduled.
			if (task.isPeriodic() && !task.isRunning()) {
				task.cancel(false);
			}
		}
		terminateIfDone();
	}

	@Override
	public List<Runnable> shutdownNow() {
		this.state.set(State.STOPPED);
		List<Runnable> withdrawn = new ArrayList<>();
		for (WheelScheduledTask<?> task : this.tasks) {
			if (task.withdraw()) {
				withdrawn.add(task);
				this.tasks.remove(task);
			}
		}
		terminateIfDone();
		return withdrawn;
	}

	@Override
	public boolean isShutdown() {
		return this.state.get() != State.RUNNING;
	}

	@Override
	public boolean isTerminated() {
		return this.terminated.getCount() == 0;
	}

	@Override
	public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
		return this.terminated.await(timeout, unit);
	}

	@Override
	public String toString() {
		return "WheelScheduledExecutorService[%s, tasks = %d]".formatted(isTerminated() ? "TERMINATED" : this.state,
				this.tasks.size());
	}

	private enum State {

		RUNNING, SHUTDOWN, STOPPED

	}

}
