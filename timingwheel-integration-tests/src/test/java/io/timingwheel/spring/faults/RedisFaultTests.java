package io.timingwheel.spring.faults;

class RedisFaultTests extends FaultContractTests {

	RedisFaultTests() {
		super(new RedisEnvironment());
	}

}
