package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Stores on one Redis, in one namespace, each with a connection of its own like the
 * stores of two nodes. As an extension, this class closes them after the tests of a
 * class.
 */
public final class RedisStores implements AutoCloseable, AfterAllCallback {

	static final RedisStoreOptions OPTIONS = options("test");

	/** A busy machine takes less time than this for a reply. */
	static final Duration PATIENCE = Duration.ofSeconds(30);

	private final LettuceConnectionFactory factory;

	private final Duration timeout;

	private final RedisStoreOptions options;

	private final List<RedisDelayedTaskStore> stores = new ArrayList<>();

	/** Creates stores that wait this long for a reply. */
	RedisStores(RedisConfiguration configuration, Duration timeout, RedisStoreOptions options) {
		this.timeout = timeout;
		this.options = options;
		this.factory = new LettuceConnectionFactory(configuration,
				LettuceClientConfiguration.builder().commandTimeout(timeout).build());
		this.factory.afterPropertiesSet();
		this.factory.start();
	}

	static RedisStores on(RedisProcess server) {
		return new RedisStores(configuration(server), PATIENCE, OPTIONS);
	}

	static RedisStores on(RedisCluster cluster, Duration timeout) {
		return new RedisStores(cluster.configuration(), timeout, OPTIONS);
	}

	static RedisStandaloneConfiguration configuration(RedisProcess server) {
		return new RedisStandaloneConfiguration("127.0.0.1", server.port());
	}

	static RedisStoreOptions options(String namespace) {
		RedisStoreOptions defaults = RedisStoreOptions.DEFAULTS;
		return new RedisStoreOptions(namespace, defaults.partitions(), 0, defaults.waitTimeout(), defaults.maxDead());
	}

	static RedisStoreOptions waiting(Duration timeout) {
		return new RedisStoreOptions(OPTIONS.namespace(), OPTIONS.partitions(), 1, timeout, OPTIONS.maxDead());
	}

	public RedisDelayedTaskStore node() {
		return node(this.options);
	}

	RedisDelayedTaskStore node(RedisStoreOptions options) {
		RedisDelayedTaskStore store = new RedisDelayedTaskStore(this.factory, options, this.timeout);
		this.stores.add(store);
		return store;
	}

	RedisConnection connection() {
		return this.factory.getConnection();
	}

	public void clear() {
		this.stores.forEach(RedisDelayedTaskStore::close);
		this.stores.clear();
		try (RedisConnection connection = connection()) {
			String pattern = "timingwheel:{" + this.options.namespace() + "[:}]*";
			Set<byte[]> keys = connection.keyCommands().keys(pattern.getBytes(StandardCharsets.UTF_8));
			if (!keys.isEmpty()) {
				connection.keyCommands().del(keys.toArray(byte[][]::new));
			}
		}
	}

	@Override
	public void afterAll(ExtensionContext context) {
		close();
	}

	@Override
	public void close() {
		this.stores.forEach(RedisDelayedTaskStore::close);
		this.factory.destroy();
	}

}
