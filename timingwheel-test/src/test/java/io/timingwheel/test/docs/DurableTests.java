package io.timingwheel.test.docs;

import java.time.Duration;

import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:docs" })
@AutoConfigureVirtualTime
@Import(Mails.class)
class DurableTests {

	@Autowired
	VirtualTime time;

	@Autowired
	Mails mails;

	@BeforeEach
	void clear() {
		this.mails.clear();
	}

	// tag::twice[]
	@Test
	void aReminderIsSentOnceEvenIfItIsDeliveredTwice() {
		this.time.deliverTwice(true);
		this.mails.remind("ada");
		this.time.advance(Duration.ofDays(1));
		assertThat(this.mails.deliveries()).containsExactly("1 of attempt 1", "2 of attempt 1");
		assertThat(this.mails.sent()).hasSize(1);
	}
	// end::twice[]

	// tag::failures[]
	@Test
	void aReminderThatFailsIsTriedAgain() {
		this.time.failNext("remind", new IllegalStateException("The mail server is down"));
		this.time.onFailure(VirtualTime.OnFailure.COLLECT);
		this.mails.remind("ada");
		this.time.advance(Duration.ofDays(1));
		assertThat(this.time.failures()).hasSize(1);
		assertThat(this.time).hasPending("remind", "ada").dueIn(Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.mails.deliveries()).containsExactly("2 of attempt 2");
	}
	// end::failures[]

}
