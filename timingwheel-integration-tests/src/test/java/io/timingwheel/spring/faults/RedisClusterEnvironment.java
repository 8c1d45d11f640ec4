package io.timingwheel.spring.faults;

import java.util.List;
import java.util.stream.IntStream;

import io.lettuce.core.KillArgs;
import io.timingwheel.spring.durable.redis.RedisCluster;

/**
 * A Redis Cluster of three primaries, which write each change to their append-only files.
 */
final class RedisClusterEnvironment implements FaultEnvironment {

	private RedisCluster cluster;

	@Override
	public void start() {
		if (this.cluster == null) {
			this.cluster = RedisCluster.start();
		}
		else {
			servers().forEach((i) -> this.cluster.process(i).start());
		}
	}

	@Override
	public void stop() {
		servers().forEach((i) -> this.cluster.process(i).close());
	}

	private IntStream servers() {
		return IntStream.range(0, this.cluster.size());
	}

	RedisCluster cluster() {
		return this.cluster;
	}

	@Override
	public List<String> properties() {
		return List.of("timingwheel.store.type=redis",
				"spring.data.redis.cluster.nodes=" + String.join(",", this.cluster.addresses()),
				"spring.data.redis.timeout=5s",
				"spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
	}

	@Override
	public void dropConnections(Client client) {
		servers().forEach((i) -> this.cluster.server(i).clientKill(KillArgs.Builder.typeNormal().skipme()));
	}

	@Override
	public void close() {
		this.cluster.close();
	}

}
