package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.NodeScheduleContractTests;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class RedisClusterNodeScheduleTests extends NodeScheduleContractTests {

	RedisClusterNodeScheduleTests() {
		super(TestRedis.CLUSTER::stores);
	}

}
