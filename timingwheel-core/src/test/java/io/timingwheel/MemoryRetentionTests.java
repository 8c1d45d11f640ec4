package io.timingwheel;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that the wheel and its handles retain no more objects than they need.
 */
@ExtendWith(WheelLog.class)
class MemoryRetentionTests {

	private ManualTimeSource clock = new ManualTimeSource();

	private TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	/**
	 * The remaining timers are packed into smaller arrays in between.
	 */
	@Test
	void cancelledTimersOfACrowdAreNotRetained() {
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			handles.add(this.wheel.schedule(newTask(), 1, TimeUnit.DAYS));
		}
		List<WeakReference<TimerHandle>> references = handles.stream().map(WeakReference::new).toList();
		for (int spared = 4; spared > 0; spared--) {
			for (int i = 0; i < handles.size(); i++) {
				if (i % 4 != spared - 1) {
					handles.get(i).cancel();
				}
			}
		}
		assertThat(this.wheel.pending()).isZero();
		handles.clear();
		references.forEach(MemoryRetentionTests::assertCollected);
		Reference.reachabilityFence(this.wheel);
	}

	private static long usedHeap() {
		System.gc();
		return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
	}

	@ParameterizedTest
	@CsvSource({ "2, true", "2, false", "256, true", "256, false", "4096, true", "4096, false" })
	void floodLeavesNothingBehind(int wheelSize, boolean cancel) {
		assertFloodLeavesNothingBehind(wheelSize, cancel, 400_000);
	}

	private static void assertFloodLeavesNothingBehind(int wheelSize, boolean cancel, int count) {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = TimingWheel.builder(Runnable::run).wheelSize(wheelSize).shards(1).timeSource(clock).build();
		DirectTask task = () -> {
		};
		TimerHandle far = wheel.schedule(task, 400, TimeUnit.DAYS);
		long before = settledHeap();
		TimerHandle[] handles = cancel ? new TimerHandle[count] : null;
		for (int i = 0; i < count; i++) {
			// Both crowds and many slots of two timers.
			long delay = (i % 2 == 0) ? 1 + i / 4 : 1 + (i % 50) * 5_000_000L;
			TimerHandle handle = wheel.schedule(task, delay, TimeUnit.MILLISECONDS);
			if (handles != null) {
				handles[i] = handle;
			}
		}
		assertThat(usedHeap() - before).isGreaterThan(10_000_000);
		if (handles != null) {
			for (TimerHandle handle : handles) {
				handle.cancel();
			}
			handles = null;
		}
		else {
			clock.advance(Duration.ofDays(4));
		}
		assertThat(wheel.pending()).isOne();
		assertThat(settledHeap() - before).isLessThan(1_000_000);
		assertThat(far.isPending()).isTrue();
	}

	/**
	 * Only each fourth collection of the serial collector leaves no garbage behind.
	 */
	private static long settledHeap() {
		long least = usedHeap();
		for (int i = 0; i < 3; i++) {
			least = Math.min(least, usedHeap());
		}
		return least;
	}

	@Test
	void timerInACrowdNeedsAbout36Bytes() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).shards(1).timeSource(this.clock).build();
		DirectTask task = () -> {
		};
		int count = 400_000;
		long before = settledHeap();
		for (int i = 0; i < count; i++) {
			wheel.schedule(task, 1, TimeUnit.DAYS);
		}
		assertThat((settledHeap() - before) / (double) count).isBetween(35.0, 38.0);
		Reference.reachabilityFence(wheel);
	}

	@Test
	void timerThatIsAloneInItsSlotNeedsAtMost80Bytes() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.wheelSize(1 << 12)
			.shards(1)
			.timeSource(this.clock)
			.build();
		DirectTask task = () -> {
		};
		int count = 8_000;
		long before = settledHeap();
		for (int i = 1; i <= count; i++) {
			wheel.schedule(task, i, TimeUnit.MILLISECONDS);
		}
		assertThat(wheel.snapshot().levels().get(0).occupiedSlots()).isEqualTo(count);
		assertThat((settledHeap() - before) / (double) count).isBetween(32.0, 80.0);
		Reference.reachabilityFence(wheel);
	}

	/**
	 * An executor that accepts a task and never runs it leaves the task to the handle.
	 */
	@Test
	void wheelRetainsNothingOfATimerThatItsExecutorDrops() {
		TimingWheel wheel = TimingWheel.builder((dropped) -> {
		}).timeSource(this.clock).build();
		Runnable task = newTask();
		WeakReference<Runnable> reference = new WeakReference<>(task);
		TimerHandle handle = wheel.schedule(task, 1, TimeUnit.DAYS);
		task = null;
		this.clock.advance(Duration.ofDays(1));
		assertThat(handle.isPending()).isFalse();
		System.gc();
		assertThat(reference.get()).as("while the handle is kept").isNotNull();
		Reference.reachabilityFence(handle);
		handle = null;
		assertCollected(reference);
		Reference.reachabilityFence(wheel);
	}

	@Test
	void firedHandleRetainsNothing() {
		Runnable task = newTask();
		WeakReference<Runnable> reference = new WeakReference<>(task);
		TimerHandle handle = this.wheel.schedule(task, 1, TimeUnit.DAYS);
		task = null;
		this.clock.advance(Duration.ofDays(1));
		assertCollected(reference);
		assertCollectedWithTheWheel(handle);
	}

	@Test
	void wheelRetainsNothingOfAFiredTimer() {
		List<WeakReference<Object>> references = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			Runnable task = newTask();
			references.add(new WeakReference<>(task));
			references.add(new WeakReference<>(this.wheel.schedule(task, 1, TimeUnit.DAYS)));
		}
		this.clock.advance(Duration.ofDays(1));
		references.forEach(MemoryRetentionTests::assertCollected);
		Reference.reachabilityFence(this.wheel);
	}

	@Test
	void cancelledHandleRetainsNothing() {
		TimerHandle handle = this.wheel.schedule(newTask(), 1, TimeUnit.DAYS);
		handle.cancel();
		assertCollectedWithTheWheel(handle);
	}

	@Test
	void handleOfAStoppedWheelRetainsNothing() {
		TimerHandle handle = this.wheel.schedule(newTask(), 1, TimeUnit.DAYS);
		this.wheel.stop();
		assertCollectedWithTheWheel(handle);
	}

	@Test
	void handleDoesNotRetainItsNeighboursOfTheSlot() {
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i < 7; i++) {
			handles.add(this.wheel.schedule(newTask(), 1, TimeUnit.DAYS));
		}
		TimerHandle cancelled = handles.get(2);
		TimerHandle fired = handles.get(4);
		cancelled.cancel();
		List<WeakReference<TimerHandle>> neighbours = handles.stream()
			.filter((handle) -> handle != cancelled && handle != fired)
			.map(WeakReference::new)
			.toList();
		handles.clear();
		this.clock.advance(Duration.ofDays(1));
		neighbours.forEach(MemoryRetentionTests::assertCollected);
		Reference.reachabilityFence(cancelled);
		Reference.reachabilityFence(fired);
	}

	@Test
	void taskThatRanIsFreedEvenIfTheExecutorKeepsTheTimer() {
		List<Runnable> kept = new ArrayList<>();
		TimingWheel wheel = TimingWheel.builder((given) -> {
			kept.add(given);
			given.run();
		}).timeSource(this.clock).build();
		Runnable task = newTask();
		WeakReference<Runnable> reference = new WeakReference<>(task);
		wheel.schedule(task, 1, TimeUnit.DAYS);
		task = null;
		this.clock.advance(Duration.ofDays(1));
		assertCollected(reference);
		assertThat(kept).hasSize(1);
	}

	@Test
	void cancelOfARefusedTimerFreesItAtOnce() {
		TimingWheel wheel = TimingWheel.builder(MemoryRetentionTests::refuse).timeSource(this.clock).build();
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			handles.add(wheel.schedule(newTask(), 1, TimeUnit.MILLISECONDS));
		}
		this.clock.advance(Duration.ofMillis(1));
		TimerHandle kept = handles.remove(500);
		handles.forEach(TimerHandle::cancel);
		List<WeakReference<TimerHandle>> references = handles.stream().map(WeakReference::new).toList();
		handles.clear();
		references.forEach(MemoryRetentionTests::assertCollected);
		assertThat(kept.isPending()).isTrue();
		Reference.reachabilityFence(wheel);
	}

	@Test
	void executorsThatHaveRefusedAreNotRetainedOnceNoTimerWaits() {
		List<WeakReference<Executor>> references = new ArrayList<>();
		for (int i = 0; i < 2_000; i++) {
			RefusingOnce executor = new RefusingOnce();
			references.add(new WeakReference<>(executor));
			this.wheel.schedule(new Routed(executor), 1, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.wheel.snapshot().refused()).isEqualTo(2_000);
		assertThat(this.wheel.pending()).isEqualTo(2_000);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(this.wheel.pending()).isZero();
		references.forEach(MemoryRetentionTests::assertCollected);
		Reference.reachabilityFence(this.wheel);
	}

	@Test
	void crowdOfExecutorsThatHaveRefusedLeavesNoMemoryInUse() {
		DirectTask warmUp = () -> {
		};
		this.wheel.schedule(warmUp, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		long before = settledHeap();
		int count = 230_000;
		for (int i = 0; i < count; i++) {
			this.wheel.schedule(new Routed(new RefusingOnce()), 1, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.wheel.snapshot().refused()).isEqualTo(count);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(this.wheel.pending()).isZero();
		// A heap of so many queues has an array of 1.3 MB.
		assertThat(settledHeap() - before).isLessThan(1_000_000);
		Reference.reachabilityFence(this.wheel);
	}

	@Test
	void clockRetainsNothingOfAStoppedWheel() {
		Executor executor = new DirectExecutor();
		WeakReference<Executor> reference = new WeakReference<>(executor);
		TimingWheel wheel = TimingWheel.builder(executor).timeSource(this.clock).build();
		executor = null;
		wheel.stop();
		wheel = null;
		assertCollected(reference);
		Reference.reachabilityFence(this.clock);
	}

	@Test
	void stoppedWheelWithAThreadIsFreed() {
		AtomicReference<Thread> driver = new AtomicReference<>();
		TimingWheel wheel = TimingWheel.builder(Runnable::run).threadFactory((task) -> {
			Thread thread = new Thread(task);
			driver.set(thread);
			return thread;
		}).build();
		wheel.schedule(newTask(), 1, TimeUnit.DAYS);
		wheel.stop();
		Latches.join(driver.get());
		WeakReference<TimingWheel> reference = new WeakReference<>(wheel);
		wheel = null;
		driver.set(null);
		assertCollected(reference);
	}

	/**
	 * Each part of a wheel refers to the clock.
	 */
	private void assertCollectedWithTheWheel(TimerHandle handle) {
		List<WeakReference<?>> references = List.of(new WeakReference<>(this.wheel), new WeakReference<>(this.clock));
		this.wheel = null;
		this.clock = null;
		references.forEach(MemoryRetentionTests::assertCollected);
		Reference.reachabilityFence(handle);
	}

	private static void assertCollected(WeakReference<?> reference) {
		await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(20)).until(() -> {
			if (reference.get() != null) {
				System.gc();
			}
			return reference.get() == null;
		});
	}

	/**
	 * A new object at each call. A lambda that captures nothing would be the same object.
	 */
	private static Runnable newTask() {
		return new RecordingTask(TimeSource.system());
	}

	private static void refuse(Runnable task) {
		throw new RejectedExecutionException("on purpose");
	}

	private record Routed(Executor executor) implements RoutedTask {

		@Override
		public void run() {
		}

	}

	private static final class RefusingOnce implements Executor {

		private boolean refused;

		@Override
		public void execute(Runnable task) {
			if (!this.refused) {
				this.refused = true;
				refuse(task);
			}
			task.run();
		}

	}

	private static final class DirectExecutor implements Executor {

		@Override
		public void execute(Runnable task) {
			task.run();
		}

	}

}
