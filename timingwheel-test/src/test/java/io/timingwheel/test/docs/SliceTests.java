package io.timingwheel.test.docs;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.asyncDispatch;

@WebMvcTest(SliceTests.PingController.class)
@AutoConfigureVirtualTime
@Import({ SliceTests.Pings.class, SliceTests.PingController.class })
class SliceTests {

	@Autowired
	VirtualTime time;

	@Autowired
	MockMvcTester mvc;

	@Test
	void theAnswerOfARequestIsTheResultOfATask() {
		MvcTestResult request = this.mvc.get().uri("/pings").asyncExchange();
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.mvc.perform(asyncDispatch(request.getMvcResult()))).hasBodyTextEqualTo("pong");
	}

	@RestController
	static class PingController {

		private final Pings pings;

		PingController(Pings pings) {
			this.pings = pings;
		}

		@GetMapping("/pings")
		CompletableFuture<String> pong() {
			return this.pings.pong();
		}

	}

	@Component
	static class Pings {

		@Delayed("5m")
		CompletableFuture<String> pong() {
			return CompletableFuture.completedFuture("pong");
		}

	}

}
