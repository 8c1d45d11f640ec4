package io.timingwheel.spring.faults;

class RedisRollingTests extends RollingContractTests {

	RedisRollingTests() {
		super(new RedisEnvironment());
	}

}
