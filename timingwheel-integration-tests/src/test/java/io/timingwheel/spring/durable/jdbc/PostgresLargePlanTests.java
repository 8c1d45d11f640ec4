package io.timingwheel.spring.durable.jdbc;

import org.junit.jupiter.api.Tag;

/**
 * The plans with many tasks.
 */
@Tag("faults")
class PostgresLargePlanTests extends PostgresPlanContractTests {

	PostgresLargePlanTests() {
		super(500_000, 1_000_000);
	}

}
