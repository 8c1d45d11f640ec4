package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DurableNodeContractTests;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class RedisClusterNodeTests extends DurableNodeContractTests {

	RedisClusterNodeTests() {
		super(TestRedis.CLUSTER::stores);
	}

}
