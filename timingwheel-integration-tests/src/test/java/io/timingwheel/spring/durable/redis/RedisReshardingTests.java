package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tasks still run while a Cluster moves their slot to another primary.
 */
@Tag("faults")
class RedisReshardingTests extends StoreTestSupport {

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.startPatient();

	@RegisterExtension
	static final RedisStores stores = cluster.stores();

	private final Set<String> stored = ConcurrentHashMap.newKeySet();

	private final Set<String> executed = ConcurrentHashMap.newKeySet();

	private final Set<String> twice = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean over = new AtomicBoolean();

	private final AtomicBoolean allExecuted = new AtomicBoolean();

	@Override
	protected void clear() {
		stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return stores.node();
	}

	@Test
	void tasksRunOnceWhileTheirSlotMoves() throws Exception {
		// A task that stays in the slot shows which server has the slot.
		Enqueued far = farTaskIn(0);
		ExecutorService executor = Executors.newFixedThreadPool(2);
		try {
			Future<?> storing = executor.submit(this::store);
			Future<?> running = executor.submit(this::execute);
			awaitExecutions(200, storing, running);
			for (int round = 0; round < 3; round++) {
				int before = this.executed.size();
				cluster.move(RedisStores.OPTIONS.namespace(), 0);
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
		assertThat(this.store.find(far.id())).isPresent();
		assertThat(this.stored).filteredOn((id) -> id.endsWith(".0")).hasSizeGreaterThan(20);
	}

	private void awaitExecutions(int count, Future<?>... calls) throws Exception {
		await().until(() -> this.executed.size() > count || Arrays.stream(calls).anyMatch(Future::isDone));
		for (Future<?> call : calls) {
			if (call.isDone()) {
				call.get();
			}
		}
	}

	private Enqueued farTaskIn(int partition) {
		Enqueued enqueued = enqueue("far", HOUR);
		while (!enqueued.id().endsWith("." + partition)) {
			enqueued = enqueue("far" + this.stored.size() + enqueued.id(), HOUR);
		}
		return enqueued;
	}

	private void store() {
		for (int i = 0; !this.over.get(); i++) {
			String key = (i % 2 == 0) ? "k" + i : null;
			this.stored.add(this.store
				.enqueue(task(NAME, key, DueTime.after(Duration.ofMillis(i % 5)), IfPending.REPLACE, null))
				.id());
		}
	}

	private void execute() {
		ClaimRequest due = new ClaimRequest("b", NAMES, 50, Duration.ZERO, LEASE, ANY_SIZE);
		while (!this.allExecuted.get()) {
			List<TaskRef> tasks = this.other.claim(due).tasks().stream().map(LeasedTask::ref).toList();
			while (!tasks.isEmpty()) {
				List<Reply> replies = this.other.acknowledge(tasks);
				List<TaskRef> asked = tasks;
				tasks = asked.stream().filter((task) -> replies.get(asked.indexOf(task)) == Reply.BUSY).toList();
				asked.stream()
					.filter((task) -> replies.get(asked.indexOf(task)) == Reply.DONE)
					.filter((task) -> !this.executed.add(task.id()))
					.forEach((task) -> this.twice.add(task.id()));
			}
		}
	}

}
