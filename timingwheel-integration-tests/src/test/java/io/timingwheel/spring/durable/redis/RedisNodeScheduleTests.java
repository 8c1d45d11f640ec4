package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.NodeScheduleContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class RedisNodeScheduleTests extends NodeScheduleContractTests {

	RedisNodeScheduleTests() {
		super(TestRedis.STANDALONE::stores);
	}

}
