package io.timingwheel.spring.durable.redis.autoconfigure;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The connection factory of the Redis store.
 */
class RedisStoreConnection {

	private final LettuceConnectionFactory factory;

	/**
	 * Looks up the connection factory.
	 * @param connectionFactory the application's connection factories
	 * @throws UnusableTaskStoreException if the application has no connection factory,
	 * has several and no primary one, or has one for another client than Lettuce
	 */
	RedisStoreConnection(ObjectProvider<RedisConnectionFactory> connectionFactory) {
		RedisConnectionFactory application = application(connectionFactory);
		if (!(application instanceof LettuceConnectionFactory lettuce)) {
			throw new UnusableTaskStoreException(
					"the Redis store needs Lettuce, and the application uses " + application.getClass().getSimpleName(),
					"set spring.data.redis.client-type=lettuce, or declare a LettuceConnectionFactory bean");
		}
		this.factory = lettuce;
	}

	private static RedisConnectionFactory application(ObjectProvider<RedisConnectionFactory> connectionFactory) {
		RedisConnectionFactory application = connectionFactory.getIfUnique();
		if (application != null) {
			return application;
		}
		if (connectionFactory.stream().findAny().isEmpty()) {
			throw new UnusableTaskStoreException("there is no RedisConnectionFactory for the Redis store",
					"add the dependency org.springframework.boot:spring-boot-starter-data-redis and set"
							+ " spring.data.redis.url, or declare a LettuceConnectionFactory bean");
		}
		throw new UnusableTaskStoreException("there is more than one RedisConnectionFactory for the Redis store",
				"mark the RedisConnectionFactory for the tasks @Primary");
	}

	LettuceConnectionFactory factory() {
		return this.factory;
	}

}
