package io.timingwheel.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.task.TaskDecorator;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The clock of virtual time takes the place of the application's, also for beans that the
 * wheel and the store themselves need.
 */
@SpringBootTest(properties = "timingwheel.store.type=jdbc")
@AutoConfigureVirtualTime
class ClockBeanTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private Notes notes;

	@Test
	void allBeansHaveTheClockOfVirtualTime() {
		Instant start = this.time.now();
		this.notes.write();
		this.notes.writeDurably();
		this.time.advance(Duration.ofHours(2));
		assertThat(this.notes.times()).containsExactly(start.plusSeconds(3600), start.plusSeconds(7200));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Notes.class)
	static class Application {

		@Bean
		Clock clock() {
			return Clock.systemUTC();
		}

		@Bean
		DataSource dataSource(Clock clock) {
			assertThat(clock.instant()).isNotNull();
			return new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
		}

		@Bean
		TaskDecorator decorator(Clock clock) {
			return (task) -> {
				assertThat(clock.instant()).isNotNull();
				return task;
			};
		}

	}

	@TestConfiguration
	static class Clocks {

		@Bean
		@Primary
		Clock virtualClock(VirtualTime time) {
			return time.clock();
		}

	}

	static class Notes {

		private final List<Instant> times = new ArrayList<>();

		private final Clock clock;

		Notes(Clock clock) {
			this.clock = clock;
		}

		List<Instant> times() {
			return this.times;
		}

		@Delayed(delay = "1h", name = "write")
		public void write() {
			this.times.add(this.clock.instant());
		}

		@Delayed(delay = "2h", name = "write-durably", durable = true)
		public void writeDurably() {
			this.times.add(this.clock.instant());
		}

	}

}
