package io.timingwheel.test.docs;

import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;

import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:reports" })
@AutoConfigureVirtualTime
@Import(Reports.class)
class ReportTests {

	@Autowired
	VirtualTime time;

	@Autowired
	Reports reports;

	@BeforeEach
	void clear() {
		this.reports.dates().clear();
	}

	@Test
	void aReportIsWrittenEachNightWithTheDateOfVirtualTime() {
		LocalDate date = LocalDate.now(this.time.clock());
		this.time.advance(Duration.ofDays(365));
		assertThat(this.reports.dates()).hasSize(365).last().isIn(date.plusDays(364), date.plusDays(365));
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

}
