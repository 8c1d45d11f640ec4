package io.timingwheel.spring.faults;

class RedisLongFaultTests extends LongFaultContractTests {

	RedisLongFaultTests() {
		super(new RedisEnvironment());
	}

	/**
	 * The rate allows a start before the task begins. The tests beside this one keep the
	 * processors busy for longer than 40 ms.
	 */
	@Override
	int lateStarts() {
		return 10;
	}

}
