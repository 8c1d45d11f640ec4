package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/**
 * Two nodes on one store, and the helper methods of the contract tests.
 */
public abstract class StoreTestSupport {

	protected static final String NAME = "close-order";

	protected static final Set<String> NAMES = Set.of(NAME);

	protected static final Duration LOOK_AHEAD = Duration.ofMinutes(2);

	/** Longer than a test takes, even if the machine stalls for some time. */
	protected static final Duration LEASE = Duration.ofMinutes(5);

	/** A delay within the look-ahead, and longer than a test takes. */
	protected static final Duration SOON = Duration.ofSeconds(90);

	protected static final Duration HOUR = Duration.ofHours(1);

	protected static final LeaseOffer OFFER = new LeaseOffer("a", LOOK_AHEAD, LEASE);

	protected static final long ANY_SIZE = Long.MAX_VALUE;

	/** The store of the first node. */
	protected DelayedTaskStore store;

	/** The store of the second node. */
	protected DelayedTaskStore other;

	@BeforeEach
	void nodes() throws Exception {
		clear();
		this.store = node();
		this.other = node();
	}

	/**
	 * Waits for as long as a busy machine may need.
	 */
	protected static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(Integer.getInteger("timingwheel.patience", 180)));
	}

	/**
	 * The payload that the store returns for a task with this id: the given payload, and
	 * what the store adds.
	 */
	protected static String payloadOf(String id) {
		return "payload of " + id.substring(0, 36);
	}

	/**
	 * Deletes all tasks.
	 */
	protected abstract void clear() throws Exception;

	/**
	 * Returns another store object on the same data, like the store of another node.
	 */
	protected abstract DelayedTaskStore node() throws Exception;

	/**
	 * Sets the store's clock ahead of the real clock, for both nodes.
	 */
	protected final void clockAhead(Duration offset) {
		this.store.setClockOffset(offset);
		this.other.setClockOffset(offset);
	}

	protected static NewTask task(@Nullable String key, Duration delay) {
		return task(NAME, key, DueTime.after(delay), IfPending.REPLACE, null);
	}

	protected static NewTask task(@Nullable String key, Duration delay, IfPending ifPending) {
		return task(NAME, key, DueTime.after(delay), ifPending, null);
	}

	protected static NewTask task(String name, @Nullable String key, DueTime due, IfPending ifPending,
			@Nullable LeaseOffer lease) {
		String id = UUID.randomUUID().toString();
		return new NewTask(id, name, key, "payload of " + id, due, ifPending, lease);
	}

	protected final Enqueued enqueue(@Nullable String key, Duration delay) {
		return this.store.enqueue(task(key, delay));
	}

	protected static Claimed claim(DelayedTaskStore store, String owner, int limit) {
		return store.claim(new ClaimRequest(owner, NAMES, limit, LOOK_AHEAD, LEASE, ANY_SIZE));
	}

	protected final List<LeasedTask> claim() {
		return claim(this.store, "a", 100).tasks();
	}

	protected final List<LeasedTask> claimByOther() {
		return claim(this.other, "b", 100).tasks();
	}

	/**
	 * A task with this key that the first node has leased and not begun.
	 */
	protected final LeasedTask leased(@Nullable String key) {
		Enqueued enqueued = enqueue(key, SOON);
		return only(claim(), enqueued.id());
	}

	/**
	 * A task with this key that the first node has begun.
	 */
	protected final LeasedTask begun(@Nullable String key) {
		Enqueued enqueued = enqueue(key, Duration.ZERO);
		return only(claim(), enqueued.id());
	}

	private static LeasedTask only(List<LeasedTask> tasks, String id) {
		return tasks.stream().filter((task) -> task.id().equals(id)).findFirst().orElseThrow();
	}

	protected static TaskRef ref(Enqueued enqueued) {
		return new TaskRef(enqueued.id(), enqueued.fence());
	}

	protected static List<TaskRef> refs(LeasedTask... tasks) {
		return Arrays.stream(tasks).map(LeasedTask::ref).toList();
	}

	protected static TaskId key(String key) {
		return new TaskId(NAME, key);
	}

	protected static Reply begin(DelayedTaskStore store, TaskRef task) {
		return store.begin(List.of(task), LEASE).get(0);
	}

	protected static Reply acknowledge(DelayedTaskStore store, TaskRef task) {
		return store.acknowledge(List.of(task)).get(0);
	}

	protected static Reply retry(DelayedTaskStore store, TaskRef task, int attempt, Duration delay) {
		return store.retry(List.of(new Retry(task, attempt, delay, "it failed"))).get(0);
	}

	protected static Reply release(DelayedTaskStore store, TaskRef task) {
		return store.release(List.of(task)).get(0);
	}

	protected static Reply bury(DelayedTaskStore store, TaskRef task) {
		return store.bury(List.of(new Burial(task, "hopeless"))).get(0);
	}

	protected final StoredTask stored(String id) {
		return this.store.find(id).orElseThrow();
	}

}
