package io.timingwheel.spring.durable.jdbc;

/**
 * The plans with as many tasks as a build has time to store.
 */
class PostgresPlanTests extends PostgresPlanContractTests {

	PostgresPlanTests() {
		super(20_000, 30_000);
	}

}
