package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LoadTests {

	private final Queue<Instant> dues = new ConcurrentLinkedQueue<>();

	private final Queue<Integer> schedules = new ConcurrentLinkedQueue<>();

	private final Queue<Integer> pending = new ConcurrentLinkedQueue<>();

	private final AtomicInteger limited = new AtomicInteger();

	private final Load load = new Load(new RecordingNode());

	@Test
	void eachFillStoresAsManyTasksAsAskedForAlsoIfTheLastBatchIsNotFull() throws Exception {
		Instant start = Instant.now();
		Instant later = start.plusSeconds(1);
		this.load.fill(1_234, later);
		assertThat(this.dues).hasSize(1_234).containsOnly(later);
		this.load.fillNow(1_234);
		assertThat(this.dues).hasSize(2_468)
			.allSatisfy((due) -> assertThat(due).isBetween(start.minusMillis(1), later));
		this.load.fillPending(10_500);
		assertThat(this.pending).hasSize(10_500).doesNotHaveDuplicates().contains(0, 10_499);
		this.load.fillLimited(10_500);
		assertThat(this.limited).hasValue(10_500);
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

	@Test
	void schedulesAreStoredAndEndedEachOnce() throws Exception {
		this.load.recur(100, 2, 0.2);
		assertThat(this.schedules).hasSize(100).doesNotHaveDuplicates();
		this.schedules.clear();
		assertThat(this.load.recur(123, 2)).isPositive();
		assertThat(this.schedules).hasSize(123).doesNotHaveDuplicates();
		assertThat(this.load.cancel(123)).isPositive();
		assertThat(this.schedules).isEmpty();
	}

	private final class RecordingNode implements TaskNode {

		@Override
		public void recur(int number, Duration period) {
			assertThat(period).hasSeconds(2);
			LoadTests.this.schedules.add(number);
		}

		@Override
		public void cancel(int number) {
			LoadTests.this.schedules.remove(number);
		}

		@Override
		public void enqueueLimited(int count) {
			LoadTests.this.limited.addAndGet(count);
		}

		@Override
		public void enqueuePending(int from, int to) {
			IntStream.range(from, to).forEach(LoadTests.this.pending::add);
		}

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
