package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.timingwheel.probe.ProbingClassLoader;
import io.timingwheel.probe.Rejections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the limit of pending timers.
 */
@ExtendWith(WheelLog.class)
class MaxPendingTests {

	private static final int THREADS = 4;

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final ExecutorService pool = Executors.newCachedThreadPool();

	@AfterEach
	void shutDown() {
		this.pool.shutdownNow();
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 7, 64, 1_000 })
	void timersBeyondTheLimitAreRejected(long limit) {
		TimingWheel wheel = wheel(limit);
		for (int i = 0; i < limit; i++) {
			wheel.schedule(this.task, i, TimeUnit.SECONDS);
		}
		for (int i = 1; i <= 5; i++) {
			assertRejected(wheel);
			assertThat(wheel.snapshot().rejected()).isEqualTo(i);
		}
		assertThat(wheel.pending()).isEqualTo(limit);
		assertThat(wheel.snapshot().scheduled()).isEqualTo(limit);
	}

	@Test
	void rejectionNamesTheLimit() {
		TimingWheel wheel = wheel(1);
		wheel.schedule(this.task, 1, TimeUnit.SECONDS);
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> wheel.schedule(this.task, 1, TimeUnit.SECONDS))
			.withMessageContaining("limit of 1 ");
	}

	/**
	 * The stack trace takes long, and all other threads need the locks.
	 */
	@Test
	void rejectionIsBuiltWithoutTheLocks() throws Exception {
		((Runnable) ProbingClassLoader.newInstance(Rejection.class)).run();
	}

	static final class Rejection implements Runnable {

		@Override
		public void run() {
			TimingWheel wheel = TimingWheel.builder(Runnable::run)
				.maxPending(1)
				.timeSource(new ManualTimeSource())
				.build();
			wheel.schedule(this, 1, TimeUnit.HOURS);
			List<Long> pending = new ArrayList<>();
			Rejections.onNew(() -> pending
				.add(CompletableFuture.supplyAsync(wheel::pending).orTimeout(10, TimeUnit.SECONDS).join()));
			assertThatExceptionOfType(RejectedExecutionException.class)
				.isThrownBy(() -> wheel.schedule(this, 1, TimeUnit.HOURS));
			Rejections.onNew(() -> {
			});
			assertThat(pending).containsExactly(1L);
		}

	}

	@Test
	void timersMayBeMovedAtTheLimit() {
		TimingWheel wheel = wheel(2);
		TimerHandle sooner = wheel.schedule(this.task, 10, TimeUnit.SECONDS);
		TimerHandle later = wheel.schedule(this.task, 10, TimeUnit.SECONDS);
		assertThat(sooner.reschedule(1, TimeUnit.SECONDS)).isTrue();
		assertThat(later.reschedule(1, TimeUnit.DAYS)).isTrue();
		assertThat(wheel.pending()).isEqualTo(2);
		assertRejected(wheel);
	}

	@Test
	void cancelFreesAPermitAtOnce() {
		TimingWheel wheel = wheel(1);
		for (int i = 0; i < 10_000; i++) {
			TimerHandle handle = wheel.schedule(this.task, i, TimeUnit.SECONDS);
			assertRejected(wheel);
			assertThat(handle.cancel()).isTrue();
		}
		assertThat(wheel.snapshot().rejected()).isEqualTo(10_000);
	}

	@Test
	void firingFreesAPermit() {
		TimingWheel wheel = wheel(1);
		for (int i = 0; i < 10_000; i++) {
			wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
			this.clock.advance(Duration.ofMillis(1));
		}
		assertThat(this.task.count()).isEqualTo(10_000);
		assertThat(wheel.snapshot().rejected()).isZero();
	}

	/**
	 * With a limit of 1, the second timer needs the permit of the first.
	 */
	@Test
	void permitIsFreeAsSoonAsExecuteHasReturned() {
		List<Runnable> queue = new ArrayList<>();
		TimingWheel wheel = TimingWheel.builder(queue::add).maxPending(1).timeSource(this.clock).build();
		wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		assertThat(queue).hasSize(2);
		assertThat(this.task.count()).isZero();
	}

	@Test
	void timersThatFireFreeTheirPermitsOneByOne() {
		TimingWheel wheel = wheel(10);
		List<Boolean> accepted = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			wheel.schedule(() -> accepted.add(tryToSchedule(wheel)), 1, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofMillis(1));
		// The first task still holds its own permit. Each later task finds the permit of
		// the task before it.
		assertThat(accepted).hasSize(10);
		assertThat(accepted.subList(1, 10)).containsOnly(true);
		assertThat(wheel.pending()).isBetween(9L, 10L);
	}

	@Test
	void refusedHandOverKeepsItsPermit() {
		TimingWheel wheel = TimingWheel.builder((task) -> {
			throw new RejectedExecutionException("on purpose");
		}).maxPending(1).timeSource(this.clock).build();
		TimerHandle handle = wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		assertRejected(wheel);
		assertThat(wheel.pending()).isOne();
		handle.cancel();
		wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
		assertThat(wheel.pending()).isOne();
	}

	@Test
	void periodicTaskKeepsItsPermitWhileItRuns() {
		TimingWheel wheel = wheel(1);
		ScheduledExecutorService service = wheel.asScheduledExecutorService();
		List<Boolean> accepted = new ArrayList<>();
		ScheduledFuture<?> future = service.scheduleAtFixedRate(() -> accepted.add(tryToSchedule(wheel)), 1, 1,
				TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(3));
		assertThat(accepted).containsExactly(false, false, false);
		assertThat(future.isDone()).isFalse();
		assertThat(wheel.pending()).isOne();
		assertThat(future.cancel(false)).isTrue();
		assertThat(tryToSchedule(wheel)).isTrue();
	}

	@Test
	void permitOfAPeriodicTaskIsFreeOnceTheTaskHasEnded() {
		TimingWheel wheel = wheel(1);
		ScheduledExecutorService service = wheel.asScheduledExecutorService();
		service.scheduleAtFixedRate(() -> {
			throw new IllegalStateException("on purpose");
		}, 1, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		assertThat(wheel.pending()).isZero();
		assertThat(tryToSchedule(wheel)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void permitOfAPeriodicTaskThatTheExecutorHasDroppedIsFreeOnceTheTaskIsCancelled(boolean shutdownNow) {
		TimingWheel wheel = TimingWheel.builder((dropped) -> {
		}).maxPending(1).timeSource(this.clock).build();
		ScheduledExecutorService service = wheel.asScheduledExecutorService();
		ScheduledFuture<?> future = service.scheduleAtFixedRate(this.task, 1, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		assertThat(wheel.pending()).isOne();
		if (shutdownNow) {
			service.shutdownNow();
		}
		else {
			future.cancel(false);
		}
		assertThat(wheel.pending()).isZero();
	}

	@Test
	void rejectionAfterStopIsNotCountedAsBeyondTheLimit() {
		TimingWheel wheel = wheel(1);
		wheel.stop();
		assertRejected(wheel);
		assertThat(wheel.snapshot().rejected()).isZero();
	}

	@Test
	void permitsThatOtherShardsHoldAreFound() {
		for (int limit : new int[] { 1, 3, 8, 100 }) {
			TimingWheel wheel = wheel(limit);
			try (Callers callers = new Callers(8)) {
				for (int round = 0; round < 20; round++) {
					List<TimerHandle> handles = new ArrayList<>();
					for (int i = 0; i < limit; i++) {
						callers.run((i + round) % 8, () -> handles.add(wheel.schedule(this.task, 1, TimeUnit.SECONDS)));
					}
					callers.run(round % 8, () -> assertRejected(wheel));
					handles.forEach(TimerHandle::cancel);
					// One thread schedules all. Its own shard has only a part of the
					// permits.
					handles.clear();
					callers.run(round % 8, () -> {
						for (int i = 0; i < limit; i++) {
							handles.add(wheel.schedule(this.task, 1, TimeUnit.SECONDS));
						}
						assertRejected(wheel);
					});
					handles.forEach(TimerHandle::cancel);
				}
			}
			assertThat(wheel.snapshot().rejected()).isEqualTo(40);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 5, 1_000, 20_000 })
	void limitIsExactWithConcurrentAdders(int limit) throws Exception {
		TimingWheel wheel = wheel(limit);
		AtomicBoolean done = new AtomicBoolean();
		Future<Long> highest = this.pool.submit(() -> {
			long max = 0;
			while (!done.get()) {
				max = Math.max(max, wheel.pending());
			}
			return max;
		});
		List<Future<Integer>> accepted = inParallel(() -> {
			int count = 0;
			for (int i = 0; i < limit + 500; i++) {
				count += tryToSchedule(wheel) ? 1 : 0;
			}
			return count;
		});
		int sum = 0;
		for (Future<Integer> each : accepted) {
			sum += each.get(60, TimeUnit.SECONDS);
		}
		done.set(true);
		assertThat(sum).isEqualTo(limit);
		assertThat(wheel.pending()).isEqualTo(limit);
		assertThat(wheel.snapshot().rejected()).isEqualTo(THREADS * (limit + 500L) - limit);
		assertThat(highest.get(60, TimeUnit.SECONDS)).isLessThanOrEqualTo(limit);
	}

	private <T> List<Future<T>> inParallel(Callable<T> action) {
		CyclicBarrier start = new CyclicBarrier(THREADS);
		List<Future<T>> results = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			results.add(this.pool.submit(() -> {
				start.await();
				return action.call();
			}));
		}
		return results;
	}

	private TimingWheel wheel(long limit) {
		return TimingWheel.builder(Runnable::run).shards(8).maxPending(limit).timeSource(this.clock).build();
	}

	private boolean tryToSchedule(TimingWheel wheel) {
		try {
			wheel.schedule(this.task, 1, TimeUnit.HOURS);
			return true;
		}
		catch (RejectedExecutionException ex) {
			return false;
		}
	}

	private void assertRejected(TimingWheel wheel) {
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> wheel.schedule(this.task, 1, TimeUnit.SECONDS));
	}

}
