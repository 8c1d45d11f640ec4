package io.timingwheel.spring.durable.jdbc;

import org.junit.jupiter.api.Tag;

/**
 * The plans with many tasks.
 */
@Tag("faults")
class PostgresLargePlanTests extends PostgresPlanTests {

	@Override
	int tasks() {
		return 500_000;
	}

}
