package io.timingwheel.spring.faults;

class MariaDbFaultTests extends DatabaseFaultTests {

	MariaDbFaultTests() throws Exception {
		super(new MariaDbEnvironment());
	}

	/**
	 * InnoDB locks gaps.
	 */
	@Override
	boolean waitsForLocks() {
		return true;
	}

}
