package io.timingwheel.spring.faults;

class PostgresRollingTests extends RollingContractTests {

	PostgresRollingTests() {
		super(new PostgresEnvironment());
	}

}
