package io.timingwheel.benchmarks.durable;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
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

	private final Load load = new Load((TaskNode) Proxy.newProxyInstance(TaskNode.class.getClassLoader(),
			new Class<?>[] { TaskNode.class }, this::record));

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

	private Object record(Object proxy, Method method, Object[] arguments) {
		switch (method.getName()) {
			case "recur" -> {
				assertThat((Duration) arguments[1]).hasSeconds(2);
				this.schedules.add((Integer) arguments[0]);
			}
			case "cancel" -> this.schedules.remove(arguments[0]);
			case "enqueueLimited" -> this.limited.addAndGet((Integer) arguments[0]);
			case "enqueuePending" ->
				IntStream.range((Integer) arguments[0], (Integer) arguments[1]).forEach(this.pending::add);
			case "enqueue" -> this.dues.add((Instant) arguments[0]);
			case "enqueueBatch" ->
				this.dues.addAll(Collections.nCopies((Integer) arguments[0], (Instant) arguments[1]));
			default -> throw new UnsupportedOperationException(method.getName());
		}
		return null;
	}

}
