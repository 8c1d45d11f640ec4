package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The dead tasks do not fill the memory of Redis.
 */
class RedisDeadLimitTests extends StoreTestSupport {

	private static final int MAX_DEAD = 10;

	private final RedisStores stores = TestRedis.STANDALONE.stores(getClass());

	@Override
	protected void clear() {
		this.stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.stores.node(
				RedisStores.OPTIONS.withNamespace(getClass().getSimpleName()).withPartitions(1).withMaxDead(MAX_DEAD));
	}

	@Test
	void theOldestDeadTasksOfTheNameWithMostOfThemAreDropped() throws Exception {
		TestLog log = new TestLog();
		bury("few", 3, "few");
		for (int i = 0; i < 4; i++) {
			clockAhead(SOON.multipliedBy(i));
			String reason = "death " + i;
			log.of(() -> {
				bury(NAME, 4, reason);
				return null;
			});
			assertThat(dead()).isLessThanOrEqualTo(MAX_DEAD);
		}
		assertThat(this.store.dead("few", 100)).hasSize(3);
		assertThat(this.store.dead(NAME, 100)).hasSize(7)
			.extracting(StoredTask::error)
			.contains("death 3", "death 2")
			.doesNotContain("death 0");
		assertThat(this.store.droppedDead()).isEqualTo(3 + 4 * 4 - MAX_DEAD);
		assertThat(log).containsOnlyOnce("There are too many dead tasks in Redis");
	}

	@Test
	void oneCallMayBuryMoreThanTheLimit() {
		enqueue("pending", HOUR);
		bury(NAME, 500, "all at once");
		assertThat(this.store.counts()).containsEntry(NAME, new StoredCounts(1, 0, 0, MAX_DEAD));
		assertThat(this.store.requeueAll(this.store.dead(NAME, 100).stream().map(StoredTask::id).toList()))
			.hasSize(MAX_DEAD)
			.containsOnly(DelayedTaskStore.Requeue.REQUEUED);
	}

	@Test
	void pendingTasksAreNotDropped() {
		this.store.enqueueAll(IntStream.range(0, 50).mapToObj((i) -> task("k" + i, HOUR)).toList());
		bury("few", 2, "few");
		assertThat(this.store.counts()).containsEntry(NAME, new StoredCounts(50, 0, 0, 0))
			.containsEntry("few", new StoredCounts(0, 0, 0, 2));
		assertThat(this.store.droppedDead()).isZero();
	}

	private long dead() {
		return this.store.counts().values().stream().mapToLong(StoredCounts::dead).sum();
	}

	private void bury(String name, int tasks, String reason) {
		this.store.enqueueAll(IntStream.range(0, tasks)
			.mapToObj((i) -> task(name, null, DueTime.after(Duration.ZERO), IfPending.REPLACE, null))
			.toList());
		List<LeasedTask> claimed = this.store
			.claim(new ClaimRequest("a", Set.of(name), tasks, LOOK_AHEAD, LEASE, ANY_SIZE))
			.tasks();
		assertThat(claimed).hasSize(tasks);
		this.store.bury(claimed.stream().map((task) -> new Burial(task.ref(), reason)).toList());
	}

}
