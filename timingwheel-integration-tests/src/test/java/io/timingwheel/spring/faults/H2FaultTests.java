package io.timingwheel.spring.faults;

class H2FaultTests extends DatabaseFaultTests {

	H2FaultTests() throws Exception {
		super(new H2Environment());
	}

}
