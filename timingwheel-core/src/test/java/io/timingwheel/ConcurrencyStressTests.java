package io.timingwheel;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Threads that race on the same timers. Each timer must end in exactly one way, and what
 * a method has returned must hold.
 */
class ConcurrencyStressTests {

	private static final int ROUNDS = 400;

	private static final int TIMERS = 50;

	private static final long TICK = 50_000;

	private final ExecutorService pool = Executors.newCachedThreadPool();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run)
		.tick(Duration.ofNanos(TICK))
		.wheelSize(4)
		.shards(2)
		.build();

	@AfterEach
	void shutDown() {
		this.wheel.close();
		this.pool.shutdownNow();
	}

	/**
	 * After half a second the loop is compiled. The code of the second compiler would
	 * read a plain field only once.
	 */
	@Test
	void loopThatQueriesATimerNoticesItsEnd() {
		TimerHandle handle = this.wheel.schedule(() -> {
		}, 1, TimeUnit.HOURS);
		Thread looking = new Thread(() -> {
			while (handle.isPending()) {
				// Nothing here forces another read of the field.
			}
		});
		looking.setDaemon(true);
		looking.start();
		await().until(() -> ManagementFactory.getThreadMXBean().getThreadCpuTime(looking.getId()) > 500_000_000);
		handle.cancel();
		Latches.join(looking);
	}

	@Test
	void timerIsEitherCancelledOrFires() {
		List<Contender> contenders = raceWithTheDriver((contender) -> contender.cancelled = contender.handle.cancel(),
				(contender) -> contender.cancelled);
		assertThat(contenders).allMatch((contender) -> contender.runs.get() == (contender.cancelled ? 0 : 1));
		long cancelled = contenders.stream().filter((contender) -> contender.cancelled).count();
		WheelSnapshot snapshot = this.wheel.snapshot();
		assertThat(snapshot.cancelled()).isEqualTo(cancelled);
		assertThat(snapshot.fired()).isEqualTo(contenders.size() - cancelled);
		// Otherwise no thread has raced with the driver.
		assertThat(cancelled).isBetween(1L, contenders.size() - 1L);
	}

	@ParameterizedTest
	@ValueSource(longs = { TICK, 20 * TICK })
	void timerThatWasMovedFiresOnceAndNotBeforeItsNewDeadline(long delay) {
		List<Contender> contenders = raceWithTheDriver((contender) -> {
			long newDeadline = System.nanoTime() + delay;
			if (contender.handle.reschedule(delay, TimeUnit.NANOSECONDS)) {
				contender.deadline = newDeadline;
				contender.moved = true;
			}
		}, (contender) -> contender.moved);
		assertThat(contenders).allMatch((contender) -> contender.runs.get() == 1)
			.allMatch((contender) -> contender.ranAt - contender.deadline >= 0);
		long moved = contenders.stream().filter((contender) -> contender.moved).count();
		assertThat(this.wheel.snapshot().rescheduled()).isEqualTo(moved);
		assertThat(this.wheel.snapshot().fired()).isEqualTo(contenders.size());
		assertThat(moved).isBetween(1L, contenders.size() - 1L);
	}

	/**
	 * One thread moves the timers, another cancels them, and the driver fires them.
	 */
	@Test
	void timerThatWasCancelledNeverMovesNorFires() {
		List<Contender> contenders = new ArrayList<>();
		RandomGenerator random = new SplittableRandom(1);
		for (int round = 0; round < ROUNDS; round++) {
			List<Contender> timers = schedule(random.nextLong(10 * TICK));
			contenders.addAll(timers);
			inParallel((thread) -> {
				ThreadLocalRandom local = ThreadLocalRandom.current();
				for (Contender contender : timers) {
					if (thread == 0) {
						contender.handle.reschedule(local.nextLong(10 * TICK), TimeUnit.NANOSECONDS);
						contender.handle.reschedule(local.nextLong(10 * TICK), TimeUnit.NANOSECONDS);
					}
					else if (contender.handle.cancel()) {
						contender.cancelled = true;
						contender.movedAfterCancel = contender.handle.reschedule(0, TimeUnit.NANOSECONDS);
					}
				}
			}, 2);
		}
		await().until(() -> this.wheel.pending() == 0);
		assertThat(contenders).noneMatch((contender) -> contender.movedAfterCancel)
			.allMatch((contender) -> contender.runs.get() == (contender.cancelled ? 0 : 1));
		long cancelled = contenders.stream().filter((contender) -> contender.cancelled).count();
		assertThat(this.wheel.snapshot().cancelled()).isEqualTo(cancelled);
		assertThat(this.wheel.snapshot().fired()).isEqualTo(contenders.size() - cancelled);
	}

	@Test
	void timerThatSeveralThreadsMoveFiresOnce() {
		List<Contender> contenders = new ArrayList<>();
		RandomGenerator random = new SplittableRandom(2);
		AtomicInteger moved = new AtomicInteger();
		for (int round = 0; round < ROUNDS; round++) {
			List<Contender> timers = schedule(random.nextLong(20 * TICK));
			contenders.addAll(timers);
			inParallel((thread) -> {
				ThreadLocalRandom local = ThreadLocalRandom.current();
				for (Contender contender : timers) {
					if (contender.handle.reschedule(local.nextLong(20 * TICK), TimeUnit.NANOSECONDS)) {
						moved.incrementAndGet();
					}
				}
			}, 3);
		}
		await().until(() -> this.wheel.pending() == 0);
		assertThat(contenders).allMatch((contender) -> contender.runs.get() == 1);
		assertThat(this.wheel.snapshot().rescheduled()).isEqualTo(moved.get()).isPositive();
	}

	/**
	 * Threads schedule, move and cancel without a pause, while the clock passes slots of
	 * all levels.
	 */
	@ParameterizedTest
	@CsvSource({ "2, 1", "4, 4", "256, 4" })
	void eachTimerEndsInOneWayWhileTheClockRuns(int wheelSize, int shards) throws Exception {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.wheelSize(wheelSize)
			.shards(shards)
			.timeSource(clock)
			.build();
		AtomicBoolean done = new AtomicBoolean();
		CountDownLatch begun = new CountDownLatch(3);
		List<Future<List<Contender>>> churning = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			Random random = new Random(i);
			churning.add(this.pool.submit(() -> {
				List<Contender> contenders = new ArrayList<>();
				begun.countDown();
				while (!done.get() && contenders.size() < 200_000) {
					churn(wheel, clock, random, contenders);
				}
				return contenders;
			}));
		}
		Latches.await(begun);
		Random random = new Random(42);
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(600);
		while (System.nanoTime() - end < 0) {
			clock.advance(Duration.ofNanos(random.nextLong(1L << random.nextInt(34))));
			assertThat(wheel.pending()).isNotNegative();
		}
		done.set(true);
		List<Contender> contenders = new ArrayList<>();
		for (Future<List<Contender>> each : churning) {
			contenders.addAll(each.get(60, TimeUnit.SECONDS));
		}
		clock.advance(Duration.ofDays(365));
		assertThat(wheel.pending()).isZero();
		assertThat(contenders).isNotEmpty()
			.allMatch((contender) -> contender.runs.get() == (contender.cancelled ? 0 : 1))
			.allMatch((contender) -> contender.cancelled || contender.ranAt >= contender.deadline);
		assertThat(wheel.snapshot().scheduled()).isEqualTo(contenders.size());
	}

	private static void churn(TimingWheel wheel, ManualTimeSource clock, Random random, List<Contender> contenders) {
		Contender contender = new Contender(clock);
		long delay = random.nextLong(1L << random.nextInt(36));
		contender.deadline = clock.nanoTime() + delay;
		contender.handle = random.nextBoolean() ? wheel.scheduleAt(contender, contender.deadline)
				: wheel.schedule(contender, delay, TimeUnit.NANOSECONDS);
		contenders.add(contender);
		Contender other = contenders.get(random.nextInt(contenders.size()));
		switch (random.nextInt(4)) {
			case 0 -> other.cancelled |= other.handle.cancel();
			case 1, 2 -> {
				long newDelay = random.nextLong(1L << random.nextInt(36));
				long newDeadline = clock.nanoTime() + newDelay;
				if (random.nextBoolean() ? other.handle.rescheduleAt(newDeadline)
						: other.handle.reschedule(newDelay, TimeUnit.NANOSECONDS)) {
					other.deadline = newDeadline;
				}
			}
			default -> other.handle.isPending();
		}
	}

	/**
	 * The slot holds more timers than the wheel moves in one step. Others with the same
	 * deadline are added between the steps.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 2, 4, 64 })
	void timersAddedWhileTheirSlotCascadesDoNotOvertakeThoseInIt(int wheelSize) throws Exception {
		ManualTimeSource clock = new ManualTimeSource();
		TimingWheel wheel = TimingWheel.builder(Runnable::run).wheelSize(wheelSize).shards(2).timeSource(clock).build();
		long startOfSlot = TimeUnit.MILLISECONDS.toNanos((long) wheelSize * wheelSize * wheelSize);
		long deadline = startOfSlot + TimeUnit.MILLISECONDS.toNanos(1);
		AtomicBoolean done = new AtomicBoolean();
		AtomicInteger ready = new AtomicInteger();
		List<List<Integer>> fired = List.of(new ArrayList<>(), new ArrayList<>());
		List<Future<Integer>> adders = new ArrayList<>();
		for (List<Integer> order : fired) {
			adders.add(this.pool.submit(() -> {
				int id = 0;
				while (id < 50_000 || (!done.get() && id < 300_000)) {
					if (id == 50_000) {
						ready.incrementAndGet();
					}
					int next = id++;
					long now = clock.nanoTime();
					TimerHandle handle = wheel.schedule(() -> order.add(next), deadline - now, TimeUnit.NANOSECONDS);
					if (clock.nanoTime() != now) {
						// The deadline may be another one.
						handle.cancel();
					}
				}
				return id;
			}));
		}
		await().pollInterval(Duration.ofMillis(1)).until(() -> ready.get() == 2);
		clock.advance(Duration.ofNanos(startOfSlot));
		done.set(true);
		for (Future<Integer> adder : adders) {
			assertThat(adder.get(60, TimeUnit.SECONDS)).isGreaterThan(50_000);
		}
		clock.advance(Duration.ofNanos(deadline - startOfSlot));
		assertThat(wheel.pending()).isZero();
		assertThat(fired).allSatisfy((order) -> assertThat(order).hasSizeGreaterThan(49_000).isSorted());
	}

	/**
	 * The driver moves the timers from slot to slot, 512 at a time.
	 */
	@ParameterizedTest
	@EnumSource
	void timersThatCascadeCanBeCancelledAndMoved(Action action) {
		List<Contender> contenders = new ArrayList<>();
		int acted = 0;
		for (int round = 0; round < 60 || (round < 300 && (acted == 0 || acted == contenders.size())); round++) {
			ManualTimeSource clock = new ManualTimeSource();
			TimingWheel wheel = TimingWheel.builder(Runnable::run).wheelSize(4).shards(1).timeSource(clock).build();
			List<Contender> timers = new ArrayList<>();
			long deadline = TimeUnit.MILLISECONDS.toNanos(64 + 27);
			for (int i = 0; i < 2_000; i++) {
				Contender contender = new Contender(clock);
				contender.deadline = deadline;
				contender.handle = wheel.schedule(contender, deadline, TimeUnit.NANOSECONDS);
				timers.add(contender);
			}
			clock.advance(Duration.ofMillis(63));
			Collections.shuffle(timers, new Random(round));
			inParallel((thread) -> {
				if (thread == 0) {
					for (int tick = 0; tick < 32; tick++) {
						clock.advance(Duration.ofMillis(1));
					}
				}
				else {
					timers.forEach((contender) -> action.act(contender, clock));
				}
			}, 2);
			clock.advance(Duration.ofHours(2));
			assertThat(wheel.pending()).isZero();
			acted += (int) timers.stream().filter((contender) -> contender.cancelled || contender.moved).count();
			contenders.addAll(timers);
		}
		assertThat(contenders).allMatch((contender) -> contender.runs.get() == (contender.cancelled ? 0 : 1))
			.allMatch((contender) -> contender.cancelled || contender.ranAt >= contender.deadline);
		// Otherwise no thread has raced with the driver.
		assertThat(acted).isBetween(1, contenders.size() - 1);
	}

	/**
	 * No other timer is pending that could make up for a lost wake-up.
	 */
	@Test
	void timerAddedWhileTheDriverGoesToSleepFires() {
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).tick(Duration.ofNanos(1_000)).build()) {
			AtomicInteger ran = new AtomicInteger();
			RandomGenerator random = new SplittableRandom(3);
			long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
			for (int round = 1; System.nanoTime() - end < 0; round++) {
				wheel.schedule(ran::incrementAndGet, 0, TimeUnit.NANOSECONDS);
				long lost = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
				while (ran.get() != round && System.nanoTime() - lost < 0) {
					Thread.onSpinWait();
				}
				assertThat(ran).hasValue(round);
				long asleep = System.nanoTime() + random.nextInt(600);
				while (System.nanoTime() - asleep < 0) {
					// The driver is about to park.
				}
			}
		}
	}

	/**
	 * Acts on timers at about their deadlines. A machine under load may need more rounds
	 * until each side has won once.
	 */
	private List<Contender> raceWithTheDriver(Consumer<Contender> action, Predicate<Contender> inTime) {
		List<Contender> contenders = new ArrayList<>();
		RandomGenerator random = new SplittableRandom(0);
		boolean bothHaveWon = false;
		for (int round = 0; round < ROUNDS || (round < 10 * ROUNDS && !bothHaveWon); round++) {
			long delay = random.nextLong(4 * TICK);
			List<Contender> timers = schedule(delay);
			long end = System.nanoTime() + delay + random.nextLong(2 * TICK);
			while (System.nanoTime() - end < 0) {
				Thread.onSpinWait();
			}
			timers.forEach(action);
			contenders.addAll(timers);
			bothHaveWon = bothHaveWon
					|| (contenders.stream().anyMatch(inTime) && !contenders.stream().allMatch(inTime));
		}
		await().until(() -> this.wheel.pending() == 0);
		return contenders;
	}

	private List<Contender> schedule(long delay) {
		List<Contender> timers = new ArrayList<>();
		for (int i = 0; i < TIMERS; i++) {
			Contender contender = new Contender(TimeSource.system());
			contender.deadline = System.nanoTime() + delay;
			contender.handle = this.wheel.schedule(contender, delay, TimeUnit.NANOSECONDS);
			timers.add(contender);
		}
		return timers;
	}

	private void inParallel(IntConsumer action, int threads) {
		List<Callable<Void>> actions = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			int thread = i;
			actions.add(() -> {
				action.accept(thread);
				return null;
			});
		}
		try {
			for (Future<Void> result : this.pool.invokeAll(actions)) {
				result.get();
			}
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
	}

	private enum Action {

		CANCEL {

			@Override
			void act(Contender contender, TimeSource clock) {
				contender.cancelled = contender.handle.cancel();
			}

		},

		MOVE_TO_LATER {

			@Override
			void act(Contender contender, TimeSource clock) {
				move(contender, clock, TimeUnit.HOURS.toNanos(1));
			}

		},

		MOVE_TO_SOONER {

			@Override
			void act(Contender contender, TimeSource clock) {
				move(contender, clock, TimeUnit.MILLISECONDS.toNanos(1));
			}

		};

		abstract void act(Contender contender, TimeSource clock);

		static void move(Contender contender, TimeSource clock, long delay) {
			long deadline = clock.nanoTime() + delay;
			contender.moved = contender.handle.reschedule(delay, TimeUnit.NANOSECONDS);
			if (contender.moved) {
				contender.deadline = deadline;
			}
		}

	}

	private static final class Contender implements Runnable {

		private final TimeSource clock;

		private final AtomicInteger runs = new AtomicInteger();

		private TimerHandle handle;

		private volatile long deadline;

		private volatile long ranAt;

		private volatile boolean cancelled;

		private volatile boolean moved;

		private volatile boolean movedAfterCancel;

		Contender(TimeSource clock) {
			this.clock = clock;
		}

		@Override
		public void run() {
			this.ranAt = this.clock.nanoTime();
			this.runs.incrementAndGet();
		}

	}

}
