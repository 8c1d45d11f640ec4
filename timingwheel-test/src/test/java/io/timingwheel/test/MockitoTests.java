package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/** Mocks and spies of Spring beside virtual time. */
@SpringBootTest(properties = "timingwheel.store.type=jdbc")
@AutoConfigureVirtualTime
@Import(MockitoTests.Audits.class)
class MockitoTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@Autowired
	private VirtualTime time;

	@MockitoBean
	private Runs runs;

	@MockitoSpyBean
	private Jobs.InMemory jobs;

	@Autowired
	private Jobs.Stored stored;

	@MockitoBean
	private Audits audits;

	@RepeatedTest(2)
	void aBodyCallsAMock() {
		this.jobs.run("ada", HOUR);
		this.stored.run("durably ada", HOUR);
		assertThat(this.time).hasPending("run", "ada").dueIn(HOUR);
		assertThat(this.time).hasPending("stored-run", "durably ada");
		verify(this.runs, never()).run("ada");
		this.time.advance(HOUR);
		verify(this.runs).run("ada");
		verify(this.runs).run("durably ada");
		assertThat(this.time).hasNothingPending();
	}

	@Test
	void aSpySeesTheBodyAndNotTheCallThatSchedulesIt() {
		this.jobs.run("ada", HOUR);
		verify(this.jobs, never()).run("ada", HOUR);
		this.time.advance(HOUR);
		verify(this.jobs).run("ada", HOUR);
		assertThat(this.time).hasNothingPending();
	}

	/** Spring does not post-process a mock, so nothing delays its methods. */
	@Test
	void theMethodsOfAMockAreNotDelayed() {
		this.audits.audit("ada");
		verify(this.audits).audit("ada");
		assertThat(this.time).hasNothingPending();
	}

	static class Audits {

		@Delayed(delay = "1h", name = "audit", key = "#user", durable = true)
		public void audit(String user) {
		}

	}

}
