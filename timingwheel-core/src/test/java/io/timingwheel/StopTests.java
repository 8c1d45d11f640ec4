package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link TimingWheel#stop()}. {@link WheelModelTests} also ends with it.
 */
@ExtendWith(WheelLog.class)
class StopTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	private final ExecutorService pool = Executors.newCachedThreadPool();

	@AfterEach
	void shutDown() {
		this.pool.shutdownNow();
	}

	/** xiaoxuxiansheng/timewheel, godis: a task added after Stop blocks for ever. */
	@Test
	void closeDiscardsAndNoTimerIsAcceptedAfterwards() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).maxPending(1).timeSource(this.clock).build();
		TimerHandle handle = wheel.schedule(this.task, 5, TimeUnit.SECONDS);
		wheel.close();
		assertThat(handle.isPending()).isFalse();
		for (ThrowingCallable schedule : List.<ThrowingCallable>of(() -> wheel.schedule(this.task, 1, TimeUnit.SECONDS),
				() -> wheel.schedule(this.task, Duration.ZERO), () -> wheel.scheduleAt(this.task, wheel.nanoTime()))) {
			assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(schedule);
		}
		WheelSnapshot snapshot = wheel.snapshot();
		assertThat(snapshot.state()).isEqualTo(WheelSnapshot.State.STOPPED);
		assertThat(List.of(snapshot.pending(), snapshot.scheduled(), snapshot.rejected())).containsExactly(0L, 1L, 0L);
		assertThat(wheel.stop()).isEmpty();
	}

	@Test
	void stopInATaskAlsoReturnsTheTasksOfTheSameTickThatHaveNotBegun() {
		List<RecordingTask> tasks = new ArrayList<>();
		List<Runnable> returned = new ArrayList<>();
		for (int i = 0; i < 2_000; i++) {
			tasks.add(newTask());
		}
		for (int i = 0; i < 1_000; i++) {
			this.wheel.schedule(tasks.get(i), 5, TimeUnit.MILLISECONDS);
		}
		this.wheel.schedule(() -> returned.addAll(this.wheel.stop()), 5, TimeUnit.MILLISECONDS);
		for (int i = 1_000; i < 2_000; i++) {
			this.wheel.schedule(tasks.get(i), (i % 2 == 0) ? 5 : 6, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofDays(1));
		assertThat(tasks.subList(0, 1_000)).allMatch((task) -> task.count() == 1);
		assertThat(returned).containsExactlyInAnyOrderElementsOf(tasks.subList(1_000, 2_000));
		assertThat(tasks.subList(1_000, 2_000)).allMatch((task) -> task.count() == 0);
		assertThat(this.wheel.pending()).isZero();
		assertThat(this.wheel.snapshot().fired()).isEqualTo(1_001);
	}

	@Test
	void stopInATaskOnTheDriverDoesNotWaitForTheDriver() throws InterruptedException {
		AtomicReference<Thread> driver = new AtomicReference<>();
		LinkedBlockingQueue<List<Runnable>> returned = new LinkedBlockingQueue<>();
		TimingWheel wheel = realWheel(driver);
		wheel.schedule(this.task, 1, TimeUnit.DAYS);
		DirectTask stopping = () -> returned.add(wheel.stop());
		wheel.schedule(stopping, 1, TimeUnit.MILLISECONDS);
		assertThat(returned.poll(60, TimeUnit.SECONDS)).containsExactly(this.task);
		Latches.join(driver.get());
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void stopInExecuteReturnsTheTaskThatIsBeingHandedOver(boolean refuse) {
		List<Runnable> returned = new ArrayList<>();
		List<Runnable> accepted = new ArrayList<>();
		List<Throwable> errors = new ArrayList<>();
		AtomicReference<TimingWheel> stopping = new AtomicReference<>();
		TimingWheel wheel = TimingWheel.builder((task) -> {
			returned.addAll(stopping.get().stop());
			if (refuse) {
				throw new RejectedExecutionException("on purpose");
			}
			accepted.add(task);
		}).timeSource(this.clock).onError((task, error) -> errors.add(error)).build();
		stopping.set(wheel);
		List<Runnable> tasks = List.of(newTask(), newTask(), newTask());
		tasks.forEach((task) -> wheel.schedule(task, 5, TimeUnit.MILLISECONDS));
		this.clock.advance(Duration.ofDays(1));
		accepted.forEach(Runnable::run);
		assertThat(returned).containsExactlyInAnyOrderElementsOf(tasks);
		assertThat(tasks).allMatch((task) -> ((RecordingTask) task).count() == 0);
		assertThat(errors).isEmpty();
		assertThat(wheel.pending()).isZero();
		assertThat(wheel.snapshot().fired()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void stopWaitsForTheHandOverInProgressAndReturnsTheTaskIfItIsRefused(boolean refuse) throws Exception {
		CountDownLatch inExecute = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		AtomicBoolean handedOver = new AtomicBoolean();
		WheelBuilder builder = new WheelBuilder((task) -> {
			inExecute.countDown();
			Latches.await(release);
			handedOver.set(true);
			if (refuse) {
				throw new RejectedExecutionException("on purpose");
			}
		});
		// A driver that stalls for longer than five seconds would change the result.
		builder.stopWait = Duration.ofMinutes(1);
		TimingWheel wheel = builder.build();
		wheel.schedule(this.task, 0, TimeUnit.MILLISECONDS);
		Latches.await(inExecute);
		AtomicReference<Thread> stopper = new AtomicReference<>();
		Future<List<Runnable>> returned = this.pool.submit(() -> {
			stopper.set(Thread.currentThread());
			List<Runnable> tasks = wheel.stop();
			assertThat(handedOver).isTrue();
			return tasks;
		});
		await().until(() -> stopper.get() != null && stopper.get().getState() == Thread.State.TIMED_WAITING);
		release.countDown();
		assertThat(returned.get(60, TimeUnit.SECONDS)).isEqualTo(refuse ? List.of(this.task) : List.of());
		assertThat(wheel.snapshot().fired()).isEqualTo(refuse ? 0 : 1);
		assertThat(wheel.pending()).isZero();
	}

	@Test
	@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
	void twoWheelsWhoseTasksStopEachOtherBothStop() {
		CountDownLatch inTasks = new CountDownLatch(2);
		LinkedBlockingQueue<List<Runnable>> returned = new LinkedBlockingQueue<>();
		TimingWheel one = wheelThatSoonGivesUp(Runnable::run);
		TimingWheel other = wheelThatSoonGivesUp(Runnable::run);
		one.schedule(() -> stopOnceAllAreThere(other, inTasks, returned), 5, TimeUnit.MILLISECONDS);
		one.schedule(this.task, 1, TimeUnit.DAYS);
		other.schedule(() -> stopOnceAllAreThere(one, inTasks, returned), 5, TimeUnit.MILLISECONDS);
		other.schedule(this.task, 1, TimeUnit.DAYS);
		await().until(() -> returned.size() == 2);
		assertThat(returned).containsExactly(List.of(this.task), List.of(this.task));
		await().until(() -> one.pending() + other.pending() == 0);
	}

	private static void stopOnceAllAreThere(TimingWheel wheel, CountDownLatch inTasks,
			LinkedBlockingQueue<List<Runnable>> returned) {
		inTasks.countDown();
		Latches.await(inTasks);
		returned.add(wheel.stop());
	}

	@Test
	@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
	void stopUnderALockThatATaskWantsReturnsTheRestOfTheBatch() {
		Object lock = new Object();
		CountDownLatch inTask = new CountDownLatch(1);
		AtomicInteger runs = new AtomicInteger();
		TimingWheel wheel = wheelThatSoonGivesUp(Runnable::run);
		TimerHandle rest;
		synchronized (lock) {
			Runnable wanting = () -> {
				inTask.countDown();
				synchronized (lock) {
					runs.incrementAndGet();
				}
			};
			wheel.schedule(wanting, 50, TimeUnit.MILLISECONDS);
			rest = wheel.schedule(this.task, 50, TimeUnit.MILLISECONDS);
			wheel.schedule(this.task, 1, TimeUnit.DAYS);
			Latches.await(inTask);
			assertThat(wheel.stop()).containsExactly(this.task, this.task);
			assertThat(rest.isPending()).isFalse();
			assertThat(runs).hasValue(0);
		}
		await().until(() -> runs.get() == 1 && wheel.pending() == 0);
		assertThat(this.task.count()).isZero();
		WheelSnapshot snapshot = wheel.snapshot();
		assertThat(snapshot.fired()).isOne();
		assertThat(snapshot.scheduled()).isEqualTo(3);
	}

	private static TimingWheel wheelThatSoonGivesUp(Executor executor) {
		WheelBuilder builder = new WheelBuilder(executor);
		builder.stopWait = Duration.ofMillis(300);
		return builder.build();
	}

	@Test
	void oneOfSeveralConcurrentStopsReturnsTheTasks() throws Exception {
		for (int round = 0; round < 100; round++) {
			TimingWheel wheel = TimingWheel.builder(Runnable::run).build();
			for (int i = 0; i < 100; i++) {
				wheel.schedule(this.task, i + 1, TimeUnit.HOURS);
			}
			Callable<Integer> stop = () -> wheel.stop().size();
			List<Integer> returned = new ArrayList<>();
			for (Future<Integer> each : this.pool.invokeAll(Collections.nCopies(4, stop))) {
				returned.add(each.get());
			}
			assertThat(returned).containsExactlyInAnyOrder(100, 0, 0, 0);
		}
	}

	private TimingWheel realWheel(AtomicReference<Thread> driver) {
		return TimingWheel.builder(Runnable::run).threadFactory((task) -> {
			Thread thread = new Thread(task);
			driver.set(thread);
			return thread;
		}).build();
	}

	private RecordingTask newTask() {
		return new RecordingTask(this.clock);
	}

}
