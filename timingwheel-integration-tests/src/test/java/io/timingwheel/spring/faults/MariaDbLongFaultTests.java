package io.timingwheel.spring.faults;

class MariaDbLongFaultTests extends LongFaultContractTests {

	MariaDbLongFaultTests() {
		super(new MariaDbEnvironment());
	}

	@Override
	int schedules() {
		return 10_000;
	}

}
