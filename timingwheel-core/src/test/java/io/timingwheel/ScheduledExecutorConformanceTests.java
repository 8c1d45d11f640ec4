package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.awaitility.Awaitility.await;

/**
 * Checks {@link TimingWheel#asScheduledExecutorService()}, on a pool of two threads, for
 * the behaviour that the JDK's tests check in the JDK's own scheduled executor.
 */
@ParameterizedClass
@EnumSource
class ScheduledExecutorConformanceTests {

	private static final Runnable NOTHING = () -> {
	};

	private static final Callable<String> FINE = () -> "fine";

	private final ExecutorService pool = Executors.newFixedThreadPool(2);

	private final TimingWheel wheel = TimingWheel.builder(this.pool).build();

	private final Implementation implementation;

	private final ScheduledExecutorService service;

	private final AtomicInteger ran = new AtomicInteger();

	private final CountDownLatch release = new CountDownLatch(1);

	ScheduledExecutorConformanceTests(Implementation implementation) {
		this.implementation = implementation;
		this.service = (implementation == Implementation.VIEW) ? this.wheel.asScheduledExecutorService()
				: new ScheduledThreadPoolExecutor(2);
	}

	@AfterEach
	void stop() {
		this.release.countDown();
		this.service.shutdownNow();
		this.wheel.close();
		this.pool.shutdownNow();
	}

