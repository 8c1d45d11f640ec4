package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.VirtualTimeContractTests;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

class PostgresVirtualTimeTests extends VirtualTimeContractTests {

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry registry) {
		registry.add("timingwheel.store.type", () -> "jdbc");
		registry.add("spring.datasource.url",
				() -> TestDatabase.POSTGRESQL.pool(PostgresVirtualTimeTests.class).getJdbcUrl());
	}

}
