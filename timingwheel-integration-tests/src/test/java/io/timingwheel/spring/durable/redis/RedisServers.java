package io.timingwheel.spring.durable.redis;

/**
 * The servers that the tests share.
 */
final class RedisServers {

	private static RedisProcess standalone;

	private static RedisCluster cluster;

	private RedisServers() {
	}

	static synchronized RedisProcess standalone() {
		if (standalone == null) {
			standalone = RedisProcess.with();
		}
		return standalone;
	}

	static synchronized RedisCluster cluster() {
		if (cluster == null) {
			cluster = RedisCluster.start();
		}
		return cluster;
	}

}
