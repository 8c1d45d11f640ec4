package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.JavaCommand;
import org.jspecify.annotations.Nullable;

/** A contestant that runs durable tasks. */
enum DurablePeer implements Contestant {

	TIMINGWHEEL("timingwheel", EnumSet.allOf(Store.class), ours(Map.of())),

	/** The settings for throughput: fewer and larger requests. */
	TIMINGWHEEL_500("timingwheel, batch-size 500, max-in-flight 4000", EnumSet.allOf(Store.class),
			ours(Map.of("timingwheel.store.batch-size", 500, "timingwheel.store.max-in-flight", 4000))),

	/** The store limits how many tasks run at once on all nodes. */
	TIMINGWHEEL_LIMITED("timingwheel, max-concurrent 1000", EnumSet.allOf(Store.class),
			ours(Map.of("timingwheel.tasks.probe.max-concurrent", 1000))),

	TIMINGWHEEL_BACKLOG("timingwheel, beside 1,000,000 due tasks of a limited name", EnumSet.allOf(Store.class),
			ours(Map.of(ProbeApplication.LIMITED, true))),

	/** Each run and its acknowledgement are one transaction. */
	TIMINGWHEEL_TRANSACTIONAL("timingwheel, transactional", EnumSet.of(Store.POSTGRESQL),
			ours(Map.of(ProbeApplication.TRANSACTIONAL, true))),

	DB_SCHEDULER("db-scheduler, polling every 1 s", EnumSet.of(Store.POSTGRESQL),
			(store, url, probe) -> new DbSchedulerNode(url, Duration.ofSeconds(1), probe)),

	DB_SCHEDULER_100MS("db-scheduler, polling every 100 ms", EnumSet.of(Store.POSTGRESQL),
			(store, url, probe) -> new DbSchedulerNode(url, Duration.ofMillis(100), probe)),

	QUARTZ("Quartz, JDBC store, clustered", EnumSet.of(Store.POSTGRESQL),
			(store, url, probe) -> new QuartzNode(url, probe)),

	REDISSON("Redisson RDelayedQueue", EnumSet.of(Store.REDIS), (store, url, probe) -> new RedissonNode(url, probe)),

	/** Fetches and completes jobs in batches. */
	GRAPHILE_WORKER("graphile-worker, local queue of 500, batched completion", Store.POSTGRESQL, "graphile-worker",
			true),

	GRAPHILE_WORKER_DEFAULT("graphile-worker, 8 jobs at once", Store.POSTGRESQL, "graphile-worker", false),

	BULLMQ("BullMQ, 50 jobs at once", Store.REDIS, "bullmq", false);

	private static final Set<DurablePeer> WITH_SCHEDULES = EnumSet.of(TIMINGWHEEL, DB_SCHEDULER, DB_SCHEDULER_100MS,
			QUARTZ);

	private final String label;

	private final Set<Store> stores;

	/** Null if this peer is written for Node.js. */
	private final @Nullable Start start;

	/** Null if this peer runs in a JVM. */
	private final @Nullable String script;

	private final boolean fast;

	/** A contestant that runs in a JVM. */
	DurablePeer(String label, Set<Store> stores, Start start) {
		this.label = label;
		this.stores = stores;
		this.start = start;
		this.script = null;
		this.fast = false;
	}

	/**
	 * A peer that is written for Node.js.
	 * @param script the name of its file, without the extension
	 * @param fast whether to use its settings for throughput
	 */
	DurablePeer(String label, Store store, String script, boolean fast) {
		this.label = label;
		this.stores = EnumSet.of(store);
		this.start = null;
		this.script = script;
		this.fast = fast;
	}

	private static Start ours(Map<String, Object> settings) {
		return (store, url, probe) -> new TimingWheelNode(store, url, settings, probe);
	}

	/**
	 * Starts a node in this JVM.
	 * @param store the kind of server
	 * @param url where it is
	 * @param probe the body of the tasks
	 */
	TaskNode start(Store store, String url, Probe probe) {
		if (this.start == null) {
			throw new UnsupportedOperationException(this + " does not run in a JVM");
		}
		return this.start.node(store, url, probe);
	}

	/**
	 * The command that starts a node in a process of its own.
	 * @param store the kind of server
	 * @param url where it is
	 * @param jvmArgs the settings of a JVM
	 */
	List<String> command(Store store, String url, List<String> jvmArgs) {
		return (this.script != null) ? NodeJsPeers.command(this.script, url, this.fast)
				: JavaCommand.of(jvmArgs, NodeMain.class, store.name(), url, name());
	}

	@Override
	public boolean isAvailable() {
		return this.script == null || NodeJsPeers.areInstalled();
	}

	boolean uses(Store store) {
		return this.stores.contains(store);
	}

	/**
	 * Whether the nodes of this peer can hold back due tasks. If they cannot, the
	 * measurement stores the tasks before they are due, and this peer has no node that
	 * only stores tasks.
	 */
	boolean canPause() {
		return this != REDISSON;
	}

	@Override
	public String label() {
		return this.label;
	}

	@Override
	public boolean isOurs() {
		return this == TIMINGWHEEL || this == TIMINGWHEEL_BACKLOG || runsOtherwise();
	}

	/**
	 * Whether this is our node with other settings, which change only how it runs tasks.
	 */
	boolean runsOtherwise() {
		return this == TIMINGWHEEL_500 || this == TIMINGWHEEL_LIMITED || this == TIMINGWHEEL_TRANSACTIONAL;
	}

	/** Whether this peer takes part only in the measurements that are made for it. */
	boolean isSpecial() {
		return this == QUARTZ || this == TIMINGWHEEL_BACKLOG;
	}

	/** Whether this peer keeps many schedules that users can define at run time. */
	boolean hasSchedules() {
		return WITH_SCHEDULES.contains(this);
	}

	/** Starts a node in this JVM. */
	private interface Start {

		TaskNode node(Store store, String url, Probe probe);

	}

}
