package io.timingwheel.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A test of Spring without Boot's annotations.
 */
@SpringJUnitConfig
@AutoConfigureVirtualTime
class PlainSpringTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private Notes notes;

	@Test
	void theAnnotationBringsTheAutoConfiguration() {
		this.notes.write("a");
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.notes.texts()).containsExactly("a");
	}

	@Configuration(proxyBeanMethods = false)
	@Import(Notes.class)
	static class Config {

	}

	static class Notes {

		private final List<String> texts = new ArrayList<>();

		List<String> texts() {
			return this.texts;
		}

		@Delayed("5m")
		public void write(String text) {
			this.texts.add(text);
		}

	}

}
