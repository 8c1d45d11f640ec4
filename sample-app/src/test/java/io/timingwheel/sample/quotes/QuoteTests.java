package io.timingwheel.sample.quotes;

import java.util.Objects;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT, properties = "quotes.limit=1s")
@AutoConfigureRestTestClient
class QuoteTests {

	@Autowired
	private RestTestClient http;

	@Test
	void theLatestQuoteIsTheLastKnownOneIfAskingTakesTooLong() {
		this.http.get().uri("/quotes/oolong/latest?work=30s").exchange().expectStatus().isEqualTo(504);
		// A machine that stalls may reach the limit.
		Quote known = await().ignoreExceptions().until(() -> quote("/quotes/oolong/latest?work=1ms"), Objects::nonNull);
		assertThat(known.item()).isEqualTo("oolong");
		assertThat(known.cents()).isPositive();
		assertThat(quote("/quotes/oolong/latest?work=30s")).isEqualTo(known);
	}

	private Quote quote(String uri) {
		return this.http.get()
			.uri(uri)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(Quote.class)
			.returnResult()
			.getResponseBody();
	}

}
