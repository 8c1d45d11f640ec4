package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.StaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.Assert;

/**
 * The store's own connection to the Redis of the application. If it breaks, the commands
 * on it fail: Lettuce would by default send them again later, and a command that replaces
 * a task could then replace a newer one. A command waits for its reply for 5 s at most,
 * which is much less than a lease. Thread-safe.
 */
final class StoreConnection implements AutoCloseable {

	static final Duration MAX_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration REFRESH_INTERVAL = Duration.ofSeconds(5);

	private static final int THREADS = 2;

	private final ClientResources resources;

	private final LettuceConnectionFactory factory;

	private final AtomicLong refreshedNanos = new AtomicLong(System.nanoTime());

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
	 * Reads a private field, since the public getters return a Redis on this host if the
	 * factory was created with a configuration of another type.
	 */
	private static RedisConfiguration configuration(LettuceConnectionFactory application) {
		Object configuration = new DirectFieldAccessor(application).getPropertyValue("configuration");
		Assert.isInstanceOf(RedisConfiguration.class, configuration);
		return (RedisConfiguration) configuration;
	}

	boolean isCluster() {
		return this.factory.getClusterConfiguration() != null;
	}

	/**
	 * Whether the application lists a primary and its replicas. The client then has no
	 * address.
	 */
	boolean isList() {
		return configuration(this.factory) instanceof StaticMasterReplicaConfiguration;
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

	<T> T get(CompletionStage<T> reply) {
		return get(reply, System.nanoTime() + timeout().toNanos());
	}

	/**
	 * Waits for the reply to a command until a time of {@link System#nanoTime()}. An
	 * interrupt does not end the wait: the caller may wait for calls of other threads.
	 */
	static <T> T get(CompletionStage<T> reply, long deadline) {
		CompletableFuture<T> future = reply.toCompletableFuture();
		try {
			return future.isDone() ? future.join()
					: future.copy().orTimeout(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS).join();
		}
		catch (CompletionException | CancellationException ex) {
			future.cancel(true);
			throw RedisErrors.translated((ex.getCause() instanceof Exception cause) ? cause : ex);
		}
	}

	/** Begins to look up the servers of a Cluster, once in {@link #REFRESH_INTERVAL}. */
	void refresh() {
		long last = this.refreshedNanos.get();
		long now = System.nanoTime();
		if (client() instanceof RedisClusterClient cluster && now - last > REFRESH_INTERVAL.toNanos()
				&& this.refreshedNanos.compareAndSet(last, now)) {
			cluster.refreshPartitionsAsync();
		}
	}

	/** Host and port of the primary that has a key, {@code null} if none is known. */
	@Nullable String server(byte[] key) {
		RedisClusterNode node = ((RedisClusterClient) client()).getPartitions()
			.getPartitionBySlot(SlotHash.getSlot(key));
		return (node != null) ? node.getUri().getHost() + ":" + node.getUri().getPort() : null;
	}

	void reset() {
		this.factory.resetConnection();
	}

	@Override
	public void close() {
		this.factory.destroy();
		this.resources.shutdown(0, 2, TimeUnit.SECONDS);
	}

	/** The scripts, and the field that the connection reads, in a native image. */
	static final class Hints implements RuntimeHintsRegistrar {

		@Override
		public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
			hints.resources().registerPattern("io/timingwheel/spring/durable/redis/*.lua");
			hints.reflection()
				.registerTypeIfPresent(classLoader,
						"org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
						(type) -> type.onReachableType(TypeReference.of(StoreConnection.class))
							.withField("configuration"));
		}

	}

}
