package io.timingwheel.spring.durable.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DurableNodeContractTests;
import io.timingwheel.spring.durable.TestNode;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@Order(2)
class H2MemoryNodeTests extends DurableNodeContractTests {

	private static final int BATCH_SIZE = 100;

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.H2_MEMORY, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

	@Test
	void claimsGrowWithABacklogAndHaveTheirUsualSizeAfterIt() throws Exception {
		int tasks = 5000;
		try (TestNode storing = TestNode.withoutHandler(this.store)) {
			storing.durable()
				.enqueueAll(IntStream.range(0, tasks)
					.mapToObj((i) -> DurableCall.of(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO, i))
					.toList());
		}
		List<Integer> limits = new CopyOnWriteArrayList<>();
		AtomicBoolean quick = new AtomicBoolean();
		AtomicInteger runs = new AtomicInteger();
		try (TestNode node = TestNode.start(recording(limits, quick), (argument, context) -> runs.incrementAndGet())) {
			await().until(() -> runs.get() == tasks && node.durable().inFlight() == 0);
			int claims = limits.size();
			await().until(() -> limits.size() > claims + 1);
			assertThat(limits).element(0).isEqualTo(BATCH_SIZE);
			// On a busy machine each claim may take so long that none grows.
			assertThat(!quick.get() || limits.stream().anyMatch((limit) -> limit >= 2 * BATCH_SIZE)).isTrue();
			assertThat(limits).element(claims + 1).isEqualTo(BATCH_SIZE);
		}
	}

	/**
	 * Records the limits of the claims, and whether a full claim took less than half of
	 * the time after which claims do not grow.
	 */
	private DelayedTaskStore recording(List<Integer> limits, AtomicBoolean quick) {
		return (DelayedTaskStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> {
					long start = System.nanoTime();
					try {
						Object result = method.invoke(this.other, arguments);
						if (result instanceof Claimed claimed && arguments[0] instanceof ClaimRequest request) {
							limits.add(request.limit());
							quick.compareAndSet(false, claimed.tasks().size() == request.limit()
									&& System.nanoTime() - start < Duration.ofMillis(25).toNanos());
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
