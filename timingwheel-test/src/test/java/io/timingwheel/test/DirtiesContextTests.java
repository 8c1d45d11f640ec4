package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.spring.task.DelayedTaskOperations;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Contexts that follow one another and have the same database. */
@SpringBootTest(
		properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:dirties;DB_CLOSE_DELAY=-1" })
@AutoConfigureVirtualTime
class DirtiesContextTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static @Nullable VirtualTime latest;

	private static @Nullable VirtualTime closed;

	@Autowired
	private VirtualTime time;

	@Autowired
	private Jobs.Stored jobs;

	@Autowired
	private Runs runs;

	@Autowired
	private DelayedTaskOperations tasks;

	@RepeatedTest(2)
	@DirtiesContext
	void theContextIsClosedAfterTheMethod() {
		assertThat(this.time).isNotSameAs(closed);
		closed = this.time;
		begin();
	}

	@RepeatedTest(2)
	@DirtiesContext(methodMode = DirtiesContext.MethodMode.BEFORE_METHOD)
	void theContextIsClosedBeforeTheMethod() {
		assertThat(this.time).isNotSameAs(latest);
		begin();
	}

	private void begin() {
		assertThat(this.time).hasNothingPending();
		latest = this.time;
		assertThat(this.time.now()).isCloseTo(Instant.now(), within(Duration.ofMinutes(10)));
		this.runs.clear();
		this.jobs.run("first", HOUR);
		this.tasks.task(() -> this.runs.add("memory")).name("left-over").after(HOUR);
		this.time.advance(HOUR);
		assertThat(this.runs.names()).containsExactly("memory", "first");
		this.jobs.run("left over", HOUR);
		this.tasks.task(() -> {
		}).name("left-over").after(HOUR);
	}

}
