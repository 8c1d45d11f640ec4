package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Moved;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import org.jspecify.annotations.Nullable;

/**
 * A node of a test. It has a store object of its own. Most of its calls are about one
 * task.
 *
 * @since 0.1
 */
public final class StoreNode {

	/** How far ahead the claims of a node look. */
	public static final Duration LOOK_AHEAD = Duration.ofMinutes(2);

	/** How long the leases of a node last. */
	public static final Duration LEASE = Duration.ofMinutes(5);

	/** The error of a retry. */
	static final String ERROR = "it failed";

	/** The reason of a burial. */
	static final String REASON = "hopeless";

	private final String owner;

	private final DelayedTaskStore store;

	/**
	 * Creates a node.
	 * @param owner its id
	 * @param store its store object
	 */
	public StoreNode(String owner, DelayedTaskStore store) {
		this.owner = owner;
		this.store = store;
	}

	/**
	 * The store object of this node.
	 * @return the store
	 */
	public DelayedTaskStore store() {
		return this.store;
	}

	Enqueued enqueue(NewTask task) {
		return this.store.enqueue(List.of(task)).get(0);
	}

	boolean cancel(Target target) {
		return this.store.cancel(target);
	}

	@Nullable Moved move(Target target, Duration delay) {
		return this.store.move(target, DueTime.after(delay));
	}

	/** Finds a task that has to be there. */
	StoredTask find(Target target) {
		return this.store.find(target).orElseThrow(() -> new AssertionError("There is no task for " + target));
	}

	boolean has(Target target) {
		return this.store.find(target).isPresent();
	}

	/** The request for all tasks of some names, but for no suspect. */
	ClaimRequest request(String... names) {
		Map<String, Share> shares = new HashMap<>();
		Arrays.asList(names).forEach((name) -> shares.put(name, new Share(1000, 1000)));
		return request(shares, 1000, false);
	}

	ClaimRequest request(Map<String, Share> shares, int limit, boolean suspect) {
		return new ClaimRequest(this.owner, shares, limit, suspect, LOOK_AHEAD, LEASE, Long.MAX_VALUE);
	}

	/** Claims all tasks but suspects. */
	List<LeasedTask> claim() {
		return this.store.claim(request(StoreContract.NAME)).tasks();
	}

	Claimed claim(Map<String, Share> shares, int limit) {
		return this.store.claim(request(shares, limit, false));
	}

	/** Claims tasks of the name whose starts are limited. */
	Claimed claim(StartLimits limits) {
		return claim(limits, 1000);
	}

	Claimed claim(StartLimits limits, int limit) {
		return claim(Map.of(StoreContract.NAME, new Share(limit, limit, limits, null)), limit);
	}

	/**
	 * Claims a suspect.
	 * @return the suspect, {@code null} if there is none
	 */
	@Nullable LeasedTask claimSuspect() {
		return claimSuspect(new Share(1000, 1000));
	}

	@Nullable LeasedTask claimSuspect(Share share) {
		List<LeasedTask> tasks = this.store.claim(request(Map.of(StoreContract.NAME, share), 1000, true)).tasks();
		return (tasks.size() == 1 && tasks.get(0).suspect()) ? tasks.get(0) : null;
	}

	Reply begin(LeasedTask task) {
		return begin(task.ref());
	}

	Reply begin(TaskRef task) {
		return this.store.begin(List.of(task), LEASE).get(0);
	}

	Reply renew(LeasedTask task) {
		return this.store.renew(List.of(task.ref()), LEASE).get(0);
	}

	Reply settle(Settlement settlement) {
		return this.store.settle(List.of(settlement)).get(0);
	}

	Reply acknowledge(LeasedTask task) {
		return settle(new Settlement.Acknowledge(task.ref()));
	}

	/** Ends the run of a schedule. */
	Reply repeat(LeasedTask run, @Nullable DueTime next) {
		return settle(new Settlement.Repeat(run.ref(), StoreContract.HOURLY, next, null));
	}

	Reply retry(LeasedTask task, Duration delay) {
		return settle(new Settlement.Retry(task.ref(), task.attempt() + 1, delay, ERROR));
	}

	/** Gives a task back whose body may have started. */
	Reply release(LeasedTask task) {
		return settle(new Settlement.Release(task.ref(), true));
	}

	Reply releaseUnstarted(LeasedTask task) {
		return settle(new Settlement.Release(task.ref(), false));
	}

	Reply bury(LeasedTask task) {
		return settle(new Settlement.Bury(task.ref(), REASON));
	}

	Requeue requeue(String id) {
		return this.store.requeue(List.of(id)).get(0);
	}

	/** The counts of the name. */
	StoredCounts counts() {
		return counts(StoreContract.NAME);
	}

	StoredCounts counts(String name) {
		return this.store.counts(Collections.singleton(name)).getOrDefault(name, StoredCounts.NONE);
	}

	List<StoredTask> pending() {
		return list(Order.PENDING);
	}

	/** All pending or all dead tasks of the name, read in large pages. */
	List<StoredTask> list(Order order) {
		return StoreContract.pages(this.store, new ListQuery(StoreContract.NAME, order, null, 1000));
	}

}
