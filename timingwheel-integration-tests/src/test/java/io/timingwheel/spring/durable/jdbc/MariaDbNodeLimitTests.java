package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.NodeLimitContractTests;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class MariaDbNodeLimitTests extends NodeLimitContractTests {

	MariaDbNodeLimitTests() {
		super(TestDatabase.MARIADB::stores);
	}

}
