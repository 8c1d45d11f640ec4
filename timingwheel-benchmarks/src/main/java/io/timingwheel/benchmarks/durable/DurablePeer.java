package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.util.EnumSet;
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

	REDISSON("Redisson RDelayedQueue", EnumSet.of(Store.REDIS)) {

		@Override
		TaskNode start(Store store, String url, Probe probe) {
			return new RedissonNode(url, probe);
		}

	};

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
	abstract TaskNode start(Store store, String url, Probe probe);

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
		return this == TIMINGWHEEL || runsOtherwise();
	}

	/**
	 * Whether this is our node with other settings, which change only how it runs tasks.
	 */
	boolean runsOtherwise() {
		return this == TIMINGWHEEL_500 || this == TIMINGWHEEL_TRANSACTIONAL;
	}

}
