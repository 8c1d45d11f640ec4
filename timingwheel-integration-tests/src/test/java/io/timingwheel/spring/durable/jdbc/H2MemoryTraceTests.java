package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DurableTraceContractTests;

class H2MemoryTraceTests extends DurableTraceContractTests {

	H2MemoryTraceTests() {
		super(TestDatabase.H2_MEMORY::stores);
	}

}
