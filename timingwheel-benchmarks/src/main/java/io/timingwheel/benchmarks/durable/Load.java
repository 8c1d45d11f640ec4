package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** Stores tasks with several threads. */
final class Load {

	private static final int FILLERS = 8;

	private static final int BATCH = 100;

	private static final int LARGE_BATCH = 1_000;

	private static final int PACERS = 16;

	private static final int MIN_DELAY_MILLIS = 500;

	private static final int MAX_DELAY_MILLIS = 5_000;

	private final TaskNode node;

	Load(TaskNode node) {
		this.node = node;
	}

	/** Stores tasks for one time as fast as possible. */
	void fill(int count, Instant due) throws Exception {
		inBatches(count, BATCH, (from, to) -> this.node.enqueueBatch(to - from, due));
	}

	/** Stores tasks as fast as possible, each due when it is stored. */
	void fillNow(int count) throws Exception {
		inBatches(count, BATCH, (from, to) -> this.node.enqueueBatch(to - from, due(0)));
	}

	/** Stores tasks that are not due for a long time, as fast as possible. */
	void fillPending(int count) throws Exception {
		inBatches(count, LARGE_BATCH, this.node::enqueuePending);
	}

	/**
	 * Stores tasks that are due later. First one thread warms up, so that the compiler
	 * has a processor. Then all threads warm up.
	 * @param threads how many threads
	 * @param batch how many tasks at once
	 * @return how many tasks a second
	 */
	double rate(int threads, int batch, double seconds) throws Exception {
		store(1, batch, 2 * seconds);
		store(threads, batch, seconds / 2);
		long start = System.nanoTime();
		long stored = store(threads, batch, seconds);
		return stored * 1e9 / (System.nanoTime() - start);
	}

	private long store(int threads, int batch, double seconds) throws Exception {
		long end = System.nanoTime() + nanos(seconds);
		return inThreads(threads, (thread) -> {
			long stored = 0;
			while (System.nanoTime() - end < 0) {
				Instant due = due(TimeUnit.HOURS.toMillis(1));
				if (batch == 1) {
					this.node.enqueue(due);
				}
				else {
					this.node.enqueueBatch(batch, due);
				}
				stored += batch;
			}
			return stored;
		});
	}

	/**
	 * Stores tasks at a steady rate, with random delays of half a second to five.
	 * @return how many
	 */
	long steady(int rate, double seconds) throws Exception {
		return steady(rate, seconds, MIN_DELAY_MILLIS, MAX_DELAY_MILLIS - MIN_DELAY_MILLIS);
	}

	/**
	 * Stores tasks at a steady rate.
	 * @param delay the least delay, in milliseconds
	 * @param spread the delays are this much longer at random, in milliseconds
	 * @return how many
	 */
	long steady(int rate, double seconds, int delay, int spread) throws Exception {
		long start = System.nanoTime();
		long count = (long) (rate * seconds);
		return inThreads(PACERS, (thread) -> {
			SplittableRandom random = new SplittableRandom(thread);
			long stored = 0;
			for (long i = thread; i < count; i += PACERS) {
				TimeUnit.NANOSECONDS.sleep(start + nanos((double) i / rate) - System.nanoTime());
				this.node.enqueue(due(delay + ((spread > 0) ? random.nextInt(spread) : 0)));
				stored++;
			}
			return stored;
		});
	}

	/**
	 * Stores schedules at a steady rate, so that their runs are spread evenly.
	 * @param period the period of each schedule, in seconds
	 * @param seconds how long it takes to store them
	 */
	void recur(int count, double period, double seconds) throws Exception {
		long start = System.nanoTime();
		inThreads(PACERS, (thread) -> {
			for (int i = thread; i < count; i += PACERS) {
				TimeUnit.NANOSECONDS.sleep(start + nanos(seconds * i / count) - System.nanoTime());
				this.node.recur(i, Duration.ofNanos(nanos(period)));
			}
			return 0;
		});
	}

	/**
	 * Stores schedules as fast as possible.
	 * @param period the period of each schedule, in seconds
	 * @return how many a second
	 */
	double recur(int count, double period) throws Exception {
		return each(count, (i) -> this.node.recur(i, Duration.ofNanos(nanos(period))));
	}

	/**
	 * Ends schedules as fast as possible.
	 * @return how many a second
	 */
	double cancel(int count) throws Exception {
		return each(count, this.node::cancel);
	}

	private static double each(int count, IntConsumer work) throws Exception {
		long start = System.nanoTime();
		inThreads(FILLERS, (thread) -> {
			for (int i = thread; i < count; i += FILLERS) {
				work.accept(i);
			}
			return 0;
		});
		return count * 1e9 / (System.nanoTime() - start);
	}

	/** Stores tasks of a limited name that are due now. */
	void fillLimited(int count) throws Exception {
		inBatches(count, LARGE_BATCH, (from, to) -> this.node.enqueueLimited(to - from));
	}

	private static void inBatches(int count, int batch, Range work) throws Exception {
		inThreads(FILLERS, (thread) -> {
			for (int from = thread * batch; from < count; from += FILLERS * batch) {
				work.run(from, Math.min(from + batch, count));
			}
			return 0;
		});
	}

	private static Instant due(long millis) {
		return Instant.now().truncatedTo(ChronoUnit.MILLIS).plusMillis(millis);
	}

	private static long nanos(double seconds) {
		return (long) (seconds * TimeUnit.SECONDS.toNanos(1));
	}

	private static long inThreads(int count, Work work) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(count);
		try {
			List<Future<Long>> futures = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				int thread = i;
				futures.add(executor.submit((Callable<Long>) () -> work.run(thread)));
			}
			long sum = 0;
			for (Future<Long> future : futures) {
				sum += future.get();
			}
			return sum;
		}
		finally {
			executor.shutdown();
		}
	}

	/** What a thread does. */
	private interface Work {

		long run(int thread) throws Exception;

	}

	/** What a thread does with a part of the tasks. */
	private interface Range {

		void run(int from, int to);

	}

}
