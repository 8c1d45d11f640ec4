package io.timingwheel;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import io.timingwheel.TimerList.Chunk;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TimerList}, above all for cancels and the holes that they leave in
 * chunks.
 */
class TimerListTests {

	private final TimerList list = new TimerList(null, TimerList.NO_SLOT);

	@Test
	void randomCancelsKeepOrderAndPositionsAndLeaveFewHoles() {
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
			assertThat(this.list.size()).as("seed %d", seed).isEqualTo(pending.size());
			Set<Chunk> chunks = new HashSet<>();
			for (Timer timer : pending) {
				if (timer.place instanceof Chunk chunk) {
					chunks.add(chunk);
					assertThat(chunk.get(timer.index)).as("seed %d", seed).isSameAs(timer);
					assertThat(chunk.list).isSameAs(this.list);
				}
				else {
					assertThat(pending).as("seed %d", seed).hasSize(1);
				}
			}
			assertThat(chunks.stream().mapToInt(Chunk::size).sum()).as("places, holes included, seed %d", seed)
				.isLessThanOrEqualTo(4 * pending.size() + Chunk.MIN_LENGTH * chunks.size());
		}
	}

	private List<Timer> append(int count) {
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			Timer timer = new Timer(() -> {
			}, 0);
			this.list.append(timer);
			timers.add(timer);
		}
		return timers;
	}

	private void remove(Timer timer) {
		this.list.remove(timer.place, timer.index);
	}

	private List<Timer> contents() {
		List<Timer> timers = new ArrayList<>();
		this.list.forEach(timers::add);
		return timers;
	}

}
