package io.timingwheel.spring.faults;

import java.util.List;

import io.lettuce.core.KillArgs;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.timingwheel.spring.durable.redis.RedisProcess;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Redis, which writes each change to its append-only file.
 */
final class RedisEnvironment implements FaultEnvironment {

	private RedisProcess server;

	@Override
	public void start() {
		if (this.server == null) {
			this.server = RedisProcess.with();
		}
		else {
			this.server.start();
		}
	}

	@Override
	public void stop() {
		this.server.close();
	}

	@Override
	public List<String> properties() {
		return List.of("timingwheel.store.type=redis", "spring.data.redis.port=" + this.server.port(),
				"spring.data.redis.timeout=5s",
				"spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
	}

	@Override
	public void dropConnections(Client client) {
		try (RedisConnection connection = client.redis().getConnection()) {
			RedisAsyncCommands<?, ?> commands = (RedisAsyncCommands<?, ?>) connection.getNativeConnection();
			commands.clientKill(KillArgs.Builder.typeNormal().skipme()).toCompletableFuture().join();
		}
	}

}
