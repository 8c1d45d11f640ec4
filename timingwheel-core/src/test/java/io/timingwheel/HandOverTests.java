package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests how the wheel hands expired tasks over, and what happens when they throw. */
class HandOverTests {

	@RegisterExtension
	final WheelLog log = new WheelLog();

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final List<Failure> failures = new ArrayList<>();

	@Test
	void interruptOfATaskStaysWithTheThreadThatAdvancesTheClock() {
		TimingWheel wheel = wheel(Runnable::run);
		wheel.schedule(() -> Thread.currentThread().interrupt(), 5, TimeUnit.MILLISECONDS);
		wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.task.count()).isOne();
	}

	@Test
	void interruptOfATaskOnTheDriverMakesNoInterruptibleExecutorRefuse() {
		BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
		try (TimingWheel wheel = TimingWheel.builder((task) -> {
			try {
				queue.put(task);
			}
			catch (InterruptedException ex) {
				throw new RejectedExecutionException(ex);
			}
		}).build()) {
			DirectTask interrupting = () -> Thread.currentThread().interrupt();
			for (int i = 0; i < 10; i++) {
				wheel.schedule(interrupting, 50, TimeUnit.MILLISECONDS);
				wheel.schedule(this.task, 50, TimeUnit.MILLISECONDS);
			}
			await().until(() -> queue.size() == 10);
			WheelSnapshot snapshot = wheel.snapshot();
			assertThat(snapshot.refused()).isZero();
		}
	}

	@Test
	void handedOverTimerIsNoLongerPendingThoughItsTaskHasNotBegun() {
		List<Runnable> queue = new ArrayList<>();
		TimingWheel wheel = wheel(queue::add);
		TimerHandle handle = wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(wheel.snapshot().fired()).isOne();
		assertThat(handle.isPending()).isFalse();
		assertThat(handle.cancel()).isFalse();
		assertThat(handle.reschedule(1, TimeUnit.SECONDS)).isFalse();
		assertThat(wheel.stop()).isEmpty();
		assertThat(this.task.count()).isZero();
		assertThat(queue).hasSize(1);
		queue.get(0).run();
		assertThat(this.task.count()).isOne();
	}

	@ParameterizedTest
	@MethodSource("io.timingwheel.Throwables#ofEachKind")
	void exceptionOfATaskThatHasBegunIsReportedAndNoRefusal(Throwable thrown) {
		TimingWheel wheel = wheel(Runnable::run);
		Runnable throwing = () -> {
			this.task.run();
			throw Throwables.sneaky(thrown);
		};
		DirectTask direct = throwing::run;
		RoutedTask routed = routed(Runnable::run, throwing);
		for (Runnable task : List.of(throwing, direct, routed)) {
			wheel.schedule(task, 5, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofDays(1));
		assertThat(this.task.count()).isEqualTo(3);
		assertThat(wheel.snapshot().refused()).isZero();
		assertThat(wheel.snapshot().fired()).isEqualTo(3);
		assertThat(this.failures).containsExactly(new Failure(throwing, thrown), new Failure(direct, thrown),
				new Failure(routed, thrown));
	}

	/** The handler may even throw the error that it is given. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void errorHandlerThatThrowsHarmsNoOtherTimer(boolean theSame) {
		AtomicInteger calls = new AtomicInteger();
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).onError((task, error) -> {
			calls.incrementAndGet();
			throw Throwables.sneaky(theSame ? error : new OutOfMemoryError("in the handler"));
		}).build();
		for (int i = 1; i <= 10; i++) {
			wheel.schedule(() -> {
				throw new IllegalStateException("in the task");
			}, i, TimeUnit.MILLISECONDS);
			wheel.schedule(this.task, i, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(calls).hasValue(10);
		assertThat(this.task.count()).isEqualTo(10);
		assertThat(wheel.snapshot().refused()).isZero();
		assertThat(wheel.snapshot().fired()).isEqualTo(20);
	}

	@Test
	void errorHandlerIsCalledOnTheThreadThatRanTheTask() throws InterruptedException {
		LinkedBlockingQueue<Thread> handlers = new LinkedBlockingQueue<>();
		List<Runnable> queue = new ArrayList<>();
		TimingWheel wheel = TimingWheel.builder(queue::add)
			.timeSource(this.clock)
			.onError((task, error) -> handlers.add(Thread.currentThread()))
			.build();
		wheel.schedule(() -> {
			throw new IllegalStateException("on purpose");
		}, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(5));
		Thread worker = new Thread(queue.get(0));
		worker.start();
		assertThat(handlers.poll(60, TimeUnit.SECONDS)).isSameAs(worker);
	}

	@Test
	void withoutAnErrorHandlerTheFailureIsLogged() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();
		IllegalStateException thrown = new IllegalStateException("on purpose");
		wheel.schedule(() -> {
			throw thrown;
		}, 5, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(this.log.records()).singleElement()
			.satisfies((logged) -> assertThat(logged.getThrown()).isSameAs(thrown));
	}

	private TimingWheel wheel(Executor executor) {
		return TimingWheel.builder(executor)
			.timeSource(this.clock)
			.onError((failed, error) -> this.failures.add(new Failure(failed, error)))
			.build();
	}

	private static RoutedTask routed(Executor executor, Runnable task) {
		return new RoutedTask() {

			@Override
			public Executor executor() {
				return executor;
			}

			@Override
			public void run() {
				task.run();
			}

		};
	}

	private record Failure(Runnable task, Throwable error) {

	}

}
