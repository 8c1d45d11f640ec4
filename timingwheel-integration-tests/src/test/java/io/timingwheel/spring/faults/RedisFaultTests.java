package io.timingwheel.spring.faults;

import org.junit.jupiter.api.Test;

class RedisFaultTests extends FaultTests {

	RedisFaultTests() {
		super(new RedisEnvironment());
	}

	@Test
	void fourNodesKeepTheRateForAMinute() {
		fourNodesKeepTheRate();
	}

	@Test
	void eachTimeOfAScheduleHasOneRunInSpiteOfFaults() throws Exception {
		eachTimeOfAScheduleHasOneRun();
	}

}
