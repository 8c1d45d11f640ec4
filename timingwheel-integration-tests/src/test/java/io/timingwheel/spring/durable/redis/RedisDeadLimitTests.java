package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The dead tasks do not fill the memory of Redis.
 */
class RedisDeadLimitTests extends RedisTestSupport {

	private static final int MAX_DEAD = 10;

	private final RedisStores stores = TestRedis.STANDALONE.stores(getClass());

	private final AtomicLong clock = new AtomicLong(System.currentTimeMillis());

	private RedisDelayedTaskStore store;

	@BeforeEach
	void open() {
		this.stores.clear();
		RedisStoreOptions defaults = RedisStoreOptions.DEFAULTS;
		this.store = this.stores
			.node(new RedisStoreOptions(getClass().getSimpleName(), 1, 0, defaults.waitTimeout(), MAX_DEAD));
		this.store.testing().setClock(this.clock::get);
	}

	@Test
	void theOldestDeadTasksOfTheNameWithMostOfThemAreDropped() throws Exception {
		TestLog log = new TestLog();
		bury("few", 3, "few");
		for (int i = 0; i < 4; i++) {
			this.clock.addAndGet(1000);
			String reason = "death " + i;
			log.of(() -> {
				bury(NAME, 4, reason);
				return null;
			});
			assertThat(dead()).isLessThanOrEqualTo(MAX_DEAD);
		}
		assertThat(dead("few")).hasSize(3);
		assertThat(dead(NAME)).hasSize(7)
			.extracting(StoredTask::error)
			.contains("death 3", "death 2")
			.doesNotContain("death 0");
		assertThat(this.store.droppedDead()).isEqualTo(3 + 4 * 4 - MAX_DEAD);
		assertThat(log).containsOnlyOnce("There are too many dead tasks in Redis");
	}

	@Test
	void oneCallMayBuryMoreThanTheLimit() {
		enqueue(this.store, "pending", HOUR);
		bury(NAME, 500, "all at once");
		assertThat(this.store.counts(List.of())).containsEntry(NAME, new StoredCounts(1, 0, 0, MAX_DEAD));
		assertThat(this.store.requeue(dead(NAME).stream().map(StoredTask::id).toList())).hasSize(MAX_DEAD)
			.containsOnly(DelayedTaskStore.Requeue.REQUEUED);
	}

	@Test
	void pendingTasksAreNotDropped() {
		this.store.enqueue(IntStream.range(0, 50).mapToObj((i) -> task("k" + i, HOUR)).toList());
		bury("few", 2, "few");
		assertThat(this.store.counts(List.of())).containsEntry(NAME, new StoredCounts(50, 0, 0, 0))
			.containsEntry("few", new StoredCounts(0, 0, 0, 2));
		assertThat(this.store.droppedDead()).isZero();
	}

	private long dead() {
		return this.store.counts(List.of()).values().stream().mapToLong(StoredCounts::dead).sum();
	}

	private List<StoredTask> dead(String name) {
		return this.store.list(new ListQuery(name, ListQuery.Order.DEAD_LATEST_FIRST, null, 100)).tasks();
	}

	private void bury(String name, int tasks, String reason) {
		this.store.enqueue(IntStream.range(0, tasks).mapToObj((i) -> task(name, null, Duration.ZERO)).toList());
		List<LeasedTask> claimed = this.store.claim(request(tasks, name)).tasks();
		assertThat(claimed).hasSize(tasks);
		this.store.settle(claimed.stream().<Settlement>map((task) -> new Settlement.Bury(task.ref(), reason)).toList());
	}

}
