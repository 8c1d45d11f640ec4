package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.VirtualTimeContractTests;
import org.junit.jupiter.api.Tag;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@Tag("faults")
class MariaDbVirtualTimeTests extends VirtualTimeContractTests {

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry registry) {
		registry.add("timingwheel.store.type", () -> "jdbc");
		registry.add("spring.datasource.url",
				() -> TestDatabase.MARIADB.pool(MariaDbVirtualTimeTests.class).getJdbcUrl());
	}

}
