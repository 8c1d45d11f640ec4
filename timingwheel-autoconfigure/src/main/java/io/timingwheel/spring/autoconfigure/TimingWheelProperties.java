package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.core.Ordered;
import org.springframework.util.unit.DataSize;

/**
 * The {@code timingwheel.*} properties.
 */
@ConfigurationProperties("timingwheel")
public class TimingWheelProperties {

	/**
	 * Whether to set up the wheel, the template and the annotations. Without them,
	 * annotated methods run at once when called.
	 */
	private boolean enabled = true;

	/**
	 * Resolution of the wheel: how late a task may fire at most. Up to one day.
	 */
	private Duration tick = Duration.ofMillis(1);

	/**
	 * Number of slots per level, a power of two from 2 to 65536.
	 */
	private int wheelSize = 256;

	/**
	 * Number of shards, a power of two from 1 to 1024. Derived from the number of
	 * processors by default.
	 */
	private @Nullable Integer shards;

	/**
	 * How many timers may be pending in memory. Beyond it, calls are rejected. No limit
	 * by default.
	 */
	private @Nullable Long maxPending;

	private final Shutdown shutdown = new Shutdown();

	private final TaskScheduler taskScheduler = new TaskScheduler();

	private final Timeout timeout = new Timeout();

	private final Observations observations = new Observations();

	private final Health health = new Health();

	private final Store store = new Store();

	public boolean isEnabled() {
		return this.enabled;
	}

	public void setEnabled(boolean enabled) {
		this.enabled = enabled;
	}

	public Duration getTick() {
		return this.tick;
	}

	public void setTick(Duration tick) {
		this.tick = tick;
	}

	public int getWheelSize() {
		return this.wheelSize;
	}

	public void setWheelSize(int wheelSize) {
		this.wheelSize = wheelSize;
	}

	public @Nullable Integer getShards() {
		return this.shards;
	}

	public void setShards(@Nullable Integer shards) {
		this.shards = shards;
	}

	public @Nullable Long getMaxPending() {
		return this.maxPending;
	}

	public void setMaxPending(@Nullable Long maxPending) {
		this.maxPending = maxPending;
	}

	public Shutdown getShutdown() {
		return this.shutdown;
	}

	public TaskScheduler getTaskScheduler() {
		return this.taskScheduler;
	}

	public Timeout getTimeout() {
		return this.timeout;
	}

	public Observations getObservations() {
		return this.observations;
	}

	public Health getHealth() {
		return this.health;
	}

	public Store getStore() {
		return this.store;
	}

	/**
	 * What happens when the application context closes.
	 */
	public static class Shutdown {

		/**
		 * What to do with tasks that are pending in memory: cancel them, or run those
		 * that fall due within the await-termination period.
		 */
		private Pending pending = Pending.CANCEL;

		/**
		 * How long to wait for tasks that are running, and with "run" for those that fall
		 * due.
		 */
		private Duration awaitTerminationPeriod = Duration.ofSeconds(30);

		public Pending getPending() {
			return this.pending;
		}

		public void setPending(Pending pending) {
			this.pending = pending;
		}

		public Duration getAwaitTerminationPeriod() {
			return this.awaitTerminationPeriod;
		}

		public void setAwaitTerminationPeriod(Duration awaitTerminationPeriod) {
			this.awaitTerminationPeriod = awaitTerminationPeriod;
		}

		/**
		 * What to do with pending tasks.
		 */
		public enum Pending {

			/**
			 * Cancel all.
			 */
			CANCEL,

			/**
			 * Run what falls due within the await-termination period, never early, and
			 * cancel the rest.
			 */
			RUN

		}

	}

	/**
	 * Settings of the task scheduler.
	 */
	public static class TaskScheduler {

		/**
		 * Whether to offer a "taskScheduler" on the wheel, in place of Boot's.
		 */
		private boolean enabled = false;

		public boolean isEnabled() {
			return this.enabled;
		}

		public void setEnabled(boolean enabled) {
			this.enabled = enabled;
		}

	}

	/**
	 * Settings of {@code @Timeout}.
	 */
	public static class Timeout {

