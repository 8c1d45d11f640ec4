package io.timingwheel.spring.faults;

class MariaDbFaultTests extends DatabaseFaultTests {

	MariaDbFaultTests() throws Exception {
		super(new MariaDbEnvironment());
	}

}
