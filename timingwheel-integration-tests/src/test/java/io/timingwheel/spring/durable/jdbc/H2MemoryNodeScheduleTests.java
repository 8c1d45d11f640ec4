package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.NodeScheduleContractTests;
import org.junit.jupiter.api.Order;

@Order(2)
class H2MemoryNodeScheduleTests extends NodeScheduleContractTests {

	H2MemoryNodeScheduleTests() {
		super(TestDatabase.H2_MEMORY::stores);
	}

}
