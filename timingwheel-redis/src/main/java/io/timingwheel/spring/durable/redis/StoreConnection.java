package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.Assert;

/**
 * The store's own connection to the Redis of the application. It differs from the
 * connection of the application in two ways:
 * <ul>
 * <li>If the connection breaks, the commands on it fail. Lettuce would by default send
 * them again later, and a command that replaces a task could then replace a newer
 * one.</li>
 * <li>A command waits for its reply for the application's timeout, but for 5 s at most,
 * which is much less than a lease. After a break, the client reconnects at least once a
 * second.</li>
 * </ul>
 * Thread-safe.
 */
final class StoreConnection implements AutoCloseable {

	static final Duration MAX_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration REFRESH_INTERVAL = Duration.ofSeconds(5);

	/** The smallest number that Lettuce accepts. */
	private static final int THREADS = 2;

	private final ClientResources resources;

	private final LettuceConnectionFactory factory;

	private final AtomicLong refreshedNanos = new AtomicLong(System.nanoTime());

	/**
	 * Connects to the Redis of the application.
	 * @param maxTimeout how long a command waits for its reply at most
	 */
	StoreConnection(LettuceConnectionFactory application, Duration maxTimeout) {
		this.resources = resources(application.getClientConfiguration());
		this.factory = new LettuceConnectionFactory(configuration(application),
				clientConfiguration(application, this.resources, maxTimeout));
		this.factory.afterPropertiesSet();
		this.factory.start();
	}

	private static ClientResources resources(LettuceClientConfiguration application) {
		ClientResources.Builder builder = ClientResources.builder()
			.ioThreadPoolSize(THREADS)
			.computationThreadPoolSize(THREADS)
			.reconnectDelay(Delay.exponential(Duration.ZERO, Duration.ofSeconds(1), 2, TimeUnit.MILLISECONDS));
		// The application's settings for addresses and sockets, and its metrics and
		// traces
		application.getClientResources()
			.ifPresent((resources) -> builder.addressResolverGroup(resources.addressResolverGroup())
				.socketAddressResolver(resources.socketAddressResolver())
				.nettyCustomizer(resources.nettyCustomizer())
				.commandLatencyRecorder(resources.commandLatencyRecorder())
				.tracing(resources.tracing()));
		return builder.build();
	}

	private static LettuceClientConfiguration clientConfiguration(LettuceConnectionFactory factory,
			ClientResources resources, Duration maxTimeout) {
		LettuceClientConfiguration application = factory.getClientConfiguration();
		ClientOptions given = application.getClientOptions().orElseGet(ClientOptions::create);
		ClientOptions.Builder options = (factory.getClusterConfiguration() == null) ? given.mutate()
				: (given instanceof ClusterClientOptions cluster) ? cluster.mutate()
						: ClusterClientOptions.builder(given);
		Duration timeout = application.getCommandTimeout();
		LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder()
			.clientOptions(options.autoReconnect(true)
				.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
				.timeoutOptions(TimeoutOptions.create())
				.build())
			.clientResources(resources)
			.commandTimeout((timeout.isZero() || timeout.compareTo(maxTimeout) > 0) ? maxTimeout : timeout)
			.shutdownTimeout(application.getShutdownTimeout())
			.shutdownQuietPeriod(Duration.ZERO);
		application.getClientName().ifPresent(builder::clientName);
		application.getRedisCredentialsProviderFactory().ifPresent(builder::redisCredentialsProviderFactory);
		if (application.isUseSsl()) {
			LettuceSslClientConfigurationBuilder ssl = builder.useSsl().verifyPeer(application.getVerifyMode());
			return (application.isStartTls() ? ssl.startTls() : ssl).build();
		}
		return builder.build();
	}

	/**
	 * Reads the private field of the factory. A public getter returns the configuration
	 * only if the factory was created with a configuration of the same type. Otherwise
	 * the getter returns a Redis on this host.
	 */
	private static RedisConfiguration configuration(LettuceConnectionFactory application) {
		Object configuration = new DirectFieldAccessor(application).getPropertyValue("configuration");
		Assert.isInstanceOf(RedisConfiguration.class, configuration);
		return (RedisConfiguration) configuration;
	}

	boolean isCluster() {
		return this.factory.getClusterConfiguration() != null;
	}

	Duration timeout() {
		return this.factory.getClientConfiguration().getCommandTimeout();
	}

	AbstractRedisClient client() {
		return this.factory.getRequiredNativeClient();
	}

	@SuppressWarnings("unchecked")
	RedisClusterAsyncCommands<byte[], byte[]> commands() {
		RedisConnection connection = this.factory.getConnection();
		try {
			return (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
		}
		finally {
			connection.close(); // does not close the native connection, which is shared
		}
	}

	/**
	 * Waits for the reply to a command.
	 */
	<T> T get(CompletionStage<T> reply) {
		return Waiting.until(System.nanoTime() + timeout().toNanos(), reply.toCompletableFuture());
	}

	/**
	 * Looks up the servers of a Cluster again, at most once in {@link #REFRESH_INTERVAL}.
	 * Another server may have replaced the server that does not answer. Does not wait for
	 * the result.
	 */
	void refresh() {
		long last = this.refreshedNanos.get();
		long now = System.nanoTime();
		if (client() instanceof RedisClusterClient cluster && now - last > REFRESH_INTERVAL.toNanos()
				&& this.refreshedNanos.compareAndSet(last, now)) {
			cluster.refreshPartitionsAsync();
		}
	}

	/**
	 * Host and port of the primary of a Cluster that has a key, {@code null} if none is
	 * known.
	 */
	@Nullable String server(byte[] key) {
		RedisClusterNode node = ((RedisClusterClient) client()).getPartitions()
			.getPartitionBySlot(SlotHash.getSlot(key));
		return (node != null) ? node.getUri().getHost() + ":" + node.getUri().getPort() : null;
	}

	/**
	 * Connects again, because the server has become a replica.
	 */
	void reset() {
		this.factory.resetConnection();
	}

	@Override
	public void close() {
		this.factory.destroy();
		this.resources.shutdown(0, 2, TimeUnit.SECONDS);
	}

}
