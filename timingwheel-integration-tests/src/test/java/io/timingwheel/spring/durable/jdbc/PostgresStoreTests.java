package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreContractTests;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.IfPending;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

class PostgresStoreTests extends DelayedTaskStoreContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.POSTGRESQL, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

	/**
	 * A claim begins its search at the time up to which earlier claims have searched. The
	 * updated task is due before that time.
	 */
	@Test
	void theNextClaimFindsAnOverdueTaskThatWasUpdated() {
		leased("k");
		clockAhead(SOON.plusMinutes(1));
		assertThat(claim()).isEmpty();
		Enqueued updated = this.store.enqueue(task("k", Duration.ZERO, IfPending.UPDATE));
		assertThat(claim()).extracting(LeasedTask::id).containsExactly(updated.id());
	}

	/**
	 * A claim leaves a task that changes while the claim runs, so it has fewer tasks than
	 * it could take. All the same there are more.
	 */
	@Test
	void aClaimThatLeavesATaskThatChangesPassesOverNoOtherTask() throws Exception {
		int count = 5000;
		int limit = 500;
		Instant due = Instant.now().minus(HOUR);
		List<NewTask> tasks = IntStream.range(0, count)
			.mapToObj((i) -> task(NAME, null, DueTime.at(due.plusMillis(i)), IfPending.REPLACE, null))
			.toList();
		this.store.enqueueAll(tasks);
		ClaimRequest request = new ClaimRequest("a", Map.of(NAME, new Limit(limit, 0)), limit, false, LOOK_AHEAD, LEASE,
				ANY_SIZE);
		AtomicInteger claimed = new AtomicInteger();
		try (HikariDataSource pool = TestDatabase.newPool(this.nodes.url(), 1)) {
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			jdbc.execute("set synchronous_commit = off");
			AtomicBoolean ended = new AtomicBoolean();
			AtomicInteger changed = new AtomicInteger();
			FutureTask<Void> changes = new FutureTask<>(() -> {
				while (!ended.get()) {
					int next = claimed.get() + ThreadLocalRandom.current().nextInt(limit);
					changed.addAndGet(jdbc.update(
							"update timingwheel_task set created_at = created_at + 1 where id = ? and status = 0",
							tasks.get(Math.min(next, count - 1)).id()));
				}
			}, null);
			new Thread(changes).start();
			try {
				Awaitility.await().until(() -> changed.get() > 0);
				// A sweep would find all tasks a second later, so no claim may be empty.
				while (claimed.get() < count - limit) {
					List<LeasedTask> found = this.store.claim(request).tasks();
					assertThat(found).isNotEmpty();
					claimed.addAndGet(found.size());
				}
			}
			finally {
				ended.set(true);
				changes.get();
			}
		}
	}

}
