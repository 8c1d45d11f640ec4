package io.timingwheel;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ChunksTests {

	private final Chunks chunks = new Chunks();

	@Test
	void eachChunkInUseHasANumberOfItsOwn() {
		long seed = Long.getLong("timingwheel.seed", new Random().nextLong());
		Random random = new Random(seed);
		List<Chunk> used = new ArrayList<>();
		for (int phase = 0; phase < 40; phase++) {
			int target = random.nextInt(1 << random.nextInt(1, 14));
			while (used.size() < target) {
				Chunk chunk = this.chunks.take(used.size());
				chunk.append(new Timer(null, () -> {
				}, 0));
				used.add(chunk);
			}
			Collections.shuffle(used, random);
			while (used.size() > target) {
				this.chunks.release(used.remove(used.size() - 1));
			}
			Set<Integer> ids = new HashSet<>();
			for (Chunk chunk : used) {
				assertThat(ids.add(chunk.id())).as("seed %d", seed).isTrue();
				Timer timer = chunk.get(0);
				assertThat(this.chunks.of(timer)).as("seed %d", seed).isSameAs(chunk);
			}
		}
	}

	@Test
	void arraysShrinkAfterAFlood() {
		List<Chunk> used = new ArrayList<>();
		for (int i = 0; i < 100_000; i++) {
			used.add(this.chunks.take(i));
		}
		assertThat(this.chunks.capacity()).isGreaterThanOrEqualTo(100_000);
		Collections.shuffle(used, new Random(1));
		used.forEach(this.chunks::release);
		assertThat(this.chunks.capacity()).isLessThan(2_000);
	}

	@Test
	void arraysShrinkAfterTheFloodsThatFollow() {
		for (int flood = 0; flood < 3; flood++) {
			List<Chunk> used = new ArrayList<>();
			for (int i = 0; i < 50_000; i++) {
				used.add(this.chunks.take(i));
			}
			// The chunk with the highest number outlives the flood.
			Chunk last = used.remove(used.size() - 1);
			used.forEach(this.chunks::release);
			this.chunks.release(last);
			assertThat(this.chunks.capacity()).as("after flood %d", flood).isLessThan(2_000);
		}
		List<Chunk> used = new ArrayList<>();
		for (int i = 0; i < 50_000; i++) {
			used.add(this.chunks.take(i));
		}
		used.forEach(this.chunks::release);
		assertThat(this.chunks.capacity()).isLessThan(2_000);
	}

}
