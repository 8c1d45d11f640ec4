package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DurableNodeContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class RedisNodeTests extends DurableNodeContractTests {

	RedisNodeTests() {
		super(TestRedis.STANDALONE::stores);
	}

}
