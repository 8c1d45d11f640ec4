package io.timingwheel.sample.orders;

import java.time.Duration;

import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@AutoConfigureRestTestClient
@AutoConfigureVirtualTime
class NightlyReportTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private OrderReports reports;

	@Autowired
	private RestTestClient http;

	@Test
	void eachNightOfTheSampleHasOneReport() {
		this.time.advance(Duration.ofMinutes(1));
		int before = this.reports.newestFirst().size();
		assertThat(before).isPositive();
		this.http.post().uri("/orders").exchange().expectStatus().isCreated();
		this.time.advance(Duration.ofMinutes(2));
		assertThat(this.reports.newestFirst()).hasSize(before + 2);
		this.http.get()
			.uri("/reports")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$[0].total")
			.isEqualTo(1)
			.jsonPath("$[0].closed")
			.isEqualTo(1);
	}

}
