package io.timingwheel;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link TimingWheel#asScheduledExecutorService()}.
 */
class ScheduledExecutorServiceTests {

	private static final Runnable NOTHING = () -> {
	};

	/**
	 * Tests with a manual clock.
	 */
	@Nested
	class InManualTime {

		private final ManualTimeSource time = new ManualTimeSource();

		private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

		private final ScheduledExecutorService service = this.wheel.asScheduledExecutorService();

		private final AtomicInteger runs = new AtomicInteger();

		@Test
		void oneShotRunsOnceAtItsTimeAndGivesItsResult() throws Exception {
			ScheduledFuture<String> future = this.service.schedule(() -> "done " + this.runs.incrementAndGet(), 5,
					TimeUnit.SECONDS);
			advance(Duration.ofMillis(4999));
			assertThat(future.isDone()).isFalse();
			advance(Duration.ofMillis(1));
			assertThat(future.get()).isEqualTo("done 1");
			advance(Duration.ofDays(1));
			assertThat(this.runs).hasValue(1);
		}

		@Test
		void fixedRateRunsOnItsGrid() {
			List<Long> starts = new ArrayList<>();
			this.service.scheduleAtFixedRate(() -> starts.add(this.time.nanoTime() / 1_000_000), 10, 100,
					TimeUnit.MILLISECONDS);
			advance(Duration.ofMillis(350));
			assertThat(starts).containsExactly(10L, 110L, 210L, 310L);
		}

		/**
		 * The executor keeps the task waiting.
		 */
		@Test
		void lateRunDelaysTheNextOneWithAFixedDelayButNotWithAFixedRate() {
			Queue<Runnable> queue = new ArrayDeque<>();
			TimingWheel wheel = TimingWheel.builder(queue::add).timeSource(this.time).build();
			ScheduledExecutorService service = wheel.asScheduledExecutorService();
			ScheduledFuture<?> rate = service.scheduleAtFixedRate(NOTHING, 10, 100, TimeUnit.MILLISECONDS);
			ScheduledFuture<?> delay = service.scheduleWithFixedDelay(NOTHING, 10, 100, TimeUnit.MILLISECONDS);
			advance(Duration.ofMillis(60));
			queue.remove().run();
			queue.remove().run();
			assertThat(rate.getDelay(TimeUnit.MILLISECONDS)).isEqualTo(50);
			assertThat(delay.getDelay(TimeUnit.MILLISECONDS)).isEqualTo(100);
			advance(Duration.ofMillis(50));
			assertThat(queue).hasSize(1);
			advance(Duration.ofMillis(240));
			queue.remove().run();
			assertThat(rate.getDelay(TimeUnit.MILLISECONDS)).as("delay while the task catches up").isEqualTo(-140);
			advance(Duration.ZERO);
			assertThat(queue).hasSize(2);
		}

		@Test
		void exceptionEndsAPeriodicTask() {
			ScheduledFuture<?> future = this.service.scheduleAtFixedRate(() -> {
				if (this.runs.incrementAndGet() == 3) {
					throw new IllegalStateException("third");
				}
			}, 0, 1, TimeUnit.SECONDS);
			advance(Duration.ofSeconds(10));
			assertThat(this.runs).hasValue(3);
			assertThat(future.isDone()).isTrue();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(future::get)
				.withCauseInstanceOf(IllegalStateException.class);
			assertThat(this.wheel.pending()).isZero();
		}

		@Test
		void periodicTaskMayCancelItself() {
			List<Future<?>> self = new ArrayList<>();
			self.add(this.service.scheduleWithFixedDelay(() -> {
				this.runs.incrementAndGet();
				self.get(0).cancel(false);
			}, 1, 1, TimeUnit.SECONDS));
			advance(Duration.ofSeconds(10));
			assertThat(this.runs).hasValue(1);
			assertThat(self.get(0).isCancelled()).isTrue();
			assertThat(this.wheel.pending()).isZero();
		}

