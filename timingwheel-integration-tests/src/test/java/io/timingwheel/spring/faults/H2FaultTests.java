package io.timingwheel.spring.faults;

class H2FaultTests extends DatabaseFaultContractTests {

	H2FaultTests() throws Exception {
		super(new H2Environment());
	}

}
