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

	@Override
	int tasksOfAnotherApplication() {
		return 1_000_000;
	}

}
