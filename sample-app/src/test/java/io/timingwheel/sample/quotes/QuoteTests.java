package io.timingwheel.sample.quotes;

import java.time.Duration;
import java.util.Objects;

import io.timingwheel.sample.EndToEndTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@EndToEndTest
class QuoteTests {

	@Autowired
	private RestTestClient http;

	@Test
	void aFastQuoteIsGiven() {
		// A machine that stalls may reach the limit.
		await().untilAsserted(() -> this.http.get()
			.uri("/quotes/tea?work=1ms")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(Quote.class)
			.value((quote) -> {
				assertThat(quote.item()).isEqualTo("tea");
				assertThat(quote.cents()).isPositive();
			}));
	}

	@Test
	void aSlowQuoteIsCutAtTheLimit() {
		long start = System.nanoTime();
		this.http.get()
			.uri("/quotes/tea?work=60s")
			.exchange()
			.expectStatus()
			.isEqualTo(HttpStatus.GATEWAY_TIMEOUT)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.status")
			.isEqualTo(504)
			.jsonPath("$.title")
			.isEqualTo("Gateway Timeout")
			.jsonPath("$.detail")
			.isEqualTo("The request took too long and was ended.")
			.jsonPath("$.instance")
			.isEqualTo("/quotes/tea");
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofSeconds(1),
				Duration.ofSeconds(50));
	}

	@Test
	void theLatestQuoteIsTheLastKnownOneIfAskingTakesTooLong() {
		this.http.get().uri("/quotes/oolong/latest?work=30s").exchange().expectStatus().isEqualTo(504);
		Quote known = await().ignoreExceptions()
			.until(() -> this.http.get()
				.uri("/quotes/oolong/latest?work=1ms")
				.exchange()
				.expectStatus()
				.isOk()
				.expectBody(Quote.class)
				.returnResult()
				.getResponseBody(), Objects::nonNull);
		this.http.get()
			.uri("/quotes/oolong/latest?work=30s")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(Quote.class)
			.isEqualTo(known);
	}

	@ParameterizedTest
	@ValueSource(strings = { "long", "2x", "PT2S", "99999999999999999999s" })
	void workThatIsNoDurationIsABadRequest(String work) {
		this.http.get()
			.uri("/quotes/tea?work={work}", work)
			.exchange()
			.expectStatus()
			.isBadRequest()
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.detail")
			.isEqualTo("work must be a duration such as 500ms or 2s, not '" + work + "'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "-1ms", "61s", "1000000d" })
	void workOutOfRangeIsABadRequest(String work) {
		this.http.get()
			.uri("/quotes/tea?work={work}", work)
			.exchange()
			.expectStatus()
			.isBadRequest()
			.expectBody()
			.jsonPath("$.detail")
			.isEqualTo("work must be from 0s to 60s");
	}

}
