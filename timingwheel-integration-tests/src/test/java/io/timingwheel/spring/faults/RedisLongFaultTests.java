package io.timingwheel.spring.faults;

class RedisLongFaultTests extends LongFaultContractTests {

	RedisLongFaultTests() {
		super(new RedisEnvironment());
	}

}
