package io.timingwheel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Ring}, above all for cancels and the holes that they leave in chunks.
 */
class RingTests {

	private static final int SLOT = 3;

	private final Chunks chunks = new Chunks();

	private final Ring ring = new Ring(this.chunks, 16, 8);

	@Test
	void randomCancelsKeepTheOrderAndLeaveFewHoles() {
		long seed = Long.getLong("timingwheel.seed", new Random().nextLong());
		Random random = new Random(seed);
		List<Timer> timers = append(20_000);
		List<Timer> cancelled = new ArrayList<>(timers);
		Collections.shuffle(cancelled, random);
		while (!cancelled.isEmpty()) {
			remove(cancelled.remove(cancelled.size() - 1));
			if (cancelled.size() % 1_000 == 0) {
				List<Timer> left = new ArrayList<>(timers);
				left.retainAll(new HashSet<>(cancelled));
				assertThat(contents()).as("seed %d", seed).containsExactlyElementsOf(left);
				assertThat(places()).as("seed %d, %d left", seed, left.size())
					.isLessThanOrEqualTo(4 * left.size() + 2 * Chunk.CAPACITY);
			}
		}
		assertThat(this.ring.isOccupied(SLOT)).isFalse();
		assertThat(this.ring.nextOccupied(0)).isEqualTo(-1);
	}

	@Test
	void timersCancelledInTheirOrderLeaveNoHoles() {
		Deque<Timer> pending = new ArrayDeque<>(append(1_000));
		for (int i = 0; i < 100_000; i++) {
			pending.addAll(append(1));
			remove(pending.remove());
		}
		assertThat(contents()).containsExactlyElementsOf(pending);
		assertThat(places()).isLessThanOrEqualTo(1_000 + 2 * Chunk.CAPACITY);
	}

	@Test
	void placeOfATimerThatIsCancelledAtOnceIsUsedAgain() {
		append(Chunk.CAPACITY - 1);
		for (int i = 0; i < 1_000; i++) {
			remove(append(1).get(0));
		}
		assertThat(places()).isEqualTo(Chunk.CAPACITY - 1);
	}

	@Test
	void eachTimerStandsAtItsPositionAfterAnySequenceOfCancels() {
		long seed = Long.getLong("timingwheel.seed", new Random().nextLong());
		Random random = new Random(seed);
		List<Timer> pending = new ArrayList<>();
		for (int round = 0; round < 300; round++) {
			pending.addAll(append(random.nextInt(200)));
			int from = random.nextInt(pending.size() + 1);
			int to = from + random.nextInt(pending.size() - from + 1);
			List<Timer> some = pending.subList(from, to);
			some.removeIf((timer) -> {
				boolean removed = random.nextInt(8) != 0;
				if (removed) {
					remove(timer);
				}
				return removed;
			});
			assertThat(contents()).as("seed %d", seed).containsExactlyElementsOf(pending);
			assertThat(this.ring.size()).as("seed %d", seed).isEqualTo(pending.size());
			for (Timer timer : pending) {
				if (timer.position < 0) {
					assertThat(~timer.position).isEqualTo(16 + SLOT);
					assertThat(pending).as("seed %d", seed).hasSize(1);
					continue;
				}
				Chunk chunk = this.chunks.of(timer);
				assertThat(chunk.get(chunk.indexAt(timer.position))).as("seed %d", seed).isSameAs(timer);
				assertThat(chunk.slot).isEqualTo(16 + SLOT);
			}
		}
	}

	@Test
	void emptyRingOfManySlotsKeepsFewArrays() {
		int slots = 1 << 16;
		Ring large = new Ring(this.chunks, 0, slots);
		for (int slot = 0; slot < slots; slot++) {
			large.append(slot, new Timer(null, () -> {
			}, 0));
		}
		assertThat(large.segments()).isEqualTo(slots / 64);
		assertThat(large.occupiedSlots()).isEqualTo(slots);
		for (int slot = 0; slot < slots; slot++) {
			large.removeOnly(slot);
		}
		assertThat(large.segments()).isEqualTo(16);
		assertThat(large.isEmpty()).isTrue();
		assertThat(large.nextOccupied(0)).isEqualTo(-1);
	}

	/**
	 * A timer that is alone in its slot needs no chunk, until a second one comes.
	 */
	@Test
	void secondTimerOfASlotFollowsTheFirst() {
		Timer first = append(1).get(0);
		assertThat(first.position).isNegative();
		Timer second = append(1).get(0);
		assertThat(first.position).isNotNegative();
		assertThat(contents()).containsExactly(first, second);
		remove(first);
		assertThat(contents()).containsExactly(second);
		remove(second);
		assertThat(this.ring.isOccupied(SLOT)).isFalse();
	}

	private List<Timer> append(int count) {
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			Timer timer = new Timer(null, () -> {
			}, 0);
			this.ring.append(SLOT, timer);
			timers.add(timer);
		}
		return timers;
	}

	private void remove(Timer timer) {
		if (timer.position < 0) {
			this.ring.removeOnly(~timer.position - 16);
		}
		else {
			this.ring.remove(this.chunks.of(timer), timer.position);
		}
	}

	private List<Timer> contents() {
		List<Timer> timers = new ArrayList<>();
		this.ring.forEach(SLOT, timers::add);
		return timers;
	}

	private int places() {
		int places = 0;
		for (Chunk chunk = firstChunk(); chunk != null; chunk = chunk.next) {
			places += chunk.size();
		}
		return places;
	}

	private Chunk firstChunk() {
		return this.ring.firstChunk(SLOT, Chunk.CAPACITY);
	}

}
