package io.timingwheel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for {@link Wheel}, step by step, since a caller of the public API cannot act
 * between two steps of a cascade.
 */
class WheelTests {

	private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

	private static final int STEP = 512;

	@Test
	void crowdedSlotCascadesBeforeItBeginsInBoundedSteps() {
		Wheel wheel = new Wheel(256, MILLI);
		long slot = 100 * 256;
		for (int i = 0; i < 200_000; i++) {
			place(wheel, slot + i % 256, 0);
		}
		assertThat(wheel.nextDue()).isEqualTo(slot);
		assertThat(wheel.nextWake()).isBetween(slot - 50, slot - 25);
		long now = wheel.nextWake();
		long before = pending(wheel, 1);
		while (wheel.nextWake() <= now) {
			assertThat(wheel.advance(now).isEmpty()).isTrue();
			assertThat(before - pending(wheel, 1)).isBetween(0L, (long) STEP);
			before = pending(wheel, 1);
		}
		assertThat(pending(wheel, 0)).isEqualTo(200_000);
		assertThat(wheel.nextDue()).isEqualTo(slot);
	}

	/**
	 * Without this, the driver would stay parked until the slot begins.
	 */
	@Test
	void timersThatCrowdASlotWakeTheDriverForAnEarlyCascade() {
		Wheel wheel = new Wheel(256, MILLI);
		long awakeAt = Wheel.NEVER;
		for (int i = 0; i < 200_000; i++) {
			long dueTick = 100 * 256 + i % 256;
			awakeAt = Math.min(awakeAt, wheel.place(new Timer(null, () -> {
			}, dueTick), dueTick, 0));
		}
		assertThat(awakeAt).isLessThan(100 * 256).isLessThanOrEqualTo(wheel.nextWake());
	}

