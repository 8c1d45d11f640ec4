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

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests that the wheel and its handles retain no more objects than they need. */
@ExtendWith(WheelLog.class)
class MemoryRetentionTests {

	private static final DirectTask NOTHING = () -> {
	};

	private ManualTimeSource clock = new ManualTimeSource();

	private TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	/** The remaining timers are packed into smaller arrays in between. */
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

	@ParameterizedTest
	@Tag("measuring")
	@CsvSource({ "2, true", "256, true", "256, false", "4096, true" })
	void floodLeavesNothingBehind(int wheelSize, boolean cancel) {
		int count = 400_000;
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.wheelSize(wheelSize)
			.shards(1)
			.timeSource(this.clock)
			.build();
		TimerHandle far = wheel.schedule(NOTHING, 400, TimeUnit.DAYS);
		long before = settledHeap();
		TimerHandle[] handles = cancel ? new TimerHandle[count] : null;
		for (int i = 0; i < count; i++) {
			// Both crowds and many slots of two timers.
			long delay = (i % 2 == 0) ? 1 + i / 4 : 1 + (i % 50) * 5_000_000L;
			TimerHandle handle = wheel.schedule(NOTHING, delay, TimeUnit.MILLISECONDS);
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
			this.clock.advance(Duration.ofDays(4));
		}
		assertThat(wheel.pending()).isOne();
		assertThat(settledHeap() - before).isLessThan(1_000_000);
		assertThat(far.isPending()).isTrue();
	}

	private static long usedHeap() {
		System.gc();
		return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
	}

	/** Only each fourth collection of the serial collector leaves no garbage behind. */
	private static long settledHeap() {
		long least = usedHeap();
		for (int i = 0; i < 3; i++) {
			least = Math.min(least, usedHeap());
		}
		return least;
	}

	/**
	 * A timer in a crowd needs about 36 bytes, one that is alone in its slot at most 80.
	 */
	@ParameterizedTest
	@CsvSource({ "400000, 0, 35, 38", "8000, 1, 32, 80" })
	void timerNeedsFewBytes(int count, long distanceMillis, double least, double most) {
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.wheelSize(1 << 12)
			.shards(1)
			.timeSource(this.clock)
			.build();
		long before = settledHeap();
		for (int i = 1; i <= count; i++) {
			wheel.schedule(NOTHING, 1 + i * distanceMillis, TimeUnit.MILLISECONDS);
		}
		assertThat((settledHeap() - before) / (double) count).isBetween(least, most);
		assertThat(wheel.snapshot().levels().get(0).occupiedSlots()).isEqualTo((distanceMillis > 0) ? count : 1);
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

	/**
	 * Each part of a wheel refers to the clock. A timer that has no neighbours in its
	 * slot has another place.
	 */
	@ParameterizedTest
	@CsvSource({ "fired, 0", "cancelled, 0", "returned, 0", "fired, 6", "cancelled, 6", "returned, 6" })
	void handleOfATimerThatHasEndedRetainsNothing(String end, int neighbours) {
		List<WeakReference<?>> references = new ArrayList<>();
		references.add(new WeakReference<>(this.wheel));
		references.add(new WeakReference<>(this.clock));
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i <= neighbours; i++) {
			Runnable task = newTask();
			handles.add(this.wheel.schedule(task, 1, TimeUnit.DAYS));
			references.add(new WeakReference<>(task));
		}
		TimerHandle handle = handles.remove(neighbours / 2);
		handles.forEach((neighbour) -> references.add(new WeakReference<>(neighbour)));
		handles.clear();
		switch (end) {
			case "fired" -> this.clock.advance(Duration.ofDays(1));
			case "cancelled" -> handle.cancel();
			default -> this.wheel.stop();
		}
		this.wheel = null;
		this.clock = null;
		references.forEach(MemoryRetentionTests::assertCollected);
		Reference.reachabilityFence(handle);
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
	@Tag("measuring")
	void crowdOfExecutorsThatHaveRefusedLeavesNoMemoryInUse() {
		this.wheel.schedule(NOTHING, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		WeakReference<Executor> last = null;
		long before = settledHeap();
		int count = 230_000;
		for (int i = 0; i < count; i++) {
			RefusingOnce executor = new RefusingOnce();
			last = new WeakReference<>(executor);
			this.wheel.schedule(new Routed(executor), 1, TimeUnit.MILLISECONDS);
		}
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.wheel.snapshot().refused()).isEqualTo(count);
		assertThat(this.wheel.pending()).isEqualTo(count);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(this.wheel.pending()).isZero();
		// A heap of so many queues has an array of 1.3 MB.
		assertThat(settledHeap() - before).isLessThan(1_000_000);
		assertCollected(last);
		Reference.reachabilityFence(this.wheel);
	}

	@Test
	void clockRetainsNothingOfAStoppedWheel() {
		WeakReference<TimingWheel> reference = new WeakReference<>(this.wheel);
		this.wheel.stop();
		this.wheel = null;
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

}
