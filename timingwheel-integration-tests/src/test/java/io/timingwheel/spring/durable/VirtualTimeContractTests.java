package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.redis.RedisProcess;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of virtual time on any store.
 */
@SpringBootTest(classes = VirtualTimeContractTests.Config.class,
		properties = { "timingwheel.store.lease=20s", "timingwheel.store.jdbc.initialize-schema=always" })
@AutoConfigureVirtualTime
abstract class VirtualTimeContractTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@Autowired
	private VirtualTime time;

	@Autowired
	private Reminders reminders;

	@BeforeEach
	void clear() {
		this.reminders.clear();
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

	@RepeatedTest(2)
	void eachMethodBeginsWithAnEmptyStore() {
		assertThat(this.time).hasNothingPending();
		this.reminders.remind("left over", HOUR);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Reminders.class)
	static class Config {

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

@Tag("servers")
class PostgresVirtualTimeTests extends VirtualTimeContractTests {

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry registry) {
		registry.add("timingwheel.store.type", () -> "jdbc");
		registry.add("spring.datasource.url",
				() -> TestDatabase.POSTGRESQL.pool(PostgresVirtualTimeTests.class).getJdbcUrl());
	}

}

@Tag("servers")
class RedisVirtualTimeTests extends VirtualTimeContractTests {

	@RegisterExtension
	static final RedisProcess server = RedisProcess.with();

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		registry.add("timingwheel.store.type", () -> "redis");
		registry.add("spring.data.redis.port", server::port);
		registry.add("spring.autoconfigure.exclude",
				() -> "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
	}

}
