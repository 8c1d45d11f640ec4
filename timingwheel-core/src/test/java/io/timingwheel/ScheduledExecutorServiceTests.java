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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link TimingWheel#asScheduledExecutorService()} with a manual clock.
 */
class ScheduledExecutorServiceTests {

	private static final Runnable NOTHING = () -> {
	};

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

	/** The executor keeps the task waiting. */
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
		WheelSnapshot snapshot = this.wheel.snapshot();
		assertThat(List.of(snapshot.scheduled(), snapshot.fired(), snapshot.cancelled(), snapshot.pending()))
			.containsExactly(4L, 3L, 1L, 0L);
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

	/** Tasks of other executors have only delays. */
	@Test
	void tasksAreOrderedByTheirDeadlines() {
		ScheduledFuture<?> late = this.service.schedule(NOTHING, 2, TimeUnit.SECONDS);
		ScheduledFuture<?> early = this.service.schedule(NOTHING, 1, TimeUnit.SECONDS);
		ScheduledFuture<?> earlyToo = this.service.schedule(NOTHING, 1, TimeUnit.SECONDS);
		ScheduledFuture<?> latest = this.service.schedule(NOTHING, 2, TimeUnit.HOURS);
		ScheduledThreadPoolExecutor other = new ScheduledThreadPoolExecutor(1);
		List<Delayed> tasks = List.of(early, earlyToo, late, other.schedule(NOTHING, 1, TimeUnit.HOURS), latest);
		other.shutdownNow();
		for (int i = 0; i < tasks.size(); i++) {
			for (int j = 0; j < tasks.size(); j++) {
				assertThat(Integer.signum(tasks.get(i).compareTo(tasks.get(j)))).as("%d and %d", i, j)
					.isEqualTo(Integer.compare(i, j));
			}
		}
		assertThat(late.getDelay(TimeUnit.MILLISECONDS)).isEqualTo(2000);
		advance(Duration.ofSeconds(3));
		assertThat(early.getDelay(TimeUnit.SECONDS)).isEqualTo(-2);
	}

	@Test
	void hugeAndNegativeDelaysAndPeriodsAreLegal() {
		ScheduledFuture<?> future = this.service.schedule(NOTHING, Long.MAX_VALUE, TimeUnit.DAYS);
		ScheduledFuture<?> now = this.service.schedule(NOTHING, Long.MIN_VALUE, TimeUnit.SECONDS);
		assertThat(future.compareTo(now)).isPositive();
		this.service.scheduleWithFixedDelay(this.runs::incrementAndGet, 0, Long.MAX_VALUE, TimeUnit.SECONDS);
		this.service.scheduleAtFixedRate(this.runs::incrementAndGet, 0, Long.MAX_VALUE, TimeUnit.SECONDS);
		advance(Duration.ZERO);
		assertThat(now.isDone()).isTrue();
		advance(Duration.ofDays(365));
		assertThat(future.isDone()).isFalse();
		assertThat(this.runs).hasValue(2);
		assertThat(this.wheel.pending()).isEqualTo(3);
		assertThat(future.getDelay(TimeUnit.DAYS)).isGreaterThan(100_000);
	}

	@Test
	void shutdownNowEndsNeitherTheWheelNorAnotherView() {
		ScheduledExecutorService other = this.wheel.asScheduledExecutorService();
		ScheduledFuture<?> first = this.service.schedule(this.runs::incrementAndGet, 1, TimeUnit.SECONDS);
		ScheduledFuture<?> second = this.service.scheduleAtFixedRate(this.runs::incrementAndGet, 1, 1,
				TimeUnit.SECONDS);
		assertThat(this.service.shutdownNow()).allMatch(RunnableScheduledFuture.class::isInstance)
			.containsExactlyInAnyOrder((Runnable) first, (Runnable) second);
		assertThat(this.service.isTerminated()).isTrue();
		assertThat(this.service.shutdownNow()).isEmpty();
		assertThat(this.wheel.pending()).isZero();
		assertThat(other.isShutdown()).isFalse();
		other.schedule(this.runs::incrementAndGet, 1, TimeUnit.SECONDS);
		this.wheel.schedule(this.runs::incrementAndGet, 1, TimeUnit.SECONDS);
		advance(Duration.ofSeconds(2));
		assertThat(this.runs).hasValue(2);
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
		ScheduledFuture<?> periodic = this.service.scheduleAtFixedRate(NOTHING, 1, 1, TimeUnit.SECONDS);
		assertThat(this.wheel.stop()).containsExactlyInAnyOrder((Runnable) future, (Runnable) periodic);
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> this.service.execute(NOTHING));
		this.service.shutdown();
		assertThat(this.service.awaitTermination(0, TimeUnit.SECONDS)).isTrue();
		assertThat(future.isDone()).as("done, though stop has returned the task").isFalse();
		((Runnable) future).run();
		assertThat(this.runs).hasValue(1);
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
	void limitOfTheWheelAppliesToTheServiceWhichTerminatesAfterItsLastTask() {
		TimingWheel small = TimingWheel.builder(Runnable::run).timeSource(this.time).maxPending(1).build();
		ScheduledExecutorService service = small.asScheduledExecutorService();
		service.schedule(NOTHING, 1, TimeUnit.SECONDS);
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> service.schedule(NOTHING, 1, TimeUnit.SECONDS));
		service.shutdown();
		advance(Duration.ofSeconds(1));
		assertThat(service.isTerminated()).isTrue();
	}

	@Test
	void interruptOfShutdownNowDoesNotReachTheNextTaskOfTheThread() throws Exception {
		ExecutorService threads = Executors.newSingleThreadExecutor();
		CompletableFuture<Boolean> interruptedAfterwards = new CompletableFuture<>();
		try (TimingWheel wheel = TimingWheel.builder((task) -> threads.execute(() -> {
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
		finally {
			threads.shutdownNow();
		}
	}

	private void advance(Duration by) {
		this.time.advance(by);
	}

}
