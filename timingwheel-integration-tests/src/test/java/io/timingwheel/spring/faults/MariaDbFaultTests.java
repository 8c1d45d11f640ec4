package io.timingwheel.spring.faults;

class MariaDbFaultTests extends DatabaseFaultContractTests {

	MariaDbFaultTests() throws Exception {
		super(new MariaDbEnvironment());
	}

	/**
	 * InnoDB locks the gaps between keys.
	 */
	@Override
	boolean waitsForLocks() {
		return true;
	}

}
