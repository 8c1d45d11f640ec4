package io.timingwheel.test.docs;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

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
import org.springframework.web.bind.annotation.PostMapping;
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

	@Autowired
	Pings pings;

	@Test
	void aPingIsAnsweredLater() {
		assertThat(this.mvc.post().uri("/pings")).hasStatusOk();
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.pings.answered()).containsExactly("pong");
	}

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

		@PostMapping("/pings")
		void ping() {
			this.pings.answer();
		}

	}

	@Component
	static class Pings {

		private final List<String> answered = new CopyOnWriteArrayList<>();

		@Delayed("5m")
		void answer() {
			this.answered.add("pong");
		}

		@Delayed("5m")
		CompletableFuture<String> pong() {
			return CompletableFuture.completedFuture("pong");
		}

		List<String> answered() {
			return this.answered;
		}

	}

}
