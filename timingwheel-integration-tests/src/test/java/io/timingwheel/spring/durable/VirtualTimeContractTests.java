package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of virtual time on any store.
 */
@SpringBootTest(classes = VirtualTimeContractTests.Config.class,
		properties = { "timingwheel.store.lease=20s", "timingwheel.store.jdbc.initialize-schema=always" })
@AutoConfigureVirtualTime
public abstract class VirtualTimeContractTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@Autowired
	private VirtualTime time;

	@Autowired
	private Reminders reminders;

	@Autowired
	private Reports reports;

	@Autowired
	private DelayedTaskOperations operations;

	/**
	 * Only the test of the recurring methods wants their schedules.
	 */
	@BeforeEach
	void clear() {
		this.reminders.clear();
		this.reports.log().clear();
		Reports.NAMES.forEach((name) -> this.operations.cancel(TaskId.of(name, "recurring")));
	}

	@Test
	void tasksRunAtTheirExactTimesInTheirOrder() {
		Instant start = this.time.now();
		this.reminders.remind("c", Duration.ofDays(30));
		this.reminders.remind("a", HOUR);
		this.reminders.remind("b", HOUR.plusMillis(1));
		assertThat(this.time).hasPending("remind", "a").dueIn(HOUR);
		this.time.advance(HOUR.minusMillis(1));
		assertThat(this.reminders.log()).isEmpty();
		this.time.advance(Duration.ofDays(30));
		assertThat(this.reminders.log()).containsExactly("a 1 " + start.plus(HOUR),
				"b 1 " + start.plus(HOUR).plusMillis(1), "c 1 " + start.plus(Duration.ofDays(30)));
		assertThat(this.time).hasNothingPending();
	}

	@Test
	void aTaskSurvivesACrashAndIsDeliveredTwice() {
		this.time.crashBeforeAcknowledge("remind");
		this.reminders.remind("a", HOUR);
		this.time.advance(HOUR.plusSeconds(19));
		assertThat(this.reminders.log()).hasSize(1);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.reminders.log()).extracting((line) -> line.substring(0, 3)).containsExactly("a 1", "a 2");
		this.time.deliverTwice(true);
		this.reminders.remind("b", HOUR);
		this.time.advance(HOUR);
		assertThat(this.reminders.log()).extracting((line) -> line.substring(0, 3))
			.containsExactly("a 1", "a 2", "b 1", "b 2");
		assertThat(this.time).hasNothingPending();
	}

	@Test
	void whatIsDeclaredComesBackAfterTheStoreHasLostIt() {
		this.time.reset();
		this.operations.cancel(TaskId.of("skip", "recurring"));
		this.time.advance(Duration.ofMinutes(1));
		this.operations.find(TaskId.of("all", "recurring")).orElseThrow().cancel(false);
		this.reports.log().clear();
		this.time.advance(Duration.ofMinutes(10));
		assertThat(this.reports.log()).extracting((line) -> line.split(" ")[0]).containsExactly("once", "once");
		loseEverything();
		this.time.advance(Duration.ofMinutes(1));
		this.reports.log().clear();
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.reports.log()).extracting((line) -> line.split(" ")[0])
			.containsExactlyInAnyOrder("once", "skip", "all");
	}

	protected abstract void loseEverything();

	@RepeatedTest(2)
	void eachMethodBeginsWithAnEmptyStore() {
		assertThat(this.time).hasNothingPending();
		this.reminders.remind("left over", HOUR);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Config {

		@Bean
		Reminders reminders(VirtualTime time) {
			return new Reminders(time);
		}

		@Bean
		Reports reports(VirtualTime time) {
			return new Reports(time, new ArrayList<>());
		}

	}

	record Reports(VirtualTime time, List<String> log) {

		static final List<String> NAMES = List.of("once", "skip", "all");

		@Recurring(every = "5m", name = "once", durable = true)
		public void once() {
			this.log.add("once " + this.time.now());
		}

		@Recurring(every = "5m", name = "skip", durable = true, missed = Missed.SKIP)
		public void skip() {
			this.log.add("skip " + this.time.now());
		}

		@Recurring(every = "5m", name = "all", durable = true, missed = Missed.ALL)
		public void all() {
			this.log.add("all " + this.time.now());
		}

	}

	static class Reminders {

		private final VirtualTime time;

		private final List<String> log = new ArrayList<>();

		Reminders(VirtualTime time) {
			this.time = time;
		}

		void clear() {
			this.log.clear();
		}

		List<String> log() {
			return this.log;
		}

		@Delayed(delayExpression = "#delay", name = "remind", key = "#key", durable = true)
		public void remind(String key, Duration delay) {
			int deliveries = DelayedTaskContext.current().orElseThrow().deliveries();
			this.log.add(key + " " + deliveries + " " + this.time.now());
		}

	}

}
