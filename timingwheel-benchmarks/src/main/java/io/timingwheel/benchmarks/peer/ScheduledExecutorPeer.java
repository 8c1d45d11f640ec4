package io.timingwheel.benchmarks.peer;

import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The executors of the JDK: a pool of one thread on a heap, and since JDK 25 the delays
 * of the {@link ForkJoinPool}.
 */
final class ScheduledExecutorPeer implements TimerPeer {

	private final ScheduledExecutorService executor;

	private ScheduledExecutorPeer(ScheduledExecutorService executor) {
		this.executor = executor;
	}

	static TimerPeer threadPool() {
		ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "scheduled-thread-pool");
			thread.setDaemon(true);
			return thread;
		});
		pool.setRemoveOnCancelPolicy(true);
		return new ScheduledExecutorPeer(pool);
	}

	static boolean hasForkJoinPool() {
		Executor pool = ForkJoinPool.commonPool();
		return pool instanceof ScheduledExecutorService;
	}

	static TimerPeer forkJoinPool() {
		Executor pool = ForkJoinPool.commonPool();
		return new ScheduledExecutorPeer((ScheduledExecutorService) pool);
	}

	@Override
	public Object schedule(PeerTask task, long delayNanos) {
		return this.executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void cancel(Object timer) {
		((Future<?>) timer).cancel(false);
	}

	@Override
	public void close() {
		// The common pool ignores this. It ends with the JVM.
		this.executor.shutdownNow();
	}

}
