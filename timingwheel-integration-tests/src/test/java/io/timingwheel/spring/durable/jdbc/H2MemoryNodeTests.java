package io.timingwheel.spring.durable.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.ClaimRequest;
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
		AtomicInteger runs = new AtomicInteger();
		try (TestNode node = TestNode.start(recordingLimits(limits), (argument, context) -> runs.incrementAndGet())) {
			await().until(() -> runs.get() == tasks);
			int claims = limits.size();
			await().until(() -> limits.size() > claims + 1);
			assertThat(limits).element(0).isEqualTo(BATCH_SIZE);
			assertThat(limits).anyMatch((limit) -> limit >= 2 * BATCH_SIZE);
			assertThat(limits).element(claims + 1).isEqualTo(BATCH_SIZE);
		}
	}

	private DelayedTaskStore recordingLimits(List<Integer> limits) {
		return (DelayedTaskStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> {
					if (arguments != null && arguments[0] instanceof ClaimRequest request) {
						limits.add(request.limit());
					}
					try {
						return method.invoke(this.other, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
