package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.NodeLimitContractTests;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class RedisClusterNodeLimitTests extends NodeLimitContractTests {

	RedisClusterNodeLimitTests() {
		super(TestRedis.CLUSTER::stores);
	}

}
