package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/**
 * Mocks and spies of Spring beside virtual time.
 */
@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:mockito" })
@AutoConfigureVirtualTime
class MockitoTests {

	@Autowired
	private VirtualTime time;

	@MockitoBean
	private MailServer server;

	@MockitoSpyBean
	private Reminders reminders;

	@MockitoBean
	private Audits audits;

	@RepeatedTest(2)
	void aBodyCallsAMock() {
		this.reminders.remind("ada");
		this.reminders.remindDurably("ada");
		assertThat(this.time).hasPending("remind", "ada").dueIn(Duration.ofHours(1));
		assertThat(this.time).hasPending("remind-durably", "ada").isDurable();
		verify(this.server, never()).send("ada");
		this.time.advance(Duration.ofHours(1));
		verify(this.server).send("ada");
		verify(this.server).send("durably ada");
		assertThat(this.time).hasNothingPending();
	}

	@Test
	void aSpySeesTheBodyAndNotTheCallThatSchedulesIt() {
		this.reminders.remind("ada");
		verify(this.reminders, never()).remind("ada");
		this.time.advance(Duration.ofHours(1));
		verify(this.reminders).remind("ada");
		assertThat(this.time).hasNothingPending();
	}

	/**
	 * Spring does not post-process a mock, so nothing delays its methods.
	 */
	@Test
	void theMethodsOfAMockAreNotDelayed() {
		this.audits.audit("ada");
		verify(this.audits).audit("ada");
		assertThat(this.time).hasNothingPending();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ MailServer.class, Reminders.class, Audits.class })
	static class Config {

	}

	static class MailServer {

		void send(String user) {
			throw new UnsupportedOperationException("There is no mail server");
		}

	}

	static class Reminders {

		private final MailServer server;

		Reminders(MailServer server) {
			this.server = server;
		}

		@Delayed(delay = "1h", name = "remind", key = "#user")
		public void remind(String user) {
			this.server.send(user);
		}

		@Delayed(delay = "1h", name = "remind-durably", key = "#user", durable = true)
		public void remindDurably(String user) {
			this.server.send("durably " + user);
		}

	}

	static class Audits {

		@Delayed(delay = "1h", name = "audit", key = "#user", durable = true)
		public void audit(String user) {
		}

	}

}
