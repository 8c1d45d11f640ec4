package io.timingwheel.spring.aop;

import java.time.Duration;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A test slice contains timingwheel only if the test imports it. Without it, the
 * annotations have no effect, as with {@code timingwheel.enabled=false}.
 */
class TestSliceTests {

	@Nested
	@WebMvcTest(QuoteController.class)
	@Import(QuoteController.class)
	class WithoutTimingwheel {

		@Test
		void theAnnotationsHaveNoEffect(@Autowired ObjectProvider<TimingWheel> wheel,
				@Autowired MockMvcTester mockMvc) {
			assertThat(wheel.getIfAvailable()).isNull();
			assertThat(mockMvc.get().uri("/quote")).hasBodyTextEqualTo("quote");
		}

	}

	@Nested
	@WebMvcTest(controllers = QuoteController.class, properties = "pause=1m")
	@Import(QuoteController.class)
	@ImportAutoConfiguration(TimingWheelAutoConfiguration.class)
	class WithTimingwheel {

		@Test
		void theAnnotationsWork(@Autowired MockMvcTester mockMvc) {
			assertThat(mockMvc.get().uri("/quote")).hasBodyTextEqualTo("timed out");
		}

	}

	@SpringBootConfiguration
	static class Application {

	}

	@RestController
	static class QuoteController {

		/** Without a timeout no longer than necessary. */
		@Value("${pause:200ms}")
		private Duration pause;

		@GetMapping("/quote")
		@Timeout("50ms")
		public String quote() throws InterruptedException {
			Thread.sleep(this.pause.toMillis());
			return "quote";
		}

		@ExceptionHandler
		String handle(MethodTimeoutException ex) {
			return "timed out";
		}

	}

}
