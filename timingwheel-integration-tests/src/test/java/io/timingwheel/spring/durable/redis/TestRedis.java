package io.timingwheel.spring.durable.redis;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The servers that the tests of contracts share. Each is started when it is first asked
 * for, and ends with the JVM.
 */
enum TestRedis {

	/** One server. */
	STANDALONE {

		@Override
		RedisStores start() {
			return RedisStores.on(RedisProcess.with());
		}

	},

	/** A Cluster of three primaries. */
	CLUSTER {

		@Override
		RedisStores start() {
			return RedisCluster.start().stores();
		}

	};

	private static final ConcurrentMap<TestRedis, RedisStores> started = new ConcurrentHashMap<>();

	abstract RedisStores start();

	RedisStores stores() {
		return started.computeIfAbsent(this, TestRedis::start);
	}

}
