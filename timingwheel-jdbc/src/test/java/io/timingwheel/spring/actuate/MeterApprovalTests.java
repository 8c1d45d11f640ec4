package io.timingwheel.spring.actuate;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.support.Approved;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that nobody changes the meters of tasks in memory and of stored tasks without
 * saying so.
 */
@SpringBootTest(webEnvironment = WebEnvironment.NONE, classes = MeterApprovalTests.Application.class,
		properties = { "spring.datasource.url=jdbc:h2:mem:meter-approval", "timingwheel.store.type=jdbc",
				"timingwheel.store.poll-interval=10ms" })
class MeterApprovalTests {

	private static final Set<String> VARYING = Set.of("name", "class", "method", "code.function", "code.namespace");

	@Test
	void theMetersAreTheApprovedOnes(@Autowired Application application, @Autowired MeterRegistry registry) {
		application.remind(1);
		await().until(() -> registry.find("timingwheel.task.execution").timer() != null);
		assertThat(registry.get("timingwheel.store.up").gauge().value()).isOne();
		TreeSet<String> meters = new TreeSet<>();
		for (Meter meter : registry.getMeters()) {
			Meter.Id id = meter.getId();
			if (id.getName().startsWith("timingwheel.")) {
				meters.add("%s: %s of %s, tags %s; %s".formatted(id.getName(), id.getType().name().toLowerCase(),
						id.getBaseUnit(), tags(id), id.getDescription()));
			}
		}
		Approved.verify(getClass(), "meters", List.copyOf(meters));
	}

	/**
	 * The tags with their values, but for the values that the application makes.
	 */
	private static String tags(Meter.Id id) {
		return id.getTags()
			.stream()
			.map((tag) -> VARYING.contains(tag.getKey()) ? tag.getKey() : tag.getKey() + "=" + tag.getValue())
			.collect(Collectors.joining(", ", "[", "]"));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Delayed(delay = "0s", name = "remind", durable = true)
		void remind(long userId) {
		}

		@Delayed(delay = "1h", name = "close")
		void close(long orderId) {
		}

		@Timeout("1s")
		void ask() {
		}

	}

}
