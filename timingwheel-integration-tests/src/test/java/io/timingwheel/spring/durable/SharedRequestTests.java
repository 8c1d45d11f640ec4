package io.timingwheel.spring.durable;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import io.timingwheel.spring.durable.reference.ReferenceStore;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that store tasks through one node, on a store whose requests wait until the
 * test lets them go on.
 */
class SharedRequestTests {

	private static final int CALLERS = 8;

	private final ReferenceStore store = new ReferenceStore(new ReferenceStore.Data());

	/** The callers that have asked whether they can share a request. */
	private final Set<Thread> asked = ConcurrentHashMap.newKeySet();

	/** How many tasks each request has. */
	private final List<Integer> requests = new CopyOnWriteArrayList<>();

	private final CountDownLatch held = new CountDownLatch(1);

	@Test
	void callersOfANodeThatStoreAtTheSameTimeShareRequests() throws Exception {
		List<Thread> callers = new ArrayList<>();
		try (TestNode node = TestNode.withoutHandler(sharing())) {
			for (int i = 0; i < CALLERS; i++) {
				int number = i;
				callers.add(new Thread(() -> node.enqueue("k" + number, Duration.ofHours(1), number)));
			}
			callers.forEach(Thread::start);
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> callers.stream().allMatch((caller) -> waits(caller) || !caller.isAlive()));
			this.held.countDown();
			for (Thread caller : callers) {
				caller.join();
			}
		}
		finally {
			this.held.countDown();
		}
		assertThat(this.store.pending(TestNode.NAME, 100)).hasSize(CALLERS);
		assertThat(this.requests.stream().mapToInt(Integer::intValue).sum()).isEqualTo(CALLERS);
		assertThat(this.requests).anyMatch((tasks) -> tasks > 1);
	}

	private boolean waits(Thread caller) {
		return this.asked.contains(caller)
				&& (caller.getState() == Thread.State.WAITING || caller.getState() == Thread.State.TIMED_WAITING);
	}

	/**
	 * The store, with requests that all callers can share.
	 */
	private DelayedTaskStore sharing() {
		return (DelayedTaskStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> {
					switch (method.getName()) {
						case "sharedRequest" -> {
							this.asked.add(Thread.currentThread());
							return this;
						}
						case "enqueueShared" -> {
							List<NewTask> tasks = ((List<?>) arguments[0]).stream().map(NewTask.class::cast).toList();
							this.requests.add(tasks.size());
							this.held.await();
							return this.store.enqueueAll(tasks);
						}
						default -> {
							try {
								return method.invoke(this.store, arguments);
							}
							catch (InvocationTargetException ex) {
								throw ex.getCause();
							}
						}
					}
				});
	}

}
