package io.timingwheel.spring.faults;

class MariaDbRollingTests extends RollingContractTests {

	MariaDbRollingTests() {
		super(new MariaDbEnvironment());
	}

}
