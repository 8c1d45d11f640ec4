package io.timingwheel.benchmarks.durable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.benchmarks.Contestant;

/**
 * A contestant that runs durable tasks.
 */
enum DurablePeer implements Contestant {

	TIMINGWHEEL("timingwheel", EnumSet.allOf(Store.class)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new TimingWheelNode(store, url, Map.of(), probe);
		}

	},

	/** The settings for throughput: fewer and larger requests. */
	TIMINGWHEEL_500("timingwheel, batch-size 500, max-in-flight 4000", EnumSet.allOf(Store.class)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new TimingWheelNode(store, url,
					Map.of("timingwheel.store.batch-size", 500, "timingwheel.store.max-in-flight", 4000), probe);
		}

	},

	/** As before the acknowledgements stopped waiting for the disk. */
	TIMINGWHEEL_ALL_WAIT("timingwheel, each commit waits for the disk", EnumSet.of(Store.POSTGRESQL)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new TimingWheelNode(store, PostgresServer.whereAllCommitsWait(url), Map.of(), probe);
		}

	},

	/** Places in the store for the tasks that run at once on all nodes. */
	TIMINGWHEEL_LIMITED("timingwheel, max-concurrent 1000", EnumSet.allOf(Store.class)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new TimingWheelNode(store, url, Map.of("timingwheel.tasks.probe.max-concurrent", 1000), probe);
		}

	},

	TIMINGWHEEL_BACKLOG("timingwheel, beside 1,000,000 due tasks of a limited name", EnumSet.allOf(Store.class)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new TimingWheelNode(store, url, Map.of(ProbeApplication.LIMITED, true), probe);
		}

	},

	/** Each run and its acknowledgement are one transaction. */
	TIMINGWHEEL_TRANSACTIONAL("timingwheel, transactional", EnumSet.of(Store.POSTGRESQL)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new TimingWheelNode(store, url, Map.of(ProbeApplication.TRANSACTIONAL, true), probe);
		}

	},

	DB_SCHEDULER("db-scheduler, polling every 1 s", EnumSet.of(Store.POSTGRESQL)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new DbSchedulerNode(url, Duration.ofSeconds(1), probe);
		}

	},

	DB_SCHEDULER_100MS("db-scheduler, polling every 100 ms", EnumSet.of(Store.POSTGRESQL)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new DbSchedulerNode(url, Duration.ofMillis(100), probe);
		}

	},

	QUARTZ("Quartz, JDBC store, clustered", EnumSet.of(Store.POSTGRESQL)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new QuartzNode(url, probe);
		}

	},

	REDISSON("Redisson RDelayedQueue", EnumSet.of(Store.REDIS)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new RedissonNode(url, probe);
		}

	},

	/** Fetches and completes jobs in batches. */
	GRAPHILE_WORKER("graphile-worker, local queue of 500, batched completion", EnumSet.of(Store.POSTGRESQL)) {

		@Override
		List<String> command(Store store, String url, List<String> jvmArgs) {
			return NodeJsPeers.command("graphile-worker", url, true);
		}

	},

	GRAPHILE_WORKER_DEFAULT("graphile-worker, 8 jobs at once", EnumSet.of(Store.POSTGRESQL)) {

		@Override
		List<String> command(Store store, String url, List<String> jvmArgs) {
			return NodeJsPeers.command("graphile-worker", url, false);
		}

	},

	BULLMQ("BullMQ, 50 jobs at once", EnumSet.of(Store.REDIS)) {

		@Override
		List<String> command(Store store, String url, List<String> jvmArgs) {
			return NodeJsPeers.command("bullmq", url, false);
		}

	};

	private static final Set<DurablePeer> ON_NODE_JS = EnumSet.of(GRAPHILE_WORKER, GRAPHILE_WORKER_DEFAULT, BULLMQ);

	private static final Set<DurablePeer> WITH_SCHEDULES = EnumSet.of(TIMINGWHEEL, DB_SCHEDULER, DB_SCHEDULER_100MS,
			QUARTZ);

	private final String label;

	private final Set<Store> stores;

	DurablePeer(String label, Set<Store> stores) {
		this.label = label;
		this.stores = stores;
	}

	/**
	 * Starts a node in this JVM.
	 * @param store the kind of server
	 * @param url where it is
	 * @param probe the body of the tasks
	 */
	TaskNode start(Store store, String url, Probe probe) {
		throw new UnsupportedOperationException(this + " does not run in a JVM");
	}

	/**
	 * The command that starts a node in a process of its own.
	 * @param store the kind of server
	 * @param url where it is
	 * @param jvmArgs the settings of a JVM
	 */
	List<String> command(Store store, String url, List<String> jvmArgs) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(jvmArgs);
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), NodeMain.class.getName(), store.name(),
				url, name()));
		return command;
	}

	@Override
	public boolean isAvailable() {
		return !ON_NODE_JS.contains(this) || NodeJsPeers.areInstalled();
	}

	boolean uses(Store store) {
		return this.stores.contains(store);
	}

	/**
	 * Whether the nodes of this peer can hold back due tasks. If they cannot, the
	 * measurement stores the tasks before they are due.
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
		return this == TIMINGWHEEL_500 || this == TIMINGWHEEL_ALL_WAIT || this == TIMINGWHEEL_LIMITED
				|| this == TIMINGWHEEL_TRANSACTIONAL;
	}

	/**
	 * Whether this peer takes part only in the measurements that are made for it.
	 */
	boolean isSpecial() {
		return this == QUARTZ || this == TIMINGWHEEL_BACKLOG;
	}

	/**
	 * Whether this peer keeps many schedules that users can define at run time.
	 */
	boolean hasSchedules() {
		return WITH_SCHEDULES.contains(this);
	}

}
