package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.VirtualTimeContractTests;
import org.junit.jupiter.api.Tag;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@Tag("servers")
class PostgresVirtualTimeTests extends VirtualTimeContractTests {

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry registry) {
		registry.add("timingwheel.store.type", () -> "jdbc");
		registry.add("spring.datasource.url",
				() -> TestDatabase.POSTGRESQL.pool(PostgresVirtualTimeTests.class).getJdbcUrl());
	}

	@Autowired
	private JdbcTemplate jdbc;

	@Override
	protected void loseEverything() {
		this.jdbc.execute("truncate table timingwheel_task");
		this.jdbc.execute("truncate table timingwheel_task_name");
	}

}
