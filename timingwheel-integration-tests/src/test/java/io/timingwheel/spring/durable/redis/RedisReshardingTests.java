package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.Target;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tasks still run while a Cluster moves their slot to another primary.
 */
@Tag("faults")
class RedisReshardingTests extends RedisTestSupport {

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.startPatient();

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(cluster, RedisStores.PATIENCE);

	private final Set<String> stored = ConcurrentHashMap.newKeySet();

	private final Set<String> executed = ConcurrentHashMap.newKeySet();

	private final Set<String> twice = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean over = new AtomicBoolean();

	private final AtomicBoolean allExecuted = new AtomicBoolean();

	private DelayedTaskStore store;

	private DelayedTaskStore other;

	@BeforeEach
	void open() {
		stores.clear();
		this.store = stores.node();
		this.store.check(List.of(NAME));
		this.other = stores.node();
	}

	@Test
	void tasksRunOnceWhileTheirSlotMoves() throws Exception {
		RedisStoreOptions options = RedisStores.OPTIONS;
		int partition = new Partitions(options.namespace(), options.partitions()).of(NAME);
		// A task that stays in the slot shows which server has the slot.
		Enqueued far = enqueue(this.store, "far", HOUR);
		ExecutorService executor = Executors.newFixedThreadPool(2);
		try {
			Future<?> storing = executor.submit(this::store);
			Future<?> running = executor.submit(this::execute);
			awaitExecutions(200, storing, running);
			for (int round = 0; round < 3; round++) {
				int before = this.executed.size();
				cluster.move(options.namespace(), partition);
				awaitExecutions(before + 200, storing, running);
			}
			this.over.set(true);
			storing.get(1, TimeUnit.MINUTES);
			await().until(() -> this.executed.size() >= this.stored.size());
			this.allExecuted.set(true);
			running.get(1, TimeUnit.MINUTES);
		}
		finally {
			this.over.set(true);
			this.allExecuted.set(true);
			executor.shutdown();
		}
		assertThat(this.executed).isEqualTo(this.stored);
		assertThat(this.twice).isEmpty();
		assertThat(this.store.find(Target.of(far.id()))).isPresent();
	}

	private void awaitExecutions(int count, Future<?>... calls) throws Exception {
		await().until(() -> this.executed.size() > count || Arrays.stream(calls).anyMatch(Future::isDone));
		for (Future<?> call : calls) {
			if (call.isDone()) {
				call.get();
			}
		}
	}

	private void store() {
		for (int i = 0; !this.over.get(); i++) {
			String key = (i % 2 == 0) ? "k" + i : null;
			this.stored.add(enqueue(this.store, key, Duration.ofMillis(i % 5)).id());
		}
	}

	private void execute() {
		ClaimRequest due = new ClaimRequest("b", Map.of(NAME, new Share(50, 0)), 50, false, Duration.ZERO, LEASE,
				Long.MAX_VALUE);
		while (!this.allExecuted.get()) {
			List<LeasedTask> tasks = this.other.claim(due).tasks();
			while (!tasks.isEmpty()) {
				List<Reply> replies = acknowledge(this.other, tasks);
				List<LeasedTask> asked = tasks;
				tasks = asked.stream().filter((task) -> replies.get(asked.indexOf(task)) == Reply.BUSY).toList();
				asked.stream()
					.filter((task) -> replies.get(asked.indexOf(task)) == Reply.DONE)
					.filter((task) -> !this.executed.add(task.id()))
					.forEach((task) -> this.twice.add(task.id()));
			}
		}
	}

}
