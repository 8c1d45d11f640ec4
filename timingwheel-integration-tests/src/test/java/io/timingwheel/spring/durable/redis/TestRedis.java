package io.timingwheel.spring.durable.redis;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.util.function.SingletonSupplier;

/**
 * The servers that the contract tests share. The first test that needs a server starts
 * it, and the server ends with the JVM. Each test class has a namespace of its own.
 */
public enum TestRedis {

	/** One server. */
	STANDALONE(() -> RedisStores.configuration(RedisProcess.with())),

	/** A Cluster of three primaries. */
	CLUSTER(() -> RedisCluster.startPatient().configuration());

	private final Map<Class<?>, RedisStores> stores = new ConcurrentHashMap<>();

	private final Supplier<RedisConfiguration> server;

	TestRedis(Supplier<RedisConfiguration> start) {
		this.server = SingletonSupplier.of(start);
	}

	public RedisStores stores(Class<?> testClass) {
		return this.stores.computeIfAbsent(testClass, (owner) -> new RedisStores(this.server.get(),
				RedisStores.PATIENCE, RedisStores.options(owner.getSimpleName())));
	}

}
