package io.timingwheel.spring.durable.redis;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * The hints for a native image: the scripts, and the field of the connection factory that
 * {@link StoreConnection} reads.
 */
final class RedisStoreHints implements RuntimeHintsRegistrar {

	private static final String FACTORY = "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/timingwheel/spring/durable/redis/*.lua");
		hints.reflection()
			.registerTypeIfPresent(classLoader, FACTORY,
					(type) -> type.onReachableType(TypeReference.of(StoreConnection.class)).withField("configuration"));
	}

}