		@Test
		void cancelFreesTheTimerAtOnce() {
			ScheduledFuture<?> future = this.service.schedule(NOTHING, 1, TimeUnit.DAYS);
			assertThat(this.wheel.pending()).isOne();
			assertThat(future.cancel(true)).isTrue();
			assertThat(future.cancel(true)).isFalse();
			assertThat(this.wheel.pending()).isZero();
			assertThatExceptionOfType(CancellationException.class).isThrownBy(future::get);
		}

		@Test
		void tasksAreOrderedByTheirDeadlines() {
			ScheduledFuture<?> late = this.service.schedule(NOTHING, 2, TimeUnit.SECONDS);
			ScheduledFuture<?> early = this.service.schedule(NOTHING, 1, TimeUnit.SECONDS);
			ScheduledFuture<?> earlyToo = this.service.schedule(NOTHING, 1, TimeUnit.SECONDS);
			assertThat(late.getDelay(TimeUnit.MILLISECONDS)).isEqualTo(2000);
			assertThat(early.compareTo(late)).isNegative();
			assertThat(late.compareTo(early)).isPositive();
			assertThat(early.compareTo(earlyToo)).isNegative();
			assertThat(earlyToo.compareTo(early)).isPositive();
			assertThat(early.compareTo(early)).isZero();
			advance(Duration.ofSeconds(3));
			assertThat(early.getDelay(TimeUnit.SECONDS)).isEqualTo(-2);
		}

		@Test
		void tasksOfOtherExecutorsAreComparedByDelay() {
			ScheduledThreadPoolExecutor other = new ScheduledThreadPoolExecutor(1);
			try {
				Delayed far = other.schedule(NOTHING, 1, TimeUnit.HOURS);
				assertThat(this.service.schedule(NOTHING, 1, TimeUnit.SECONDS).compareTo(far)).isNegative();
				assertThat(this.service.schedule(NOTHING, 2, TimeUnit.HOURS).compareTo(far)).isPositive();
			}
			finally {
				other.shutdownNow();
			}
		}

		@Test
		void hugeDelaysAreLegal() {
			ScheduledFuture<?> future = this.service.schedule(NOTHING, Long.MAX_VALUE, TimeUnit.DAYS);
			ScheduledFuture<?> soon = this.service.schedule(NOTHING, 1, TimeUnit.SECONDS);
			assertThat(future.compareTo(soon)).isPositive();
			advance(Duration.ofDays(365));
			assertThat(future.isDone()).isFalse();
			assertThat(future.getDelay(TimeUnit.DAYS)).isGreaterThan(100_000);
		}

		@Test
		void negativeDelayIsNow() {
			ScheduledFuture<?> future = this.service.schedule(NOTHING, Long.MIN_VALUE, TimeUnit.SECONDS);
			advance(Duration.ZERO);
			assertThat(future.isDone()).isTrue();
		}

		@Test
		void afterShutdownDelayedTasksRunAndPeriodicOnesAreCancelled() {
			ScheduledFuture<?> delayed = this.service.schedule(this.runs::incrementAndGet, 10, TimeUnit.SECONDS);
			ScheduledFuture<?> periodic = this.service.scheduleAtFixedRate(NOTHING, 1, 1, TimeUnit.SECONDS);
			advance(Duration.ofSeconds(3));
			this.service.shutdown();
			assertThat(this.service.isShutdown()).isTrue();
			assertThat(this.service.isTerminated()).isFalse();
			assertThat(periodic.isCancelled()).isTrue();
			assertThatExceptionOfType(RejectedExecutionException.class)
				.isThrownBy(() -> this.service.schedule(NOTHING, 1, TimeUnit.SECONDS));
			advance(Duration.ofSeconds(10));
			assertThat(delayed.isDone()).isTrue();
			assertThat(this.runs).hasValue(1);
			assertThat(this.service.isTerminated()).isTrue();
		}

