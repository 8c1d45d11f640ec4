package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class HandOverExecutorsTests {

	private final HandOverExecutors executors = new HandOverExecutors(false);

	private final List<ExecutorService> pools = new ArrayList<>();

	@AfterEach
	void close() {
		this.executors.close();
		this.pools.forEach(ExecutorService::shutdownNow);
	}

	@Test
	void executorsOfTypesThatMayBlockAreFedByAThread() {
		ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
		ThreadPoolTaskExecutor callerRuns = new ThreadPoolTaskExecutor();
		callerRuns.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
		ThreadPoolTaskExecutor subclass = new ThreadPoolTaskExecutor() {
		};
		List<ThreadPoolTaskExecutor> beans = List.of(pool, callerRuns, subclass);
		beans.forEach(ThreadPoolTaskExecutor::initialize);
		SimpleAsyncTaskExecutor throttled = new SimpleAsyncTaskExecutor();
		throttled.setConcurrencyLimit(1);
		assertThat(List.of(pool, new SimpleAsyncTaskExecutor(), threadPool(new ThreadPoolExecutor.AbortPolicy())))
			.allMatch(HandOverExecutors::isPrompt);
		assertThat(List.<Executor>of(throttled, callerRuns, subclass, Runnable::run,
				threadPool(new ThreadPoolExecutor.CallerRunsPolicy()), new ScheduledThreadPoolExecutor(1)))
			.noneMatch(HandOverExecutors::isPrompt);
		beans.forEach(ThreadPoolTaskExecutor::shutdown);
	}

	@Test
	void anExecutorIsCalledInOrderByOneThreadAtATimeAndBlocksNoCaller() {
		Semaphore permits = new Semaphore(0);
		AtomicInteger callers = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		List<Integer> ran = new CopyOnWriteArrayList<>();
		Executor safe = safe((task) -> {
			permits.acquireUninterruptibly();
			most.accumulateAndGet(callers.incrementAndGet(), Math::max);
			task.run();
			callers.decrementAndGet();
		});
		IntStream.range(0, 1000).forEach((i) -> safe.execute(() -> ran.add(i)));
		assertThat(ran).isEmpty();
		permits.release(1000);
		await().until(() -> ran.size() == 1000);
		assertThat(ran).isSorted();
		assertThat(most).hasValue(1);
	}

	@Test
	void duringAPauseTasksAreNotRefusedAndWaitInTheirOrder() {
		List<String> ran = new CopyOnWriteArrayList<>();
		AtomicInteger refusals = new AtomicInteger(1);
		List<Executor> all = Stream
			.of(threadPool(new ThreadPoolExecutor.AbortPolicy()), (Executor) Runnable::run, (Executor) (task) -> {
				if (refusals.getAndDecrement() > 0) {
					this.executors.pause();
					throw new RejectedExecutionException("full");
				}
				task.run();
			})
			.map(this::safe)
			.toList();
		all.get(2).execute(() -> ran.add("refused"));
		await().until(() -> refusals.get() == 0);
		all.get(0).execute(() -> ran.add("prompt"));
		IntStream.range(0, 100).forEach((i) -> all.get(1).execute(() -> ran.add("ordered " + i)));
		await().during(Duration.ofMillis(20)).until(ran::isEmpty);
		this.executors.resume();
		await().until(() -> ran.size() == 102);
		assertThat(ran).contains("refused", "prompt")
			.containsSubsequence(IntStream.range(0, 100).mapToObj((i) -> "ordered " + i).toList());
	}

	@Test
	void triesRefusedTasksAgain() {
		AtomicInteger refusals = new AtomicInteger();
		List<String> ran = new CopyOnWriteArrayList<>();
		Executor safe = safe((task) -> {
			if (refusals.incrementAndGet() <= 5) {
				throw new RejectedExecutionException("full");
			}
			task.run();
		});
		safe.execute(() -> ran.add("first"));
		safe.execute(() -> ran.add("second"));
		await().untilAsserted(() -> assertThat(ran).containsExactly("first", "second"));
		assertThat(refusals).hasValue(7);
	}

	@Test
	void aNewExecutorForEachTaskDoesNotMakeAThreadForEachTask() {
		Set<Thread> threads = ConcurrentHashMap.newKeySet();
		CountDownLatch ran = new CountDownLatch(500);
		ThreadPoolExecutor pool = threadPool(new ThreadPoolExecutor.CallerRunsPolicy());
		for (int i = 0; i < 500; i++) {
			safe((task) -> {
				threads.add(Thread.currentThread());
				pool.execute(task);
			}).execute(ran::countDown);
		}
		await().until(() -> ran.getCount() == 0);
		assertThat(threads.stream().filter(Thread::isAlive)).hasSizeLessThanOrEqualTo(HandOverExecutors.MAX_THREADS);
	}

	@Test
	void executorsThatBlockDelayNoOther() {
		Semaphore release = new Semaphore(0);
		CountDownLatch blocked = new CountDownLatch(HandOverExecutors.MAX_THREADS - 1);
		for (int i = 0; i < HandOverExecutors.MAX_THREADS - 1; i++) {
			safe((task) -> {
				release.acquireUninterruptibly();
				task.run();
			}).execute(blocked::countDown);
		}
		List<String> ran = new CopyOnWriteArrayList<>();
		safe(Runnable::run).execute(() -> ran.add("other"));
		safe(new SyncTaskExecutor()).execute(() -> ran.add("another"));
		await().untilAsserted(() -> assertThat(ran).containsExactlyInAnyOrder("other", "another"));
		assertThat(blocked.getCount()).isEqualTo(HandOverExecutors.MAX_THREADS - 1);
		release.release(HandOverExecutors.MAX_THREADS);
		await().until(() -> blocked.getCount() == 0);
	}

	@Test
	void executorsThatRefuseOccupyNoThread() {
		AtomicInteger refusals = new AtomicInteger();
		AtomicBoolean full = new AtomicBoolean(true);
		CountDownLatch ran = new CountDownLatch(100);
		for (int i = 0; i < 100; i++) {
			safe(new TaskExecutorAdapter((task) -> {
				if (full.get()) {
					refusals.incrementAndGet();
					throw new RejectedExecutionException("full");
				}
				task.run();
			})).execute(ran::countDown);
		}
		// By then each executor waits for more than 100 ms between two attempts.
		await().until(() -> refusals.get() >= 900);
		CountDownLatch other = new CountDownLatch(100);
		IntStream.range(0, 100).forEach((i) -> safe(new TaskExecutorAdapter(Runnable::run)).execute(other::countDown));
		await().until(() -> other.getCount() == 0);
		assertThat(ran.getCount()).isEqualTo(100);
		full.set(false);
		await().until(() -> ran.getCount() == 0);
	}

	@Test
	void anInterruptThatABodyLeavesBehindReachesNoOtherBody() {
		List<Boolean> interrupted = new CopyOnWriteArrayList<>();
		Executor safe = safe(Runnable::run);
		Semaphore permits = new Semaphore(0);
		safe.execute(permits::acquireUninterruptibly);
		safe.execute(() -> Thread.currentThread().interrupt());
		safe.execute(() -> interrupted.add(Thread.currentThread().isInterrupted()));
		permits.release();
		await().untilAsserted(() -> assertThat(interrupted).containsExactly(false));
	}

	@Test
	void itsThreadIsADaemonWithoutThreadLocals() {
		InheritableThreadLocal<String> inheritable = new InheritableThreadLocal<>();
		inheritable.set("caller");
		List<Object> seen = new CopyOnWriteArrayList<>();
		Executor safe = safe(Runnable::run);
		safe.execute(() -> {
			seen.add(Thread.currentThread().isDaemon());
			seen.add(String.valueOf(inheritable.get()));
			seen.add(Thread.currentThread().getName());
		});
		await().untilAsserted(() -> assertThat(seen).hasSize(3));
		assertThat(seen.subList(0, 2)).containsExactly(true, "null");
		assertThat(seen.get(2)).asString().startsWith("timing-wheel-hand-over-");
	}

	@Test
	void closingEndsTheThreadsAndRefusesTasks() {
		Semaphore never = new Semaphore(0);
		List<Thread> threads = new CopyOnWriteArrayList<>();
		Executor safe = safe((task) -> {
			threads.add(Thread.currentThread());
			try {
				never.acquire();
			}
			catch (InterruptedException ex) {
				throw new RejectedExecutionException(ex);
			}
		});
		safe.execute(() -> {
		});
		await().until(() -> threads.size() == 1);
		this.executors.close();
		await().until(() -> !threads.get(0).isAlive());
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> safe.execute(() -> {
		}));
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> safe(new SyncTaskExecutor()).execute(() -> {
			}));
	}

	private Executor safe(Executor executor) {
		return (task) -> this.executors.handOver(executor, task, null);
	}

	private ThreadPoolExecutor threadPool(RejectedExecutionHandler handler) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new SynchronousQueue<>(),
				Executors.defaultThreadFactory(), handler);
		this.pools.add(pool);
		return pool;
	}

}
