package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LoadTests {

	private final Queue<Instant> dues = new ConcurrentLinkedQueue<>();

	private final Load load = new Load(new RecordingNode());

	@Test
	void fillStoresAsManyTasksAsAskedForAlsoIfTheLastBatchIsNotFull() throws Exception {
		Instant due = Instant.now();

		this.load.fill(1_234, due);

		assertThat(this.dues).hasSize(1_234).containsOnly(due);
	}

	@Test
	void aSteadyLoadHasItsRateAndDelaysOfHalfASecondToFive() throws Exception {
		Instant start = Instant.now();

		assertThat(this.load.steady(100, 0.5)).isEqualTo(50);

		assertThat(Duration.between(start, Instant.now())).isGreaterThan(Duration.ofMillis(480));
		assertThat(this.dues).hasSize(50)
			.allSatisfy((due) -> assertThat(due).isAfterOrEqualTo(start.plusMillis(499))
				.isBefore(Instant.now().plusSeconds(5)));
	}

	private final class RecordingNode implements TaskNode {

		@Override
		public void enqueue(Instant due) {
			LoadTests.this.dues.add(due);
		}

		@Override
		public void enqueueBatch(int count, Instant due) {
			for (int i = 0; i < count; i++) {
				enqueue(due);
			}
		}

		@Override
		public void pause() {
		}

		@Override
		public void resume() {
		}

		@Override
		public void close() {
		}

	}

}
