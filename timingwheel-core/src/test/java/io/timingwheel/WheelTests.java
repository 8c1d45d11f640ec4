package io.timingwheel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Wheel}, step by step: what happens between two bounded steps of a
 * cascade cannot be seen from outside.
 */
class WheelTests {

	private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

	private static final int STEP = 512;

	private final Batch batch = new Batch();

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
			wheel.advance(now, this.batch);
			assertThat(before - pending(wheel, 1)).isBetween(0L, (long) STEP);
			before = pending(wheel, 1);
		}
		assertThat(this.batch.isEmpty()).isTrue();
		assertThat(pending(wheel, 0)).isEqualTo(200_000);
		assertThat(wheel.nextDue()).isEqualTo(slot);
	}

	/**
	 * The driver may be parked until the slot begins.
	 */
	@Test
	void timersThatCrowdASlotWakeTheDriverToPrepareIt() {
		Wheel wheel = new Wheel(256, MILLI);
		long awakeAt = Wheel.NEVER;
		for (int i = 0; i < 200_000; i++) {
			long when = 100 * 256 + i % 256;
			awakeAt = Math.min(awakeAt, wheel.place(new Timer(null, () -> {
			}, when), when, 0));
		}
		assertThat(awakeAt).isLessThan(100 * 256).isLessThanOrEqualTo(wheel.nextWake());
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
	void whatIsDueComesBeforeWhatCanBePrepared() {
		Wheel crowded = new Wheel(256, MILLI);
		Wheel other = new Wheel(256, MILLI);
		WheelClock clock = new WheelClock(new ManualTimeSource(), MILLI);
		List<Wheel> wheels = List.of(crowded, other);
		Shards shards = new Shards(2, Long.MAX_VALUE,
				(shard) -> new Shard(clock, new Alarm(), new TaskErrors((task, error) -> {
				}), wheels.get(shard)));
		for (int i = 0; i < 200_000; i++) {
			place(crowded, 100 * 256 + i % 256, 0);
		}
		place(other, 100 * 256 - 5, 0);
		long now = 100 * 256 - 5;
		assertThat(crowded.nextWake()).isLessThan(now);
		shards.first(now).advance(now, this.batch);
		shards.first(now).advance(now, this.batch);
		assertThat(this.batch.poll()).as("one step to cascade, one to expire, none for the crowd").isNotNull();
		assertThat(pending(crowded, 1)).isEqualTo(200_000);
		this.batch.poll();
		shards.first(now).advance(now, this.batch);
		assertThat(pending(crowded, 1)).as("the other may still get back what expired").isEqualTo(200_000);
		shards.first(now).advance(now, this.batch);
		assertThat(pending(crowded, 1)).isEqualTo(200_000 - STEP);
	}

	@Test
	void timersAddedWhileTheirSlotIsBeingPreparedKeepTheirPlace() {
		Wheel wheel = new Wheel(256, MILLI);
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < 100_000; i++) {
			timers.add(place(wheel, 3 * 256 + 9, 0));
		}
		long now = wheel.nextWake();
		while (wheel.nextWake() <= now) {
			wheel.advance(now, this.batch);
			timers.add(place(wheel, 3 * 256 + 9, now));
		}
		assertThat(expireAll(wheel, 3 * 256 + 9)).containsExactlyElementsOf(timers);
	}

	@Test
	void timerMovedOutOfAPreparedSlotIsNotLate() {
		Wheel wheel = new Wheel(256, MILLI);
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < 100_000; i++) {
			timers.add(place(wheel, 3 * 256 + 9, 0));
		}
		long now = wheel.nextWake();
		while (wheel.nextWake() <= now) {
			wheel.advance(now, this.batch);
		}
		Timer moved = timers.get(50_000);
		assertThat(moved.move(3 * 256 + 9, 3 * 256 - 1)).isTrue();
		assertThat(wheel.isTooLate(moved, 3 * 256 - 1)).isTrue();
		wheel.remove(moved);
		wheel.place(moved, 3 * 256 - 1, now);
		assertThat(expireAll(wheel, 3 * 256 - 1)).containsExactly(moved);
	}

	@Test
	void timerInHandIsNeitherUnlinkedNorLinkedAnewHoweverLongItIsHeld() {
		Wheel wheel = new Wheel(4, MILLI);
		Timer timer = place(wheel, 2, 0);
		wheel.advance(2, this.batch);
		assertThat(this.batch.poll()).isSameAs(timer);
		place(wheel, 100, 6);
		assertThat(wheel.isTooLate(timer, 6)).isFalse();
		assertThat(timer.endCancelled()).isTrue();
		wheel.remove(timer);
		assertThat(expireAll(wheel, 100)).hasSize(1);
	}

	@Test
	void nothingOvertakesATimerThatTheDriverPutsBack() {
		Wheel wheel = new Wheel(4, MILLI);
		Timer timer = place(wheel, 2, 0);
		wheel.advance(2, this.batch);
		assertThat(this.batch.poll()).isSameAs(timer);
		Timer later = place(wheel, 9, 9);
		wheel.place(timer, 3, 2);
		assertThat(wheel.nextDue()).isLessThanOrEqualTo(3);
		assertThat(this.batch.poll()).isNull();
		assertThat(expireAll(wheel, 9)).containsExactly(timer, later);
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

	@ParameterizedTest
	@CsvSource({ "2, 1", "2, 64", "4, 1", "4, 64", "8, 1", "16, 64", "64, 1", "256, 64", "256, 1000000" })
	void firesInOrderWhateverHappensBetweenTwoSteps(int size, long tickNanos) {
		long seed = Long.getLong("timingwheel.seed", new Random().nextLong());
		SplittableRandom random = new SplittableRandom(seed);
		Wheel wheel = new Wheel(size, tickNanos);
		TreeMap<Long, Deque<Timer>> reference = new TreeMap<>();
		List<Timer> known = new ArrayList<>();
		long now = 0;
		for (int round = 0; round < 4000; round++) {
			now += random.nextInt(4) == 0 ? random.nextInt(size * size) : random.nextInt(3);
			int adds = (random.nextInt(100) == 0) ? 2000 : random.nextInt(4);
			long common = now + 1 + random.nextInt(2 * size * size);
			for (int i = 0; i < adds; i++) {
				long when = random.nextBoolean() ? common : now + random.nextInt(size * size * size);
				Timer timer = place(wheel, when, now);
				reference.computeIfAbsent(when, (key) -> new ArrayDeque<>()).add(timer);
				known.add(timer);
			}
			for (int i = random.nextInt(3); i > 0 && !known.isEmpty(); i--) {
				Timer timer = known.get(random.nextInt(known.size()));
				Deque<Timer> timers = reference.get(timer.when());
				if (timer.when() >= 0 && timers != null && timers.remove(timer)) {
					wheel.remove(timer);
					timer.endCancelled();
				}
			}
			for (int steps = random.nextInt(6); steps > 0 && wheel.nextWake() <= now; steps--) {
				wheel.advance(now, this.batch);
				for (Timer timer = this.batch.poll(); timer != null; timer = this.batch.poll()) {
					dropEmpty(reference);
					assertThat(reference).as("seed %d", seed).isNotEmpty();
					assertThat(this.batch.tick()).as("seed %d", seed)
						.isBetween(reference.firstKey(), Math.max(now, reference.firstKey()));
					Deque<Timer> first = reference.firstEntry().getValue();
					assertThat(first.peek()).as("seed %d, tick %d", seed, reference.firstKey()).isSameAs(timer);
					first.poll();
					assertThat(timer.expire(this.batch.tick())).isTrue();
				}
			}
			if (random.nextInt(8) == 0) {
				while (wheel.nextWake() <= now) {
					wheel.advance(now, this.batch);
					for (Timer timer = this.batch.poll(); timer != null; timer = this.batch.poll()) {
						dropEmpty(reference);
						assertThat(reference.firstEntry().getValue().poll()).as("seed %d", seed).isSameAs(timer);
						assertThat(timer.expire(this.batch.tick())).isTrue();
					}
				}
				dropEmpty(reference);
				assertThat(reference.isEmpty() || reference.firstKey() > now).as("seed %d: nothing due is left", seed)
					.isTrue();
				known.removeIf((timer) -> timer.when() < 0);
			}
		}
	}

	private static void dropEmpty(TreeMap<Long, Deque<Timer>> reference) {
		while (!reference.isEmpty() && reference.firstEntry().getValue().isEmpty()) {
			reference.pollFirstEntry();
		}
	}

	private List<Timer> expireAll(Wheel wheel, long now) {
		List<Timer> expired = new ArrayList<>();
		while (wheel.nextWake() <= now) {
			wheel.advance(now, this.batch);
			for (Timer timer = this.batch.poll(); timer != null; timer = this.batch.poll()) {
				expired.add(timer);
			}
		}
		return expired;
	}

	private static Timer place(Wheel wheel, long when, long now) {
		Timer timer = new Timer(null, () -> {
		}, when);
		wheel.place(timer, when, now);
		return timer;
	}

	private static long pending(Wheel wheel, int level) {
		WheelTotals totals = new WheelTotals();
		wheel.addTo(totals);
		return totals.levels(1, 2).get(level).pending();
	}

}
