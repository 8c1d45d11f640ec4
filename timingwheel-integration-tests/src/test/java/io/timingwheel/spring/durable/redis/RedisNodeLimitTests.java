package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.NodeLimitContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class RedisNodeLimitTests extends NodeLimitContractTests {

	RedisNodeLimitTests() {
		super(TestRedis.STANDALONE::stores);
	}

}