	@Test
	void timersThatCrowdASlotAgainAfterCancelsWakeTheDriverForAnEarlyCascade() {
		Wheel wheel = new Wheel(256, MILLI);
		long slot = 100 * 256;
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < 200_000; i++) {
			timers.add(place(wheel, slot + i % 256, 0));
		}
		timers.subList(1, timers.size()).forEach(wheel::remove);
		long now = wheel.nextWake();
		wheel.advance(now);
		assertThat(wheel.nextWake()).isEqualTo(slot);
		for (int i = 0; i < 200_000; i++) {
			place(wheel, slot + i % 256, now);
		}
		assertThat(wheel.nextWake()).isBetween(slot - 50, slot - 25);
	}

	@Test
	void sparseSlotCascadesWhenItBegins() {
		Wheel wheel = new Wheel(256, MILLI);
		for (int i = 0; i < 1000; i++) {
			place(wheel, 100 * 256 + 7, 0);
		}
		assertThat(wheel.nextWake()).isEqualTo(100 * 256);
	}

	@Test
	void slotThatIsDueComesBeforeAnEarlyCascadeOfAnotherShard() {
		Wheel crowded = new Wheel(256, MILLI);
		Wheel other = new Wheel(256, MILLI);
		WheelClock clock = new WheelClock(new ManualTimeSource(), MILLI);
		List<Wheel> wheels = List.of(crowded, other);
		Shards shards = new Shards(2, Long.MAX_VALUE,
				(shard) -> new Shard.Padded(clock, new Alarm(), new TaskErrors((task, error) -> {
				}), new WaitingTimers(), wheels.get(shard)));
		for (int i = 0; i < 200_000; i++) {
			place(crowded, 100 * 256 + i % 256, 0);
		}
		place(other, 100 * 256 - 5, 0);
		long now = 100 * 256 - 5;
		assertThat(crowded.nextWake()).isLessThan(now);
		shards.nextToServe(now).advance(now);
		Batch batch = shards.nextToServe(now).advance(now);
		assertThat(batch.poll()).as("after one step to cascade and one to expire").isNotNull();
		assertThat(pending(crowded, 1)).isEqualTo(200_000);
		batch.poll();
		shards.nextToServe(now).advance(now);
		assertThat(pending(crowded, 1)).as("while the other shard may get back a timer").isEqualTo(200_000);
		shards.nextToServe(now).advance(now);
		assertThat(pending(crowded, 1)).isEqualTo(200_000 - STEP);
	}

	@Test
	void timersAddedDuringAnEarlyCascadeOfTheirSlotKeepTheirPlace() {
		Wheel wheel = new Wheel(256, MILLI);
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < 100_000; i++) {
			timers.add(place(wheel, 3 * 256 + 9, 0));
		}
		long now = wheel.nextWake();
		while (wheel.nextWake() <= now) {
			wheel.advance(now);
			timers.add(place(wheel, 3 * 256 + 9, now));
		}
		// Not containsExactly, which compares 100,000 timers in more than a second.
		assertThat(expireAll(wheel, 3 * 256 + 9)).isEqualTo(timers);
	}

	@Test
	void timerAddedAfterAnEarlyCascadeOfItsSlotWaitsForTheSlotToBegin() {
		Wheel wheel = new Wheel(256, MILLI);
		for (int i = 0; i < 100_000; i++) {
			place(wheel, 3 * 256 + 9, 0);
		}
		long now = wheel.nextWake();
		while (wheel.nextWake() <= now) {
			wheel.advance(now);
		}
		place(wheel, 3 * 256 + 9, now);
		wheel.advance(now);
		assertThat(pending(wheel, 1)).isOne();
		assertThat(wheel.nextWake()).isEqualTo(3 * 256);
	}

	@Test
	void timerMovedOutOfASlotThatHasCascadedEarlyIsNotLate() {
		Wheel wheel = new Wheel(256, MILLI);
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < 100_000; i++) {
			timers.add(place(wheel, 3 * 256 + 9, 0));
		}
		long now = wheel.nextWake();
		while (wheel.nextWake() <= now) {
			wheel.advance(now);
		}
		Timer moved = timers.get(50_000);
		assertThat(moved.move(3 * 256 + 9, 3 * 256 - 1)).isTrue();
		assertThat(wheel.isTooLate(moved, 3 * 256 - 1)).isTrue();
		wheel.remove(moved);
		wheel.place(moved, 3 * 256 - 1, now);
		assertThat(expireAll(wheel, 3 * 256 - 1)).containsExactly(moved);
	}

	@Test
	void cancelOfATimerInHandLeavesTheWheelAsItIs() {
		Wheel wheel = new Wheel(4, MILLI);
		Timer timer = place(wheel, 2, 0);
		assertThat(wheel.advance(2).poll()).isSameAs(timer);
		// The second timer of a slot takes a chunk.
		Timer first = place(wheel, 100, 6);
		Timer second = place(wheel, 100, 6);
		assertThat(wheel.isTooLate(timer, 6)).isFalse();
		assertThat(timer.endCancelled()).isTrue();
		wheel.remove(timer);
		assertThat(expireAll(wheel, 100)).containsExactly(first, second);
	}

	@Test
	void nothingOvertakesATimerThatTheDriverPutsBack() {
		Wheel wheel = new Wheel(4, MILLI);
		Timer timer = place(wheel, 2, 0);
		Batch batch = wheel.advance(2);
		assertThat(batch.poll()).isSameAs(timer);
		Timer later = place(wheel, 9, 9);
		wheel.place(timer, 3, 2);
		assertThat(wheel.nextDue()).isLessThanOrEqualTo(3);
		assertThat(batch.poll()).isNull();
		assertThat(expireAll(wheel, 9)).containsExactly(timer, later);
	}

	@Test
	void crowdThatIsAddedWhileAChunkIsInHandLeavesTheInvariantsIntact() {
		Wheel wheel = new Wheel(4, MILLI);
		Timer timer = place(wheel, 2, 0);
		assertThat(wheel.advance(2).poll()).isSameAs(timer);
		for (int i = 0; i < 20_000; i++) {
			place(wheel, 1024, 2);
		}
		new WheelInvariants(wheel, (any) -> false).check();
	}

	@Test
	void chunksAreUsedAgainOnceTheirTimersHaveExpired() {
		Wheel wheel = new Wheel(4, MILLI);
		for (int tick = 1; tick <= 1_000; tick++) {
			Timer timer = place(wheel, tick, tick - 1);
			assertThat(expireAll(wheel, tick)).containsExactly(timer);
			assertThat(timer.position).isLessThan(3 * Chunk.CAPACITY);
		}
	}

	/**
	 * Cancels empty the slot that cascades. Then so many timers come in that the wheel
	 * plans anew before the driver's next step.
	 */
	@Test
	void cancelsThatEmptyACascadingSlotLeaveTheInvariantsIntact() {
		Wheel wheel = new Wheel(4, MILLI);
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < 2 * STEP; i++) {
			timers.add(place(wheel, 16 + 7, 0));
		}
		wheel.advance(16);
		assertThat(wheel.cascading).isEqualTo(2);
		for (Timer timer : timers) {
			timer.endCancelled();
			wheel.remove(timer);
		}
		WheelInvariants invariants = new WheelInvariants(wheel, (timer) -> false);
		for (int i = 0; i < 20_000; i++) {
			place(wheel, 16 + 1024, 16);
		}
		invariants.check();
		Timer due = place(wheel, 18, 19);
		invariants.check();
		assertThat(expireAll(wheel, 20)).containsExactly(due);
	}

	@ParameterizedTest
	@CsvSource({ "2, 1", "2, 64", "4, 1", "4, 64", "8, 1", "16, 64", "64, 1", "256, 64", "256, 1000000" })
	void firesInOrderAndKeepsTheInvariantsWhateverHappensBetweenTwoSteps(int size, long tickNanos) {
		long seed = Long.getLong("timingwheel.seed", new Random().nextLong());
		assertThatNoException().as("a random run, which -Dtimingwheel.seed=%d replays", seed)
			.isThrownBy(() -> new RandomSteps(seed, size, tickNanos).run());
	}

	private static List<Timer> expireAll(Wheel wheel, long now) {
		List<Timer> expired = new ArrayList<>();
		while (wheel.nextWake() <= now) {
			Batch batch = wheel.advance(now);
			for (Timer timer = batch.poll(); timer != null; timer = batch.poll()) {
				expired.add(timer);
			}
		}
		return expired;
	}

	/**
	 * A caller that gives a deadline has not read the clock.
	 */
	@Test
	void placeIsTheSameWithoutTheCurrentTickUnlessTheWheelAsksForIt() {
		SplittableRandom random = new SplittableRandom(1);
		int asked = 0;
		for (int round = 0; round < 500; round++) {
			Wheel exact = new Wheel(4, MILLI);
			Wheel other = new Wheel(4, MILLI);
			long now = 0;
			for (int step = 0; step < 60; step++) {
				now += random.nextInt(1 << random.nextInt(1, 9));
				List<Timer> expected = expireAll(exact, now);
				assertThat(expireAll(other, now)).extracting(Timer::dueTick)
					.containsExactlyElementsOf(expected.stream().map(Timer::dueTick).toList());
				now += random.nextInt(3);
				long dueTick = now + random.nextInt(1 << random.nextInt(1, 9));
				place(exact, dueTick, now);
				Timer timer = new Timer(null, () -> {
				}, dueTick);
				if (other.placeWithoutNow(timer, dueTick) == Wheel.NEEDS_NOW) {
					other.place(timer, dueTick, now);
					asked++;
				}
				assertThat(other.nextDue()).isEqualTo(exact.nextDue());
				WheelTotals exactTotals = new WheelTotals();
				exact.addTo(exactTotals);
				WheelTotals otherTotals = new WheelTotals();
				other.addTo(otherTotals);
				assertThat(otherTotals.levels(1, 4)).isEqualTo(exactTotals.levels(1, 4));
			}
		}
		assertThat(asked).isBetween(1, 500 * 60 - 1);
	}

	private static Timer place(Wheel wheel, long dueTick, long now) {
		Timer timer = new Timer(null, () -> {
		}, dueTick);
		wheel.place(timer, dueTick, now);
		return timer;
	}

	private static long pending(Wheel wheel, int level) {
		WheelTotals totals = new WheelTotals();
		wheel.addTo(totals);
		return totals.levels(1, 2).get(level).pending();
	}

	/**
	 * Random operations on a wheel, and on a map by due tick beside it. The wheel's
	 * invariants are checked after each of them.
	 */
	private static final class RandomSteps {

		private static final int ROUNDS = 4_000;

		private static final int MAX_DELAY = 1 << 17;

		private final SplittableRandom random;

		private final int size;

		private final Wheel wheel;

		private final Set<Timer> moved = Collections.newSetFromMap(new IdentityHashMap<>());

		private final WheelInvariants invariants;

		private final TreeMap<Long, Deque<Timer>> reference = new TreeMap<>();

		private final List<Timer> known = new ArrayList<>();

		private long now;

		RandomSteps(long seed, int size, long tickNanos) {
			this.random = new SplittableRandom(seed);
			this.size = size;
			this.wheel = new Wheel(size, tickNanos);
			this.invariants = new WheelInvariants(this.wheel, this.moved::contains);
		}

		void run() {
			for (int round = 0; round < ROUNDS; round++) {
				this.now += (this.random.nextInt(4) == 0) ? this.random.nextInt(this.size * this.size)
						: this.random.nextInt(3);
				placeSome();
				for (int i = this.random.nextInt(3); i > 0 && !this.known.isEmpty(); i--) {
					Timer timer = this.known.get(this.random.nextInt(this.known.size()));
					if (timer.dueTick() >= 0) {
						cancelOrMove(timer);
						this.invariants.check();
					}
				}
				for (int steps = this.random.nextInt(6); steps > 0 && this.wheel.nextWake() <= this.now; steps--) {
					advance();
				}
				if (this.random.nextInt(8) == 0) {
					catchUp();
				}
			}
		}

		private void placeSome() {
			int count = (this.random.nextInt(100) == 0) ? 2_000 : this.random.nextInt(4);
			long common = this.now + 1 + this.random.nextInt(2 * this.size * this.size);
			for (int i = 0; i < count; i++) {
				long dueTick = this.random.nextBoolean() ? common
						: this.now + this.random.nextInt(Math.min(MAX_DELAY, this.size * this.size * this.size));
				Timer timer = place(this.wheel, dueTick, this.now);
				timersAt(dueTick).add(timer);
				this.known.add(timer);
			}
			this.invariants.check();
		}

		/**
		 * A timer that was moved to later is only expected not to be lost and not to fire
		 * early: its order among timers with the same due tick is not promised.
		 */
		private void cancelOrMove(Timer timer) {
			if (this.random.nextInt(4) == 0) {
				long dueTick = timer.dueTick() + this.random.nextInt(this.size * this.size);
				if (this.moved.add(timer)) {
					timersAt(timer.dueTick()).remove(timer);
				}
				timer.move(timer.dueTick(), dueTick);
				return;
			}
			if (!this.moved.remove(timer)) {
				timersAt(timer.dueTick()).remove(timer);
			}
			timer.endCancelled();
			this.wheel.remove(timer);
		}

		private void advance() {
			Batch batch = this.wheel.advance(this.now);
			this.invariants.check();
			for (Timer timer = batch.poll(); timer != null; timer = batch.poll()) {
				if (!this.moved.contains(timer)) {
					assertFirst(timer, batch.tick());
				}
				if (timer.expire(batch.tick())) {
					this.moved.remove(timer);
				}
				else {
					batch.keepCurrent(null);
				}
			}
			for (Timer timer = batch.nextKept(); timer != null; timer = batch.nextKept()) {
				this.wheel.place(timer, timer.dueTick(), batch.tick());
				batch.dropKept();
				this.invariants.check();
			}
		}

		private void assertFirst(Timer timer, long tick) {
			dropEmpty();
			long first = this.reference.firstKey();
			assertThat(tick).isBetween(first, Math.max(this.now, first));
			assertThat(this.reference.firstEntry().getValue().poll()).as("the first timer of tick %d", first)
				.isSameAs(timer);
		}

		private void catchUp() {
			while (this.wheel.nextWake() <= this.now) {
				advance();
			}
			dropEmpty();
			assertThat(this.reference.isEmpty() || this.reference.firstKey() > this.now).as("no due timer is left")
				.isTrue();
			assertThat(this.moved).noneMatch((timer) -> timer.dueTick() <= this.now);
			this.known.removeIf((timer) -> timer.dueTick() < 0);
		}

		private Deque<Timer> timersAt(long dueTick) {
			return this.reference.computeIfAbsent(dueTick, (key) -> new ArrayDeque<>());
		}

		private void dropEmpty() {
			while (!this.reference.isEmpty() && this.reference.firstEntry().getValue().isEmpty()) {
				this.reference.pollFirstEntry();
			}
		}

	}

}
