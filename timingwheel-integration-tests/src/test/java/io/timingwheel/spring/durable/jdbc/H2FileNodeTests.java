package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DurableNodeContractTests;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class H2FileNodeTests extends DurableNodeContractTests {

	H2FileNodeTests() {
		super(TestDatabase.H2_FILE::stores);
	}

}
