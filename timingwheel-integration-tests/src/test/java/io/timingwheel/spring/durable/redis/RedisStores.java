package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Stores on one Redis, each with a connection of its own like those of two nodes. As an
 * extension it is closed after the tests of a class.
 */
final class RedisStores implements AutoCloseable, AfterAllCallback {

	static final RedisStoreOptions OPTIONS = new RedisStoreOptions("test", 16, 0, Duration.ofSeconds(1));

	private final LettuceConnectionFactory factory;

	private final List<RedisDelayedTaskStore> stores = new ArrayList<>();

	RedisStores(RedisConfiguration configuration, Duration timeout) {
		this.factory = new LettuceConnectionFactory(configuration,
				LettuceClientConfiguration.builder().commandTimeout(timeout).build());
		this.factory.afterPropertiesSet();
		this.factory.start();
	}

	static RedisStores on(RedisProcess server) {
		return new RedisStores(new RedisStandaloneConfiguration("127.0.0.1", server.port()), Duration.ofSeconds(5));
	}

	RedisDelayedTaskStore node() {
		return node(OPTIONS);
	}

	RedisDelayedTaskStore node(RedisStoreOptions options) {
		RedisDelayedTaskStore store = new RedisDelayedTaskStore(this.factory, options);
		this.stores.add(store);
		return store;
	}

	RedisConnection connection() {
		return this.factory.getConnection();
	}

	/**
	 * Deletes all keys and closes the nodes.
	 */
	void clear() {
		this.stores.forEach(RedisDelayedTaskStore::close);
		this.stores.clear();
		try (RedisConnection connection = connection()) {
			connection.serverCommands().flushAll();
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
