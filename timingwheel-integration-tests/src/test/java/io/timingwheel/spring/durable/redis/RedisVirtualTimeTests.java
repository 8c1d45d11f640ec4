package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.VirtualTimeContractTests;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@Tag("servers")
class RedisVirtualTimeTests extends VirtualTimeContractTests {

	@RegisterExtension
	static final RedisProcess server = RedisProcess.with();

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		registry.add("timingwheel.store.type", () -> "redis");
		registry.add("spring.data.redis.port", server::port);
		registry.add("spring.autoconfigure.exclude",
				() -> "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
	}

	@Autowired
	private RedisConnectionFactory connections;

	@Override
	protected void loseEverything() {
		try (RedisConnection connection = this.connections.getConnection()) {
			connection.serverCommands().flushAll();
		}
	}

}
