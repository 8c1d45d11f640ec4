package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.NodeLimitContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class H2MemoryNodeLimitTests extends NodeLimitContractTests {

	H2MemoryNodeLimitTests() {
		super(TestDatabase.H2_MEMORY::stores);
	}

}
