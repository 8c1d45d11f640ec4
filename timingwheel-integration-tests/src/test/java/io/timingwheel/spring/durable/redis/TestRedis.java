package io.timingwheel.spring.durable.redis;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration;

/**
 * The servers that the contract tests share. The first test that needs a server starts
 * it, and the server ends with the JVM. Each test class has a namespace of its own.
 */
public enum TestRedis {

	/** One server. */
	STANDALONE {

		@Override
		RedisConfiguration start() {
			return RedisStores.configuration(RedisProcess.with());
		}

	},

	/** A Cluster of three primaries. */
	CLUSTER {

		@Override
		RedisConfiguration start() {
			return RedisCluster.startPatient().configuration();
		}

	};

	private final Map<Class<?>, RedisStores> stores = new HashMap<>();

	private @Nullable RedisConfiguration server;

	abstract RedisConfiguration start();

	public synchronized RedisStores stores(Class<?> testClass) {
		RedisConfiguration server = (this.server != null) ? this.server : start();
		this.server = server;
		return this.stores.computeIfAbsent(testClass, (owner) -> new RedisStores(() -> server, RedisStores.PATIENCE,
				RedisStores.options(owner.getSimpleName())));
	}

}
