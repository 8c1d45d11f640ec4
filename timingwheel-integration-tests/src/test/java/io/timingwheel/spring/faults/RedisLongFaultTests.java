package io.timingwheel.spring.faults;

class RedisLongFaultTests extends LongFaultTests {

	RedisLongFaultTests() {
		super(new RedisEnvironment());
	}

}
