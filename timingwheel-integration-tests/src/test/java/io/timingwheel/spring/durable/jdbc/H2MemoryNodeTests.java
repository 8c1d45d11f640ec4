package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DurableNodeContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class H2MemoryNodeTests extends DurableNodeContractTests {

	H2MemoryNodeTests() {
		super(TestDatabase.H2_MEMORY::stores);
	}

}
