package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.RepeatedTest;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Durable tasks in the slice for JDBC, whose tests have a transaction that is rolled
 * back.
 */
@JdbcTest(properties = { "timingwheel.store.type=jdbc", "spring.autoconfigure.exclude=" })
@AutoConfigureVirtualTime
class JdbcSliceTests {

	@RepeatedTest(2)
	void theSliceHasTheStoreAndTheRollbackTakesItsTasksAway(@Autowired VirtualTime time, @Autowired Archive archive) {
		assertThat(time).hasNoPending("archive");
		archive.add("report");
		assertThat(time).hasPending("archive", "report");
	}

	@Configuration(proxyBeanMethods = false)
	@Import(Archive.class)
	static class Config {

	}

	static class Archive {

		@Delayed(delay = "1h", name = "archive", key = "#id", durable = true)
		public void add(String id) {
		}

	}

}
