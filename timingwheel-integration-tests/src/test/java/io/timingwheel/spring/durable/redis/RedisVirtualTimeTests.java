package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.test.AutoConfigureVirtualTime;
import io.timingwheel.test.VirtualTime;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** Virtual time with tasks in Redis. */
@Tag("servers")
@SpringBootTest(classes = RedisVirtualTimeTests.Config.class, properties = "timingwheel.store.type=redis")
@AutoConfigureVirtualTime
class RedisVirtualTimeTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final List<String> log = new CopyOnWriteArrayList<>();

	@RegisterExtension
	static final RedisProcess server = RedisProcess.with();

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		registry.add("spring.data.redis.port", server::port);
	}

	/** The second time, nothing is left over of the first. */
	@RepeatedTest(2)
	void tasksRunAtTheirExactTimesInTheirOrderAndAgainAfterACrash(@Autowired VirtualTime time,
			@Autowired Reminders reminders) {
		assertThat(time).hasNothingPending();
		log.clear();
		Instant start = time.now();
		reminders.remind("c", Duration.ofDays(30));
		reminders.remind("a", HOUR);
		reminders.remind("b", HOUR.plusMillis(1));
		reminders.remind("left over", Duration.ofDays(31));
		assertThat(time).hasPending("remind", "a").dueIn(HOUR);
		time.advance(HOUR.minusMillis(1));
		assertThat(log).isEmpty();
		time.advance(Duration.ofDays(30));
		assertThat(log).containsExactly("a " + start.plus(HOUR), "b " + start.plus(HOUR).plusMillis(1),
				"c " + start.plus(Duration.ofDays(30)));
		time.crashBeforeAcknowledge("remind");
		reminders.remind("d", HOUR);
		time.advance(HOUR.plusSeconds(31));
		assertThat(log).filteredOn((line) -> line.startsWith("d ")).as("again after its lease").hasSize(2);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	@Import(Reminders.class)
	static class Config {

	}

	static class Reminders {

		private final VirtualTime time;

		Reminders(VirtualTime time) {
			this.time = time;
		}

		@Delayed(delayExpression = "#delay", name = "remind", key = "#key", durable = true)
		public void remind(String key, Duration delay) {
			log.add(key + " " + this.time.now());
		}

	}

}
