package io.timingwheel.test.docs;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:docs" })
@AutoConfigureVirtualTime
@Import(Mails.class)
class DurableTests {

	@Autowired
	VirtualTime time;

	@Autowired
	Mails mails;

	@Autowired
	DelayedTaskTemplate tasks;

	private final List<String> done = new ArrayList<>();

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
		this.mails.remind("ada");
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ofDays(1)));
		assertThat(this.time).hasPending("remind", "ada").dueIn(Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.mails.deliveries()).containsExactly("2 of attempt 2");
	}
	// end::failures[]

	@Test
	void tasksWithoutAnnotationsRunInMemoryAndFromTheStore() {
		String user = "ada";
		Instant midnight = this.time.now().truncatedTo(ChronoUnit.DAYS).plus(Duration.ofDays(1));
		// tag::code[]
		// In memory
		this.tasks.schedule(TaskId.of("flush", user), Duration.ofMillis(200), () -> flush(user));

		// In memory, with more settings
		this.tasks.task(() -> report(user)).id(TaskId.of("report", user)).ifPending(IfPending.KEEP).at(midnight);

		// Stored: calls a durable method by its name
		this.tasks.enqueue(TaskId.of("remind", user), Duration.ofHours(1), user);

		this.tasks.cancel(TaskId.of("flush", user));
		// end::code[]
		this.time.advance(Duration.ofDays(1));
		assertThat(this.done).containsExactly("report ada");
		assertThat(this.mails.deliveries()).containsExactly("1 of attempt 1");
		assertThat(this.mails.sent()).containsValue(user);
	}

	private void flush(String user) {
		this.done.add("flush " + user);
	}

	private void report(String user) {
		this.done.add("report " + user);
	}

}