		@Test
		void shutdownFromAPeriodicTaskEndsIt() {
			ScheduledFuture<?> future = this.service.scheduleAtFixedRate(() -> {
				this.runs.incrementAndGet();
				this.service.shutdown();
			}, 0, 1, TimeUnit.SECONDS);
			advance(Duration.ofSeconds(5));
			assertThat(this.runs).hasValue(1);
			assertThat(future.isCancelled()).isTrue();
			assertThat(this.service.isTerminated()).isTrue();
		}

		@Test
		void shutdownNowReturnsTasksThatHaveNotBegunAndDoesNotStopTheWheel() {
			ScheduledFuture<?> first = this.service.schedule(this.runs::incrementAndGet, 1, TimeUnit.SECONDS);
			ScheduledFuture<?> second = this.service.scheduleAtFixedRate(this.runs::incrementAndGet, 1, 1,
					TimeUnit.SECONDS);
			List<Runnable> tasks = this.service.shutdownNow();
			assertThat(tasks).hasSize(2).allMatch(RunnableScheduledFuture.class::isInstance);
			assertThat(tasks).containsExactlyInAnyOrder((Runnable) first, (Runnable) second);
			assertThat(this.service.isTerminated()).isTrue();
			assertThat(this.wheel.pending()).isZero();
			assertThat(this.service.shutdownNow()).isEmpty();
			this.wheel.schedule(this.runs::incrementAndGet, 1, TimeUnit.SECONDS);
			advance(Duration.ofSeconds(2));
			assertThat(this.runs).hasValue(1);
		}

		@Test
		void viewsAreIndependent() {
			ScheduledExecutorService other = this.wheel.asScheduledExecutorService();
			this.service.shutdown();
			assertThat(other.isShutdown()).isFalse();
			other.schedule(this.runs::incrementAndGet, 1, TimeUnit.SECONDS);
			advance(Duration.ofSeconds(1));
			assertThat(this.runs).hasValue(1);
		}

		@Test
		void stoppedWheelReturnsTheTasksAndRejectsNewOnes() {
			ScheduledFuture<?> future = this.service.schedule(this.runs::incrementAndGet, 1, TimeUnit.SECONDS);
			assertThat(this.wheel.stop()).containsExactly((Runnable) future);
			assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> this.service.execute(NOTHING));
			((Runnable) future).run();
			assertThat(this.runs).hasValue(1);
		}

		@Test
		void periodicTaskOfAStoppedWheelEnds() {
			ScheduledFuture<?> future = this.service.scheduleAtFixedRate(this.wheel::stop, 0, 1, TimeUnit.SECONDS);
			advance(Duration.ofSeconds(2));
			assertThat(future.isDone()).isTrue();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(future::get)
				.withCauseInstanceOf(RejectedExecutionException.class);
		}

		@Test
		void serviceOfAStoppedWheelTerminates() throws Exception {
			ScheduledFuture<?> future = this.service.schedule(this.runs::incrementAndGet, 1, TimeUnit.SECONDS);
			this.service.scheduleAtFixedRate(NOTHING, 1, 1, TimeUnit.SECONDS);
			this.wheel.stop();
			this.service.shutdown();
			assertThat(this.service.awaitTermination(0, TimeUnit.SECONDS)).isTrue();
			assertThat(future.isDone()).as("done, though stop has returned the task").isFalse();
		}

		@Test
		void shutdownLetsARunningPeriodicTaskEnd() {
			AtomicReference<ScheduledFuture<?>> future = new AtomicReference<>();
			List<Boolean> done = new ArrayList<>();
			future.set(this.service.scheduleAtFixedRate(() -> {
				this.service.shutdown();
				done.add(future.get().isDone());
			}, 1, 1, TimeUnit.SECONDS));
			advance(Duration.ofSeconds(5));
			assertThat(done).containsExactly(false);
			assertThat(future.get().isCancelled()).isTrue();
			assertThat(this.service.isTerminated()).isTrue();
		}

