package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.NodeScheduleContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class PostgresNodeScheduleTests extends NodeScheduleContractTests {

	PostgresNodeScheduleTests() {
		super(TestDatabase.POSTGRESQL::stores);
	}

}
