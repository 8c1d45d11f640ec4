package io.timingwheel.test.docs;

import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.task.TaskDecorator;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = "timingwheel.store.type=jdbc")
@AutoConfigureVirtualTime
@Import(ReportTests.Reports.class)
class ReportTests {

	@Autowired
	VirtualTime time;

	@Autowired
	Reports reports;

	@Test
	void aReportIsWrittenEachNightWithTheDateOfVirtualTime() {
		LocalDate date = LocalDate.now(this.time.clock());
		this.time.advance(Duration.ofDays(30));
		assertThat(this.reports.dates()).hasSize(30).last().isIn(date.plusDays(29), date.plusDays(30));
	}

	// tag::clock[]
	@TestConfiguration
	static class Clocks {

		@Bean
		@Primary
		Clock virtualClock(VirtualTime time) {
			return time.clock();
		}

	}
	// end::clock[]

	/** What the wheel and the store need may itself need the clock. */
	@TestConfiguration
	static class BeansWithClock {

		@Bean
		DataSource dataSource(Clock clock) {
			return new DriverManagerDataSource("jdbc:h2:mem:reports-" + clock.millis() + ";DB_CLOSE_DELAY=-1");
		}

		@Bean
		TaskDecorator decorator(Clock clock) {
			assertThat(clock.instant()).isNotNull();
			return (task) -> task;
		}

	}

	/** Writes a report each night. */
	static class Reports {

		private final Clock clock;

		private final List<LocalDate> dates = new ArrayList<>();

		Reports(Clock clock) {
			this.clock = clock;
		}

		@Recurring(cron = "0 0 3 * * *", zone = "UTC", name = "nightly-report", durable = true)
		void write() {
			this.dates.add(LocalDate.now(this.clock));
		}

		List<LocalDate> dates() {
			return this.dates;
		}

	}

}