	@Test
	void afterAShutdownNothingIsAcceptedAndTheServiceTerminatesAfterItsLastTask() throws Exception {
		blockThePool();
		assertThat(this.service.isShutdown()).isFalse();
		assertThat(this.service.isTerminated()).isFalse();
		this.service.shutdown();
		assertThat(this.service.isShutdown()).isTrue();
		assertAllMethodsReject();
		assertThat(this.service.awaitTermination(1, TimeUnit.MILLISECONDS)).isFalse();
		assertThat(this.service.isTerminated()).isFalse();
		this.release.countDown();
		assertThat(this.service.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
		assertThat(this.service.isTerminated()).isTrue();
		assertThat(this.ran).hasValue(2);
		assertAllMethodsReject();
		await().until(() -> this.wheel.pending() == 0);
	}

	private void assertAllMethodsReject() {
		for (Runnable way : this.methodsThatTake(NOTHING, FINE)) {
			assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(way::run);
		}
	}

	@Test
	void noMethodThatTakesATaskAcceptsNull() {
		for (Runnable way : this.methodsThatTake(null, null)) {
			assertThatNullPointerException().isThrownBy(way::run);
		}
		assertThatNullPointerException().isThrownBy(() -> this.service.schedule(NOTHING, 1, null));
		assertThatNullPointerException().isThrownBy(() -> this.service.schedule(FINE, 1, null));
		assertThatNullPointerException().isThrownBy(() -> this.service.scheduleAtFixedRate(NOTHING, 1, 1, null));
		assertThatNullPointerException().isThrownBy(() -> this.service.scheduleWithFixedDelay(NOTHING, 1, 1, null));
		assertThat(this.wheel.pending()).isZero();
	}

	private List<Runnable> methodsThatTake(Runnable task, Callable<String> callable) {
		return List.of(() -> this.service.execute(task), () -> this.service.submit(task),
				() -> this.service.submit(task, "result"), () -> this.service.submit(callable),
				() -> this.service.schedule(task, 1, TimeUnit.MILLISECONDS),
				() -> this.service.schedule(callable, 1, TimeUnit.MILLISECONDS),
				() -> this.service.scheduleAtFixedRate(task, 1, 1, TimeUnit.MILLISECONDS),
				() -> this.service.scheduleWithFixedDelay(task, 1, 1, TimeUnit.MILLISECONDS));
	}

	@Test
	void shutdownRunsWaitingTasksAndCancelsPeriodicOnes() throws Exception {
		List<ScheduledFuture<?>> running = new ArrayList<>();
		CountDownLatch begun = new CountDownLatch(2);
		Runnable blocking = () -> {
			begun.countDown();
			Latches.await(this.release);
		};
		running.add(this.service.scheduleAtFixedRate(blocking, 0, 1, TimeUnit.MILLISECONDS));
		running.add(this.service.scheduleWithFixedDelay(blocking, 0, 1, TimeUnit.MILLISECONDS));
		Latches.await(begun);
		// The wheel hands these over to the pool, where they wait for a thread.
		Future<?> immediate = this.service.submit(this.ran::incrementAndGet);
		Future<?> delayed = this.service.schedule(this.ran::incrementAndGet, 1, TimeUnit.MILLISECONDS);
		Future<?> periodic = this.service.scheduleAtFixedRate(this.ran::incrementAndGet, 1, 1, TimeUnit.MILLISECONDS);
		// A periodic task counts as pending until it ends.
		await().until(() -> this.implementation != Implementation.VIEW || this.wheel.pending() == 3);
		this.service.shutdown();
		assertThat(periodic.isCancelled()).isTrue();
		assertThat(Stream.concat(running.stream(), Stream.of(immediate, delayed))).noneMatch(Future::isDone);
		this.release.countDown();
		assertThat(this.service.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
		assertThat(running).allMatch(Future::isCancelled);
		assertThat(List.of(immediate, delayed)).allMatch(Future::isDone).noneMatch(Future::isCancelled);
		assertThat(this.ran).hasValue(2);
	}

	@Test
	void tasksThatShutdownNowReturnsAreNeitherDoneNorCancelled() throws Exception {
		blockThePool();
		List<Future<?>> waiting = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			waiting.add(this.service.submit(this.ran::incrementAndGet));
			waiting.add(this.service.schedule(this.ran::incrementAndGet, 1, TimeUnit.HOURS));
			waiting.add(this.service.scheduleAtFixedRate(this.ran::incrementAndGet, 1, 1, TimeUnit.HOURS));
			waiting.add(this.service.scheduleWithFixedDelay(this.ran::incrementAndGet, 1, 1, TimeUnit.HOURS));
		}
		// The wheel hands the submitted tasks over to the pool, where they wait.
		await().until(() -> this.implementation != Implementation.VIEW || this.wheel.pending() == 15);
		List<Runnable> returned = this.service.shutdownNow();
		assertThat(returned).hasSize(20).doesNotHaveDuplicates().allMatch(waiting::contains);
		assertThat(waiting).noneMatch(Future::isDone).noneMatch(Future::isCancelled);
		assertThat(this.service.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
		assertThat(this.ran).as("the two tasks that ran").hasValue(2);
	}

	@Test
	void cancelInterruptsOnlyWhenAsked() throws Exception {
		CountDownLatch begun = new CountDownLatch(2);
		CountDownLatch interrupted = new CountDownLatch(1);
		Runnable task = () -> {
			begun.countDown();
			try {
				this.release.await();
			}
			catch (InterruptedException ex) {
				interrupted.countDown();
			}
		};
		Future<?> calm = this.service.submit(task);
		Future<?> harsh = this.service.submit(task);
		begun.await();
		assertThat(calm.cancel(false)).isTrue();
		assertThat(harsh.cancel(true)).isTrue();
		assertThat(interrupted.await(60, TimeUnit.SECONDS)).isTrue();
		this.service.shutdown();
		assertThat(this.service.awaitTermination(50, TimeUnit.MILLISECONDS)).as("terminated while a body still runs")
			.isFalse();
		this.release.countDown();
		assertThat(this.service.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void shutdownNowInterruptsTheRunningTaskAndDoesNotCancelIt() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch interrupted = new CountDownLatch(1);
		Future<?> running = this.service.submit(() -> {
			begun.countDown();
			try {
				new CountDownLatch(1).await();
			}
			catch (InterruptedException ex) {
				interrupted.countDown();
			}
		});
		begun.await();
		assertThat(this.service.shutdownNow()).isEmpty();
		assertThat(interrupted.await(60, TimeUnit.SECONDS)).isTrue();
		assertThat(this.service.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
		assertThat(running.isCancelled()).as("cancelled").isFalse();
		running.get();
	}

	/** Occupies both threads of the pool until the release, or until an interrupt. */
	private void blockThePool() {
		CountDownLatch begun = new CountDownLatch(2);
		for (int i = 0; i < 2; i++) {
			this.service.execute(() -> {
				begun.countDown();
				try {
					this.release.await(60, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					// A shutdown of the service has interrupted this thread.
				}
				this.ran.incrementAndGet();
			});
		}
		Latches.await(begun);
	}

	enum Implementation {

		JDK, VIEW

	}

}