		/**
		 * Order of the advice of "@Timeout" among the advisors of a bean. By default
		 * inside "@Retryable" and outside "@Transactional".
		 */
		private int order = Ordered.LOWEST_PRECEDENCE - 1;

		public int getOrder() {
			return this.order;
		}

		public void setOrder(int order) {
			this.order = order;
		}

	}

	/**
	 * Settings of the observations of task executions.
	 */
	public static class Observations {

		/**
		 * Whether to observe the execution of delayed tasks when an observation registry
		 * is present.
		 */
		private boolean enabled = true;

		public boolean isEnabled() {
			return this.enabled;
		}

		public void setEnabled(boolean enabled) {
			this.enabled = enabled;
		}

	}

	/**
	 * Settings of the health indicator.
	 */
	public static class Health {

		/**
		 * How far the wheel may be behind its time and still be healthy.
		 */
		private Duration maxLag = Duration.ofSeconds(1);

		public Duration getMaxLag() {
			return this.maxLag;
		}

		public void setMaxLag(Duration maxLag) {
			this.maxLag = maxLag;
		}

	}

	/**
	 * Settings of durable tasks.
	 */
	public static class Store {

		/**
		 * What keeps durable tasks.
		 */
		private Type type = Type.NONE;

		/**
		 * Name of this node, by which it signs its leases. Generated from the host name
		 * by default.
		 */
		private @Nullable String nodeId;

		/**
		 * How long a task that has begun is left to a node that says nothing more.
		 * Renewed while the task runs.
		 */
		private Duration lease = Duration.ofSeconds(30);

		/**
		 * How long before they are due tasks are claimed and put on the wheel.
		 */
		private Duration lookAhead = Duration.ofSeconds(2);

		/**
		 * How often to look for tasks when nothing is known to be due.
		 */
		private Duration pollInterval = Duration.ofSeconds(1);

		/**
		 * How many tasks are claimed at a time.
		 */
		private int batchSize = 100;

		/**
		 * How many tasks this node holds at most, claimed and running.
		 */
		private int maxInFlight = 1000;

		/**
		 * After how many failures a task is dead.
		 */
		private int maxAttempts = 10;

		/**
		 * After how many deliveries that were lost with their node a task is dead.
		 */
		private int maxLostDeliveries = 5;

		private final Backoff backoff = new Backoff();

		/**
		 * How large the arguments of a task may be, as JSON.
		 */
		private DataSize maxPayloadSize = DataSize.ofKilobytes(64);

		private final Jdbc jdbc = new Jdbc();

		private final Redis redis = new Redis();

		public Type getType() {
			return this.type;
		}

		public void setType(Type type) {
			this.type = type;
		}

		public @Nullable String getNodeId() {
			return this.nodeId;
		}

		public void setNodeId(@Nullable String nodeId) {
			this.nodeId = nodeId;
		}

		public Duration getLease() {
			return this.lease;
		}

		public void setLease(Duration lease) {
			this.lease = lease;
		}

		public Duration getLookAhead() {
			return this.lookAhead;
		}

		public void setLookAhead(Duration lookAhead) {
			this.lookAhead = lookAhead;
		}

		public Duration getPollInterval() {
			return this.pollInterval;
		}

		public void setPollInterval(Duration pollInterval) {
			this.pollInterval = pollInterval;
		}

		public int getBatchSize() {
			return this.batchSize;
		}

		public void setBatchSize(int batchSize) {
			this.batchSize = batchSize;
		}

		public int getMaxInFlight() {
			return this.maxInFlight;
		}

		public void setMaxInFlight(int maxInFlight) {
			this.maxInFlight = maxInFlight;
		}

		public int getMaxAttempts() {
			return this.maxAttempts;
		}

		public void setMaxAttempts(int maxAttempts) {
			this.maxAttempts = maxAttempts;
		}

		public int getMaxLostDeliveries() {
			return this.maxLostDeliveries;
		}

		public void setMaxLostDeliveries(int maxLostDeliveries) {
			this.maxLostDeliveries = maxLostDeliveries;
		}

