package io.timingwheel;

import java.time.Duration;
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

import io.timingwheel.TimerList.Chunk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for {@link Wheel}, step by step, since a caller of the public API cannot act
 * between two steps of a cascade.
 */
class WheelTests {

	private static final int STEP = Chunk.CAPACITY;

	private final ManualTimeSource source = new ManualTimeSource();

	/** A tick is a nanosecond. */
	private final WheelClock time = new WheelClock(this.source, 1);

	@Test
	void crowdedSlotCascadesBeforeItBeginsInBoundedSteps() {
		Wheel wheel = newWheel(256);
		long slot = 100 * 256;
		for (int i = 0; i < 200_000; i++) {
			place(wheel, slot + i % 256, 0);
		}
		assertThat(wheel.nextDue).isEqualTo(slot);
		// Otherwise the driver would stay parked until the slot begins.
		assertThat(wheel.nextWake).isEqualTo(slot - 256);
		long now = wheel.nextWake;
		long before = pending(wheel, 1);
		while (wheel.nextWake <= now) {
			assertThat(wheel.advance(now)).isNull();
			assertThat(before - pending(wheel, 1)).isBetween(0L, (long) STEP);
			before = pending(wheel, 1);
		}
		assertThat(pending(wheel, 0)).isEqualTo(200_000);
		assertThat(wheel.nextDue).isEqualTo(slot);
	}

	@Test
	void timerAddedAfterTheCascadeOfItsSlotGoesBehindItsTimers() {
		Wheel wheel = newWheel(256);
		Timer first = place(wheel, 3 * 256 + 9, 0);
		wheel.advance(wheel.nextWake);
		Timer second = place(wheel, 3 * 256 + 9, wheel.clock);
		assertThat(pending(wheel, 0)).isEqualTo(2);
		assertThat(expireAll(wheel, 3 * 256 + 9)).containsExactly(first, second);
	}

	@Test
	void overdueTimerLetsTheClockPassNoOccupiedSlot() {
		Wheel wheel = newWheel(4);
		Timer due = place(wheel, 10, 0);
		Timer overdue = place(wheel, 5, 20);
		new WheelInvariants(wheel, (any) -> false).check();
		assertThat(expireAll(wheel, 20)).containsExactly(overdue, due);
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 4, 8, 16, 64, 256 })
	void firesInOrderAndKeepsTheInvariantsWhateverHappensBetweenTwoSteps(int size) {
		long seed = Long.getLong("timingwheel.seed", new Random().nextLong());
		assertThatNoException().as("a random run, which -Dtimingwheel.seed=%d replays", seed)
			.isThrownBy(() -> new RandomSteps(seed, size).run());
	}

	private static List<Timer> expireAll(Wheel wheel, long now) {
		List<Timer> expired = new ArrayList<>();
		while (wheel.nextWake <= now) {
			expired.addAll(timers(wheel.advance(now)));
		}
		return expired;
	}

	private static List<Timer> timers(Chunk chunk) {
		List<Timer> timers = new ArrayList<>();
		if (chunk != null) {
			chunk.forEach(timers::add);
		}
		return timers;
	}

	private Wheel newWheel(int size) {
		return new Wheel(null, this.time, size);
	}

	private static Timer newTimer(long dueTick) {
		return new Timer(() -> {
		}, dueTick);
	}

	private Timer place(Wheel wheel, long dueTick, long now) {
		Timer timer = newTimer(dueTick);
		this.source.advance(Duration.ofNanos(Math.max(0, now - this.source.nanoTime())));
		wheel.place(timer, dueTick);
		return timer;
	}

	private static void remove(Wheel wheel, Timer timer) {
		wheel.remove(timer.list(), timer.place, timer.index);
	}

	private static long pending(Wheel wheel, int level) {
		HierarchicalTimingWheel.Totals totals = new HierarchicalTimingWheel.Totals(1 << wheel.bits);
		totals.add(wheel);
		return totals.levels(1).get(level).pending();
	}

	/**
	 * Random operations on a wheel, and on a map by due tick beside it. The wheel's
	 * invariants are checked after each of them.
	 */
	private final class RandomSteps {

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

		RandomSteps(long seed, int size) {
			this.random = new SplittableRandom(seed);
			this.size = size;
			this.wheel = newWheel(size);
			this.invariants = new WheelInvariants(this.wheel, this.moved::contains);
		}

		void run() {
			for (int round = 0; round < ROUNDS; round++) {
				this.now += (this.random.nextInt(4) == 0) ? this.random.nextInt(this.size * this.size)
						: this.random.nextInt(3);
				placeSome();
				for (int i = this.random.nextInt(3); i > 0 && !this.known.isEmpty(); i--) {
					Timer timer = this.known.get(this.random.nextInt(this.known.size()));
					if (timer.state() >= 0) {
						cancelOrMove(timer);
						this.invariants.check();
					}
				}
				for (int steps = this.random.nextInt(6); steps > 0 && this.wheel.nextWake <= this.now; steps--) {
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
				long dueTick = timer.state() + this.random.nextInt(this.size * this.size);
				if (this.moved.add(timer)) {
					timersAt(timer.state()).remove(timer);
				}
				timer.change(timer.state(), dueTick);
				return;
			}
			if (!this.moved.remove(timer)) {
				timersAt(timer.state()).remove(timer);
			}
			remove(this.wheel, timer);
			timer.end(0, Timer.CANCELLED);
		}

		private void advance() {
			List<Timer> timers = timers(this.wheel.advance(this.now));
			long tick = this.wheel.clock;
			this.invariants.check();
			for (Timer timer : timers) {
				if (!this.moved.contains(timer)) {
					assertFirst(timer, tick);
				}
				if (timer.expire(tick, Timer.FIRED)) {
					this.moved.remove(timer);
				}
				else {
					this.wheel.place(timer, timer.state());
					this.invariants.check();
				}
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
			while (this.wheel.nextWake <= this.now) {
				advance();
			}
			dropEmpty();
			assertThat(this.reference.isEmpty() || this.reference.firstKey() > this.now).as("no due timer is left")
				.isTrue();
			assertThat(this.moved).noneMatch((timer) -> timer.state() <= this.now);
			this.known.removeIf((timer) -> timer.state() < 0);
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
