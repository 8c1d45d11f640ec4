package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for defects that other timer libraries have or had.
 */
@ExtendWith(WheelLog.class)
class PeerDefectTests {

	private static final Runnable NOTHING = () -> {
	};

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	/** Netty #1246, #9710: the worker wakes up at each tick, even if nothing is due. */
	@Test
	void idleWheelDoesNotTick() {
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).tick(Duration.ofNanos(100_000)).build()) {
			wheel.schedule(NOTHING, 1, TimeUnit.HOURS);
			await().during(Duration.ofMillis(500))
				.atMost(Duration.ofSeconds(30))
				.until(() -> wheel.snapshot().wakeUps() == 0);
		}
	}

	/** Netty #11724: tasks run on the worker, and a slow task delays all others. */
	@Test
	void slowTaskOnAnExecutorDelaysNoOtherTimer() throws InterruptedException {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		CountDownLatch release = new CountDownLatch(1);
		CountDownLatch others = new CountDownLatch(100);
		try (TimingWheel wheel = TimingWheel.builder(pool).build()) {
			wheel.schedule(() -> Latches.await(release), 1, TimeUnit.MILLISECONDS);
			for (int i = 0; i < 100; i++) {
				wheel.schedule(others::countDown, 2 + i, TimeUnit.MILLISECONDS);
			}
			assertThat(others.await(60, TimeUnit.SECONDS)).isTrue();
			release.countDown();
		}
		finally {
			pool.shutdown();
		}
	}

	/** Netty: a timer whose executor rejects it is logged and lost. */
	@Test
	void refusedTimerIsNotLost() {
		List<Runnable> queue = new ArrayList<>();
		TimingWheel wheel = TimingWheel.builder((task) -> {
			if (queue.size() == 10) {
				throw new RejectedExecutionException("full");
			}
			queue.add(task);
		}).timeSource(this.clock).build();
		for (int i = 0; i < 100; i++) {
			wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
		}
		for (int i = 0; i < 100; i++) {
			this.clock.advance(Duration.ofSeconds(2));
			assertThat(this.task.count() + queue.size() + wheel.pending()).isEqualTo(100);
			queue.forEach(Runnable::run);
			queue.clear();
		}
		assertThat(this.task.count()).isEqualTo(100);
	}

	/** Netty: stop does not return a timeout that is added at the same time. */
	@Test
	void timerAddedDuringStopIsReturnedOrRejected() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		try {
			for (int round = 0; round < 300; round++) {
				TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();
				CountDownLatch adding = new CountDownLatch(1);
				Future<Integer> accepted = pool.submit(() -> {
					int count = 0;
					try {
						while (true) {
							wheel.schedule(NOTHING, 1, TimeUnit.HOURS);
							count++;
							adding.countDown();
							if (count > 100_000) {
								// The other thread stalls. The timers need memory.
								Thread.sleep(1);
							}
						}
					}
					catch (RejectedExecutionException ex) {
						return count;
					}
				});
				Latches.await(adding);
				int returned = wheel.stop().size();
				assertThat(returned).isEqualTo(accepted.get(60, TimeUnit.SECONDS));
			}
		}
		finally {
			pool.shutdownNow();
		}
	}

	/** Netty #14959: cancelled and rejected timeouts still counted as pending. */
	@Test
	void pendingIsExactAfterCancelsRefusalsAndFailures() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.maxPending(100)
			.timeSource(this.clock)
			.onError((task, error) -> {
			})
			.build();
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			handles.add(wheel.schedule((i % 2 == 0) ? this.task : () -> {
				throw new IllegalStateException("on purpose");
			}, 1 + i % 10, TimeUnit.MILLISECONDS));
		}
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> wheel.schedule(this.task, 1, TimeUnit.SECONDS));
		assertThat(wheel.pending()).isEqualTo(100);
		handles.forEach((handle) -> {
			if (handle.remaining(TimeUnit.MILLISECONDS) > 8) {
				handle.cancel();
				handle.cancel();
			}
		});
		assertThat(wheel.pending()).isEqualTo(80);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(wheel.pending()).isEqualTo(30);
		handles.forEach(TimerHandle::cancel);
		assertThat(wheel.pending()).isZero();
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(wheel.pending()).isZero();
	}

	/** Kafka rounds deadlines down, so a third of all timers fire early. */
	@ParameterizedTest
	@ValueSource(longs = { 1, 17, 500_000, 999_999 })
	void timerScheduledInTheMiddleOfATickIsNeverEarly(long offset) {
		this.clock.advance(Duration.ofNanos(offset));
		for (int i = 1; i < 100; i++) {
			this.wheel.schedule(this.task, 10, TimeUnit.MILLISECONDS);
			this.clock.advance(Duration.ofNanos(9_999_999));
			assertThat(this.task.count()).isEqualTo(i - 1);
			this.clock.advance(Duration.ofNanos(1_000_000));
			assertThat(this.task.count()).isEqualTo(i);
		}
	}

	/** Kafka: buckets that cancels have emptied still wake the reaper. */
	@Test
	void slotsThatCancelsHaveEmptiedDoNotWakeTheDriverOneByOne() {
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			AtomicInteger ran = new AtomicInteger();
			wheel.schedule(ran::incrementAndGet, 450, TimeUnit.MILLISECONDS);
			for (int i = 100; i < 400; i++) {
				wheel.schedule(NOTHING, i, TimeUnit.MILLISECONDS).cancel();
			}
			await().until(() -> ran.get() == 1);
			assertThat(wheel.snapshot().wakeUps()).isLessThanOrEqualTo(10);
		}
	}

	/** Agrona: ids are reused, so a cancel with an old id cancels another timer. */
	@Test
	void staleHandleDoesNotAffectALaterTimer() {
		List<TimerHandle> stale = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			TimerHandle handle = this.wheel.schedule(NOTHING, 5, TimeUnit.MILLISECONDS);
			if (i % 2 == 0) {
				handle.cancel();
			}
			stale.add(handle);
		}
		this.clock.advance(Duration.ofMillis(5));
		List<TimerHandle> current = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			current.add(this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS));
		}
		assertThat(stale).noneMatch(TimerHandle::cancel)
			.noneMatch((handle) -> handle.reschedule(1, TimeUnit.DAYS))
			.noneMatch(TimerHandle::isPending);
		assertThat(current).allMatch(TimerHandle::isPending);
		this.clock.advance(Duration.ofMillis(5));
		assertThat(this.task.count()).isEqualTo(1_000);
	}

	/** Akka #20424: the scheduler died after 2^31 ticks. */
	@ParameterizedTest
	@ValueSource(ints = { 31, 32, 33, 47, 62 })
	void wheelGoesOnAfterAnyNumberOfTicks(int exponent) {
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.tick(Duration.ofNanos(1))
			.wheelSize(64)
			.timeSource(this.clock)
			.build();
		long ticks = 1L << exponent;
		wheel.schedule(this.task, ticks + 5, TimeUnit.NANOSECONDS);
		this.clock.advance(Duration.ofNanos(ticks - 5));
		for (int i = 1; i <= 20; i++) {
			wheel.schedule(this.task, i, TimeUnit.NANOSECONDS);
		}
		this.clock.advance(Duration.ofNanos(20));
		List<Long> expected = new ArrayList<>();
		for (int i = 1; i <= 20; i++) {
			expected.add(ticks - 5 + i);
		}
		expected.add(10, ticks + 5);
		assertThat(this.task.times()).isEqualTo(expected);
	}

	/**
	 * Caffeine 7cc9f1f41: the duration determined the level, but the absolute time the
	 * slot. So a timer could fire one rotation late.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 2, 4, 64, 256 })
	void imminentTimerFiresOnTimeWhereverTheClockStandsInTheCoarserSlots(int wheelSize) {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).wheelSize(wheelSize).timeSource(this.clock).build();
		long span = 1;
		for (int level = 0; level < 4; level++) {
			span *= wheelSize;
			for (long before : new long[] { 1, 2, span / 2 + 1 }) {
				long now = TimeUnit.NANOSECONDS.toMillis(this.clock.nanoTime());
				long justBeforeTheNextSlot = (now / span + 2) * span - before;
				this.clock.advance(Duration.ofMillis(justBeforeTheNextSlot - now));
				for (long delay : new long[] { before, before + 1, span - 1, span, span + 1 }) {
					long start = this.clock.nanoTime();
					RecordingTask task = new RecordingTask(this.clock);
					wheel.schedule(task, delay, TimeUnit.MILLISECONDS);
					this.clock.advance(Duration.ofMillis(delay));
					assertThat(task.times()).as("delay %s at %s", delay, start)
						.containsExactly(start + TimeUnit.MILLISECONDS.toNanos(delay));
				}
			}
		}
	}

	/**
	 * tokio #6682: wake-ups got lost in a sharded wheel. Here each timer is added when
	 * the driver has served the timer before and is about to park. No other timer would
	 * wake the driver.
	 */
	@Test
	void addingToAnyShardWakesTheDriver() {
		int shards = 4;
		AtomicInteger ran = new AtomicInteger();
		int added = 0;
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).shards(shards).build();
				Callers callers = new Callers(shards)) {
			for (int caller = 0; caller < shards; caller++) {
				int before = added;
				AtomicInteger last = new AtomicInteger(before);
				callers.run(caller, () -> {
					SplittableRandom random = new SplittableRandom(before);
					long begin = System.nanoTime();
					// Under load the driver wakes up slowly.
					for (int count = before + 1; count <= before + 10_000
							&& System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(5); count++) {
						last.set(count);
						wheel.schedule(ran::incrementAndGet, 0, TimeUnit.NANOSECONDS);
						long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
						while (ran.get() < count) {
							if (System.nanoTime() - end > 0) {
								throw new AssertionError("Timer " + count + " is overdue");
							}
							Thread.onSpinWait();
						}
						for (int spins = random.nextInt(200); spins > 0; spins--) {
							Thread.onSpinWait();
						}
					}
				});
				added = last.get();
			}
		}
		assertThat(ran).hasValue(added);
	}

	/** go-zero #5510: a task that was moved fired one rotation late. */
	@Test
	void movedTimerIsNotARotationLate() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).wheelSize(4).timeSource(this.clock).build();
		for (int from = 1; from <= 20; from++) {
			for (int to = 0; to <= 20; to++) {
				RecordingTask task = new RecordingTask(this.clock);
				TimerHandle handle = wheel.schedule(task, from, TimeUnit.MILLISECONDS);
				long now = this.clock.nanoTime();
				handle.reschedule(to, TimeUnit.MILLISECONDS);
				this.clock.advance(Duration.ofMillis(20));
				assertThat(task.times()).as("from %s to %s", from, to)
					.containsExactly(now + TimeUnit.MILLISECONDS.toNanos(to));
			}
		}
	}

	/** go-zero: MoveTimer to less than a tick runs the task twice, now and later. */
	@ParameterizedTest
	@ValueSource(longs = { 0, 1, 999_999 })
	void timerMovedToLessThanATickRunsOnce(long delay) {
		TimerHandle handle = this.wheel.schedule(this.task, 5, TimeUnit.MILLISECONDS);
		assertThat(handle.reschedule(delay, TimeUnit.NANOSECONDS)).isTrue();
		assertThat(this.task.count()).isZero();
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.task.count()).isOne();
		this.clock.advance(Duration.ofDays(1));
		assertThat(this.task.count()).isOne();
	}

	/** RussellLuo/timingwheel uses the wall clock, which may be set. */
	@Test
	void timeIsMonotonic() {
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			assertThat(wheel.timeSource()).isSameAs(TimeSource.system());
		}
		long before = System.nanoTime();
		long reading = TimeSource.system().nanoTime();
		assertThat(reading - before).isNotNegative();
		assertThat(System.nanoTime() - reading).isNotNegative();
	}

	/** RussellLuo/timingwheel #53: deadlock between flushing a bucket and adding. */
	@Test
	@Timeout(60)
	void tasksAndOtherThreadsMayUseTheWheelWhileItCascades() throws Exception {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).wheelSize(2).shards(1).timeSource(this.clock).build();
		AtomicReference<TimerHandle> last = new AtomicReference<>();
		Runnable busy = () -> {
			last.get().reschedule(3, TimeUnit.MILLISECONDS);
			wheel.schedule(NOTHING, 1, TimeUnit.MILLISECONDS).cancel();
			wheel.schedule(NOTHING, 100, TimeUnit.MILLISECONDS);
			wheel.snapshot();
		};
		last.set(wheel.schedule(NOTHING, 1, TimeUnit.DAYS));
		for (int i = 0; i < 5_000; i++) {
			wheel.schedule(busy, i, TimeUnit.MILLISECONDS);
		}
		ExecutorService pool = Executors.newFixedThreadPool(2);
		try {
			List<Future<?>> others = new ArrayList<>();
			for (int i = 0; i < 2; i++) {
				others.add(pool.submit(() -> {
					for (int n = 0; n < 20_000; n++) {
						wheel.schedule(NOTHING, n % 1_000, TimeUnit.MILLISECONDS);
					}
				}));
			}
			this.clock.advance(Duration.ofSeconds(6));
			for (Future<?> other : others) {
				other.get(60, TimeUnit.SECONDS);
			}
		}
		finally {
			pool.shutdownNow();
		}
		this.clock.advance(Duration.ofDays(2));
		assertThat(wheel.pending()).isZero();
	}

	/** xiaoxuxiansheng/timewheel, godis: a task added after Stop blocks for ever. */
	@Test
	@Timeout(60)
	void schedulingOnAStoppedWheelFailsAtOnce() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).build();
		TimerHandle handle = wheel.schedule(this.task, 1, TimeUnit.HOURS);
		wheel.stop();
		for (int i = 0; i < 1_000; i++) {
			assertThatExceptionOfType(RejectedExecutionException.class)
				.isThrownBy(() -> wheel.schedule(this.task, 1, TimeUnit.HOURS));
		}
		assertThat(handle.cancel()).isFalse();
		assertThat(wheel.stop()).isEmpty();
	}

	/**
	 * xiaoxuxiansheng/timewheel, godis: intervals below a second divide by zero.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 1, 999, 999_999, 1_000_000, 999_999_999 })
	void ticksBelowASecondWork(long tick) {
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.tick(Duration.ofNanos(tick))
			.timeSource(this.clock)
			.build();
		List<Long> expected = new ArrayList<>();
		for (int i = 1; i <= 100; i++) {
			wheel.schedule(this.task, tick * i, TimeUnit.NANOSECONDS);
			expected.add(tick * i);
		}
		this.clock.advance(Duration.ofNanos(tick * 100));
		assertThat(this.task.times()).isEqualTo(expected);
	}

	/**
	 * Netty visits far timers in each rotation: a million of them take 20 % of a core.
	 */
	@Test
	void farTimersAreNotVisitedBeforeTheirSlot() {
		for (int i = 0; i < 100_000; i++) {
			this.wheel.schedule(NOTHING, 60_000 + i % 1_000, TimeUnit.MILLISECONDS);
		}
		long[] before = levels();
		this.clock.advance(Duration.ofSeconds(50));
		assertThat(levels()).isEqualTo(before);
		assertThat(Arrays.stream(before).sum()).isEqualTo(100_000);
	}

	private long[] levels() {
		return this.wheel.snapshot().levels().stream().mapToLong(WheelSnapshot.Level::pending).toArray();
	}

}