		public Backoff getBackoff() {
			return this.backoff;
		}

		public DataSize getMaxPayloadSize() {
			return this.maxPayloadSize;
		}

		public void setMaxPayloadSize(DataSize maxPayloadSize) {
			this.maxPayloadSize = maxPayloadSize;
		}

		public Jdbc getJdbc() {
			return this.jdbc;
		}

		public Redis getRedis() {
			return this.redis;
		}

		/**
		 * What keeps durable tasks.
		 */
		public enum Type {

			/**
			 * Nothing: there are no durable tasks.
			 */
			NONE,

			/**
			 * The application's relational database.
			 */
			JDBC,

			/**
			 * Redis, through Lettuce.
			 */
			REDIS

		}

		/**
		 * How long a failed task waits for the next attempt.
		 */
		public static class Backoff {

			/**
			 * Delay after the first failure.
			 */
			private Duration initial = Duration.ofSeconds(1);

			/**
			 * By how much each delay is longer than the one before.
			 */
			private double multiplier = 2;

			/**
			 * The longest delay.
			 */
			private Duration max = Duration.ofMinutes(10);

			/**
			 * By which part of itself a delay varies at most, from 0 to 1.
			 */
			private double jitter = 0.2;

			public Duration getInitial() {
				return this.initial;
			}

			public void setInitial(Duration initial) {
				this.initial = initial;
			}

			public double getMultiplier() {
				return this.multiplier;
			}

			public void setMultiplier(double multiplier) {
				this.multiplier = multiplier;
			}

			public Duration getMax() {
				return this.max;
			}

			public void setMax(Duration max) {
				this.max = max;
			}

			public double getJitter() {
				return this.jitter;
			}

			public void setJitter(double jitter) {
				this.jitter = jitter;
			}

		}

		/**
		 * Settings of the store in a relational database.
		 */
		public static class Jdbc {

			/**
			 * Table of the tasks, with its schema if need be.
			 */
			private String tableName = "timingwheel_task";

			/**
			 * When to create the table if it is missing.
			 */
			private InitializeSchema initializeSchema = InitializeSchema.EMBEDDED;

			public String getTableName() {
				return this.tableName;
			}

			public void setTableName(String tableName) {
				this.tableName = tableName;
			}

			public InitializeSchema getInitializeSchema() {
				return this.initializeSchema;
			}

			public void setInitializeSchema(InitializeSchema initializeSchema) {
				this.initializeSchema = initializeSchema;
			}

			/**
			 * When to create the table. (Boot's own enum is not on every classpath.)
			 */
			public enum InitializeSchema {

				/**
				 * In an embedded database.
				 */
				EMBEDDED,

				/**
				 * In any database, if it is not there.
				 */
				ALWAYS,

				/**
				 * Never.
				 */
				NEVER

			}

		}

		/**
		 * Settings of the store in Redis.
		 */
		public static class Redis {

			/**
			 * What the keys of the tasks have in common. Applications that do not share
			 * their tasks have different ones.
			 */
			private String namespace = "timingwheel";

			/**
			 * Over how many partitions the tasks are spread, from 1 to 1024. Fixed with
			 * the first start.
			 */
			private int partitions = 16;

			/**
			 * How many replicas must have received a task when it is stored or cancelled.
			 */
			private int waitReplicas = 0;

			/**
			 * How long to wait for these replicas.
			 */
			private Duration waitTimeout = Duration.ofSeconds(1);

			public String getNamespace() {
				return this.namespace;
			}

			public void setNamespace(String namespace) {
				this.namespace = namespace;
			}

			public int getPartitions() {
				return this.partitions;
			}

			public void setPartitions(int partitions) {
				this.partitions = partitions;
			}

			public int getWaitReplicas() {
				return this.waitReplicas;
			}

			public void setWaitReplicas(int waitReplicas) {
				this.waitReplicas = waitReplicas;
			}

			public Duration getWaitTimeout() {
				return this.waitTimeout;
			}

			public void setWaitTimeout(Duration waitTimeout) {
				this.waitTimeout = waitTimeout;
			}

		}

	}

}
