package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.logging.ConsoleHandler;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.MemoryHandler;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for executors that refuse expired tasks. Each test has a timeout, because without
 * a backoff {@code advance} would never return.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusalTests {

	@RegisterExtension
	final WheelLog log = new WheelLog();

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	/** The times of all refusals, in milliseconds. */
	private final List<Long> refusedAt = new ArrayList<>();

	private boolean refuse = true;

	private final TimingWheel wheel = wheel(this::refuseOrRun);

	@Test
	void refusedTimerIsPendingAgainAndFiresOnceTheExecutorAcceptsIt() {
		TimerHandle handle = this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(handle.isPending()).isTrue();
		assertThat(this.wheel.pending()).isOne();
		WheelSnapshot snapshot = this.wheel.snapshot();
		assertThat(snapshot.rejected()).isOne();
		assertThat(snapshot.fired()).isZero();
		assertThat(snapshot.nextExpiry()).isPositive();
		this.refuse = false;
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(this.task.count()).isOne();
		assertThat(handle.isPending()).isFalse();
		snapshot = this.wheel.snapshot();
		assertThat(snapshot.pending()).isZero();
		assertThat(snapshot.fired()).isOne();
		assertThat(snapshot.scheduled()).isOne();
		assertThat(snapshot.rescheduled()).isZero();
	}

	@Test
	void refusedTimerIsTriedAgainWithABackoff() {
		this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofSeconds(4));
		assertThat(this.refusedAt).containsExactly(5L, 15L, 35L, 75L, 155L, 315L, 635L, 1275L, 2275L, 3275L);
		this.clock.advance(Duration.ofMinutes(10));
		assertThat(this.refusedAt).hasSize(610);
		assertThat(this.wheel.snapshot().rejected()).isEqualTo(610);
		assertThat(this.wheel.pending()).isOne();
	}

	@Test
	void backoffStartsAgainAtItsMinimumOnceTheExecutorHasAccepted() {
		this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(200));
		this.refuse = false;
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.task.count()).isOne();
		this.refuse = true;
		this.refusedAt.clear();
		this.wheel.schedule(this.task, 100, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(150));
		assertThat(this.refusedAt).containsExactly(1300L, 1310L, 1330L);
	}

	@Test
	void refusedTimerCanBeCancelled() {
		TimerHandle handle = this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(handle.cancel()).isTrue();
		assertThat(handle.isCancelled()).isTrue();
		this.refuse = false;
		this.clock.advance(Duration.ofDays(1));
		assertThat(this.task.count()).isZero();
		WheelSnapshot snapshot = this.wheel.snapshot();
		assertThat(snapshot.pending()).isZero();
		assertThat(snapshot.cancelled()).isOne();
		assertThat(snapshot.fired()).isZero();
	}

	@Test
	void refusedTimerCanBeMoved() {
		TimerHandle sooner = this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		TimerHandle later = this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(5));
		this.refuse = false;
		assertThat(sooner.reschedule(1, TimeUnit.MILLISECONDS)).isTrue();
		assertThat(later.reschedule(1, TimeUnit.DAYS)).isTrue();
		this.clock.advance(Duration.ofDays(2));
		assertThat(this.task.times()).containsExactly(TimeUnit.MILLISECONDS.toNanos(6),
				TimeUnit.DAYS.toNanos(1) + TimeUnit.MILLISECONDS.toNanos(5));
	}

	@Test
	void refusedTimersAreReturnedByStopAsTheyWereScheduled() {
		Runnable routed = routed(() -> this::refuseOrRun);
		this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.wheel.schedule(routed, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(this.wheel.stop()).containsExactlyInAnyOrder(this.task, routed);
	}

	@Test
	void refusalsDelayNoOtherTimers() {
		RecordingTask accepted = new RecordingTask(this.clock);
		DirectTask direct = accepted::run;
		List<Long> expected = new ArrayList<>();
		for (int i = 1; i <= 100; i++) {
			this.wheel.schedule(this.task, i, TimeUnit.MILLISECONDS);
			this.wheel.schedule(direct, i, TimeUnit.MILLISECONDS);
			expected.add(TimeUnit.MILLISECONDS.toNanos(i));
		}
		this.clock.advance(Duration.ofMillis(100));
		assertThat(accepted.times()).isEqualTo(expected);
		assertThat(this.wheel.pending()).isEqualTo(100);
	}

	@Test
	void manyRefusedTimersAllFireOnceTheExecutorRecovers() {
		List<RecordingTask> tasks = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			RecordingTask task = new RecordingTask(this.clock);
			tasks.add(task);
			this.wheel.schedule(task, i % 50, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofSeconds(30));
		assertThat(this.wheel.pending()).isEqualTo(10_000);
		this.refuse = false;
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(tasks).allMatch((task) -> task.count() == 1);
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void refusalsAreLoggedAtMostOnceAMinute() {
		for (int i = 0; i < 1_000; i++) {
			this.wheel.schedule(this.task, i, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(this.refusedAt).hasSizeGreaterThanOrEqualTo(1_000);
		assertThat(this.log.records()).hasSizeBetween(1, 10)
			.allSatisfy((logged) -> assertThat(logged.getThrown()).hasMessage("on purpose"));
	}

	@ParameterizedTest
	@MethodSource("io.timingwheel.Throwables#ofEachKind")
	void exceptionOfExecuteBeforeTheTaskBeginsIsARefusal(Throwable thrown) {
		AtomicInteger calls = new AtomicInteger();
		TimingWheel wheel = wheel((task) -> {
			if (calls.getAndIncrement() == 0) {
				throw Throwables.sneaky(thrown);
			}
			task.run();
		});
		wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(calls).hasValue(2);
		assertThat(this.task.count()).isOne();
		assertThat(wheel.snapshot().rejected()).isOne();
		assertThat(wheel.snapshot().fired()).isOne();
	}

	@ParameterizedTest
	@MethodSource("io.timingwheel.Throwables#ofEachKind")
	void exceptionOfTheExecutorMethodOfARoutedTaskIsARefusal(Throwable thrown) {
		AtomicInteger calls = new AtomicInteger();
		this.wheel.schedule(routed(() -> {
			if (calls.getAndIncrement() == 0) {
				throw Throwables.sneaky(thrown);
			}
			return Runnable::run;
		}), 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(calls).hasValue(2);
		assertThat(this.task.count()).isOne();
		assertThat(this.wheel.snapshot().rejected()).isOne();
		assertThat(this.wheel.snapshot().fired()).isOne();
	}

	@Test
	void executorThatThrowsAfterTheTaskHasRunDoesNotRunItTwice() {
		TimingWheel wheel = wheel((task) -> {
			task.run();
			throw new RejectedExecutionException("too late");
		});
		wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofDays(1));
		assertThat(this.task.count()).isOne();
		assertThat(wheel.pending()).isZero();
		assertThat(wheel.snapshot().fired()).isOne();
		assertThat(wheel.snapshot().rejected()).isZero();
	}

	@Test
	void executorThatThrowsWhileTheTaskRunsOnAnotherThreadDoesNotRunItTwice() {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		AtomicReference<Thread> worker = new AtomicReference<>();
		TimingWheel wheel = wheel((task) -> {
			Thread thread = new Thread(task);
			worker.set(thread);
			thread.start();
			Latches.await(begun);
			throw new RejectedExecutionException("too late");
		});
		wheel.schedule(() -> {
			this.task.run();
			begun.countDown();
			Latches.await(end);
		}, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofDays(1));
		end.countDown();
		Latches.join(worker.get());
		assertThat(this.task.count()).isOne();
		assertThat(wheel.pending()).isZero();
		assertThat(wheel.snapshot().rejected()).isZero();
	}

	@Test
	void executorThatKeepsTheTaskAndThrowsDoesNotRunItTwice() {
		List<Runnable> kept = new ArrayList<>();
		TimingWheel wheel = wheel((task) -> {
			kept.add(task);
			if (kept.size() < 3) {
				throw new RejectedExecutionException("on purpose, but the task was kept");
			}
		});
		wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofDays(1));
		kept.forEach(Runnable::run);
		assertThat(kept).hasSize(3);
		assertThat(this.task.count()).isOne();
	}

	@Test
	void timerIsNotLostIfTheLoggerFails() {
		Logger logger = Logger.getLogger(TimingWheel.class.getName());
		Handler failing = new MemoryHandler(new ConsoleHandler(), 1, Level.OFF) {

			@Override
			public void publish(LogRecord logRecord) {
				throw new IllegalStateException("The disk is full");
			}

		};
		logger.addHandler(failing);
		try {
			this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
			this.clock.advance(Duration.ofMillis(5));
			assertThat(this.wheel.snapshot().rejected()).isOne();
		}
		finally {
			logger.removeHandler(failing);
		}
		this.refuse = false;
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(this.task.count()).isOne();
		assertThat(this.wheel.pending()).isZero();
	}

	private TimingWheel wheel(Executor executor) {
		return TimingWheel.builder(executor).timeSource(this.clock).build();
	}

	private void refuseOrRun(Runnable task) {
		if (this.refuse) {
			this.refusedAt.add(TimeUnit.NANOSECONDS.toMillis(this.clock.nanoTime()));
			throw new RejectedExecutionException("on purpose");
		}
		task.run();
	}

	private RoutedTask routed(Supplier<Executor> executor) {
		return new RoutedTask() {

			@Override
			public Executor executor() {
				return executor.get();
			}

			@Override
			public void run() {
				RefusalTests.this.task.run();
			}

		};
	}

}
