package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DurableNodeContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class PostgresNodeTests extends DurableNodeContractTests {

	PostgresNodeTests() {
		super(TestDatabase.POSTGRESQL::stores);
	}

}
