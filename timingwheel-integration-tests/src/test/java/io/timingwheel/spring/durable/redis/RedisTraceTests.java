package io.timingwheel.spring.durable.redis;

import io.timingwheel.spring.durable.DurableTraceContractTests;

class RedisTraceTests extends DurableTraceContractTests {

	RedisTraceTests() {
		super(TestRedis.STANDALONE::stores);
	}

}