		@Test
		void periodsMustBePositive() {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> this.service.scheduleAtFixedRate(NOTHING, 1, 0, TimeUnit.SECONDS))
				.withMessageContaining("period");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> this.service.scheduleWithFixedDelay(NOTHING, 1, -1, TimeUnit.SECONDS))
				.withMessageContaining("delay");
		}

		@Test
		void limitOfTheWheelAppliesToTheService() {
			TimingWheel small = TimingWheel.builder(Runnable::run).timeSource(this.time).maxPending(1).build();
			ScheduledExecutorService service = small.asScheduledExecutorService();
			service.schedule(NOTHING, 1, TimeUnit.SECONDS);
			assertThatExceptionOfType(RejectedExecutionException.class)
				.isThrownBy(() -> service.schedule(NOTHING, 1, TimeUnit.SECONDS));
			service.shutdown();
			advance(Duration.ofSeconds(1));
			assertThat(service.isTerminated()).isTrue();
		}

		private void advance(Duration by) {
			this.time.advance(by);
		}

	}

	/**
	 * Tests with threads.
	 */
	@Nested
	class InRealTime {

		private final ExecutorService threads = Executors.newFixedThreadPool(4);

		private final TimingWheel wheel = TimingWheel.builder(this.threads).build();

		private final ScheduledExecutorService service = this.wheel.asScheduledExecutorService();

		@AfterEach
		void stop() {
			this.service.shutdownNow();
			this.wheel.close();
			this.threads.shutdownNow();
		}

		@Test
		void cancelInterruptsOnlyWhenAsked() throws Exception {
			CountDownLatch begun = new CountDownLatch(2);
			CountDownLatch interrupted = new CountDownLatch(1);
			CountDownLatch release = new CountDownLatch(1);
			Runnable task = () -> {
				begun.countDown();
				try {
					release.await();
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
			assertThat(this.service.awaitTermination(50, TimeUnit.MILLISECONDS))
				.as("terminated while a body still runs")
				.isFalse();
			release.countDown();
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
			assertThat(running.isCancelled()).as("cancelled, which a task of the JDK would not be").isFalse();
			running.get();
		}

		@Test
		void interruptOfShutdownNowDoesNotReachTheNextTaskOfTheThread() throws Exception {
			CompletableFuture<Boolean> interruptedAfterwards = new CompletableFuture<>();
			try (TimingWheel wheel = TimingWheel.builder((task) -> this.threads.execute(() -> {
				task.run();
				interruptedAfterwards.complete(Thread.interrupted());
			})).build()) {
				ScheduledExecutorService service = wheel.asScheduledExecutorService();
				CountDownLatch begun = new CountDownLatch(1);
				service.execute(() -> {
					begun.countDown();
					while (!Thread.currentThread().isInterrupted()) {
						Thread.onSpinWait();
					}
				});
				begun.await();
				service.shutdownNow();
				assertThat(interruptedAfterwards.get(60, TimeUnit.SECONDS)).isFalse();
			}
		}

		@Test
		void shutdownNowReturnsTasksThatWaitInTheQueueOfTheExecutor() throws Exception {
			ExecutorService single = Executors.newSingleThreadExecutor();
			TimingWheel wheel = TimingWheel.builder(single).build();
			try {
				ScheduledExecutorService service = wheel.asScheduledExecutorService();
				CountDownLatch begun = new CountDownLatch(1);
				CountDownLatch release = new CountDownLatch(1);
				AtomicBoolean ran = new AtomicBoolean();
				single.execute(() -> {
					begun.countDown();
					Latches.await(release);
				});
				begun.await();
				Future<?> queued = service.submit(() -> ran.set(true));
				Awaitility.await().until(() -> wheel.snapshot().fired() == 1);
				assertThat(service.shutdownNow()).containsExactly((Runnable) queued);
				assertThat(service.isTerminated()).isTrue();
				release.countDown();
				single.shutdown();
				assertThat(single.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
				assertThat(ran).isFalse();
			}
			finally {
				wheel.close();
				single.shutdownNow();
			}
		}

	}

}
