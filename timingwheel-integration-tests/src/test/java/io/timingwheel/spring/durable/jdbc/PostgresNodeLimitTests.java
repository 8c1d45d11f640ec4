package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.NodeLimitContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class PostgresNodeLimitTests extends NodeLimitContractTests {

	PostgresNodeLimitTests() {
		super(TestDatabase.POSTGRESQL::stores);
	}

}
