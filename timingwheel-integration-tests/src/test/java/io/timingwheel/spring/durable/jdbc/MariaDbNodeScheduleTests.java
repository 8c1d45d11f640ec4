package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.NodeScheduleContractTests;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class MariaDbNodeScheduleTests extends NodeScheduleContractTests {

	MariaDbNodeScheduleTests() {
		super(TestDatabase.MARIADB::stores);
	}

}
