package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.TaskRef;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/**
 * Two nodes on one database, with the database's own clock.
 */
abstract class JdbcStoreTestSupport {

	static final String NAME = "close-order";

	static final Duration LOOK_AHEAD = Duration.ofMinutes(2);

	/** Longer than a test takes, even if the machine stalls for some time. */
	static final Duration LEASE = Duration.ofMinutes(5);

	/** A delay within the look-ahead, and longer than a test takes. */
	static final Duration SOON = Duration.ofSeconds(90);

	static final Duration HOUR = Duration.ofHours(1);

	final HikariDataSource pool;

	/** The store of the first node. */
	DelayedTaskStore store;

	/** The store of the second node. */
	DelayedTaskStore other;

	JdbcStoreTestSupport(TestDatabase database) {
		this.pool = database.pool(getClass());
	}

	@BeforeEach
	void nodes() {
		this.store = JdbcStores.open(this.pool);
		this.other = JdbcStores.open(this.pool);
		this.store.testing().deleteAll();
	}

	static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(Integer.getInteger("timingwheel.patience", 180)));
	}

	static NewTask task(@Nullable String key, Duration delay) {
		return task(key, delay, IfPending.REPLACE);
	}

	static NewTask task(@Nullable String key, Duration delay, IfPending ifPending) {
		return task(UUID.randomUUID().toString(), key, delay, ifPending);
	}

	static NewTask task(String id, @Nullable String key, Duration delay, IfPending ifPending) {
		return new NewTask(id, NAME, key, "payload of " + id, null, DueTime.after(delay), ifPending, null);
	}

	static Enqueued enqueue(DelayedTaskStore store, NewTask task) {
		return store.enqueue(List.of(task)).get(0);
	}

	final Enqueued enqueue(@Nullable String key, Duration delay) {
		return enqueue(this.store, task(key, delay));
	}

	static ClaimRequest request(String owner, int limit, Duration lease) {
		return new ClaimRequest(owner, Map.of(NAME, new Share(limit, limit)), limit, false, LOOK_AHEAD, lease,
				Long.MAX_VALUE);
	}

	static List<LeasedTask> claim(DelayedTaskStore store, String owner) {
		return store.claim(request(owner, 100, LEASE)).tasks();
	}

	final List<LeasedTask> claim() {
		return claim(this.store, "a");
	}

	final List<LeasedTask> claimByOther() {
		return claim(this.other, "b");
	}

	/**
	 * A task with this key that the first node has leased and not begun.
	 */
	final LeasedTask leased(@Nullable String key) {
		Enqueued enqueued = enqueue(key, SOON);
		return only(claim(), enqueued);
	}

	/**
	 * A task with this key that the first node has begun.
	 */
	final LeasedTask begun(@Nullable String key) {
		Enqueued enqueued = enqueue(key, Duration.ZERO);
		return only(claim(), enqueued);
	}

	private static LeasedTask only(List<LeasedTask> tasks, Enqueued enqueued) {
		return tasks.stream().filter((task) -> task.id().equals(enqueued.id())).findFirst().orElseThrow();
	}

	static List<TaskRef> refs(LeasedTask... tasks) {
		return Arrays.stream(tasks).map(LeasedTask::ref).toList();
	}

	static Target key(String key) {
		return Target.of(new TaskId(NAME, key), Kind.EITHER);
	}

	static Reply begin(DelayedTaskStore store, TaskRef task) {
		return store.begin(List.of(task), LEASE).get(0);
	}

	static Reply settle(DelayedTaskStore store, Settlement settlement) {
		return store.settle(List.of(settlement)).get(0);
	}

	static Reply acknowledge(DelayedTaskStore store, TaskRef task) {
		return settle(store, new Settlement.Acknowledge(task));
	}

	static Reply retry(DelayedTaskStore store, TaskRef task, int attempt, Duration delay) {
		return settle(store, new Settlement.Retry(task, attempt, delay, "it failed"));
	}

	static Reply release(DelayedTaskStore store, TaskRef task) {
		return settle(store, new Settlement.Release(task, true));
	}

	static Reply bury(DelayedTaskStore store, TaskRef task) {
		return settle(store, new Settlement.Bury(task, "hopeless"));
	}

	final StoredTask stored(String id) {
		return this.store.find(Target.of(id)).orElseThrow();
	}

	final List<StoredTask> listed(ListQuery.Order order) {
		return this.store.list(new ListQuery(NAME, order, null, 100)).tasks();
	}

	/**
	 * How many tasks of all states there are.
	 */
	final long count() {
		return this.store.counts(List.of())
			.values()
			.stream()
			.mapToLong((counts) -> counts.pending() + counts.running() + counts.dead())
			.sum();
	}

}
