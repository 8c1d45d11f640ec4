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
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tasks without annotations, in memory and on a store.
 */
@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:docs" })
@AutoConfigureVirtualTime
@Import(Mails.class)
class InCodeTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskTemplate tasks;

	@Autowired
	private Mails mails;

	private final List<String> done = new ArrayList<>();

	@Test
	void theTasksRun() {
		this.mails.clear();
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
	}

	private void flush(String user) {
		this.done.add("flush " + user);
	}

	private void report(String user) {
		this.done.add("report " + user);
	}

}
