package io.timingwheel.spring.faults;

class RedisFaultTests extends FaultTests {

	RedisFaultTests() {
		super(new RedisEnvironment());
	}

}
