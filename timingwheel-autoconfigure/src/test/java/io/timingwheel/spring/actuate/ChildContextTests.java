package io.timingwheel.spring.actuate;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.JsonPath;
import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each context of a hierarchy shows its own tasks at its own endpoint.
 */
class ChildContextTests {

	private final RestTestClient client = RestTestClient.bindToServer().build();

	private ConfigurableApplicationContext context;

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void eachContextShowsItsOwnTasksAndTheRegistryOfTheParentHasTheirMeters() {
		this.context = application(Parent.class).web(WebApplicationType.NONE).run();
		try (ConfigurableApplicationContext child = application(Child.class).parent(this.context).run();
				ConfigurableApplicationContext sibling = application(Parent.class).parent(this.context).run()) {
			assertShowsOwnTasks(child, "local.server.port");
			assertThat(names(sibling, "local.server.port")).containsKey("in-parent").doesNotContainKey("in-child");
			MeterRegistry registry = this.context.getBean(MeterRegistry.class);
			assertThat(registry.get("timingwheel.tasks.pending").tag("name", "in-child").gauge().value()).isOne();
			assertThat(registry.get("timingwheel.tasks.pending").tag("name", "in-parent").gauge().value()).isZero();
		}
	}

	@Test
	void theManagementContextShowsTheTasksOfTheApplication() {
		this.context = application(Child.class).properties("management.server.port=0").run();
		assertShowsOwnTasks(this.context, "local.management.port");
	}

	private static SpringApplicationBuilder application(Class<?> source) {
		return new SpringApplicationBuilder(source).web(WebApplicationType.SERVLET)
			.properties("server.port=0", "management.endpoints.web.exposure.include=*",
					"management.endpoint.delayedtasks.access=unrestricted",
					"spring.data.redis.repositories.enabled=false");
	}

	private void assertShowsOwnTasks(ConfigurableApplicationContext context, String port) {
		context.getBean(Child.class).run(5);
		assertThat(names(context, port)).containsKey("in-child").doesNotContainKey("in-parent");
		String body = get(context, port, "/in-child");
		assertThat(JsonPath.<List<String>>read(body, "$.next[*].key")).containsExactly("5");
		DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
		assertThat(tasks.find(TaskId.of("in-child", 5))).isPresent();
		tasks.schedule(TaskId.of("ping", 1), Duration.ofHours(1), () -> {
		});
		this.client.delete().uri(uri(context, port, "/ping/1")).exchange().expectStatus().isNoContent();
		assertThat(tasks.find(TaskId.of("ping", 1))).isEmpty();
	}

	private Map<String, Object> names(ConfigurableApplicationContext context, String port) {
		return JsonPath.read(get(context, port, ""), "$.tasks");
	}

	private String get(ConfigurableApplicationContext context, String port, String path) {
		return this.client.get()
			.uri(uri(context, port, path))
			.exchange()
			.expectStatus()
			.isOk()
			.returnResult(String.class)
			.getResponseBody();
	}

	private static URI uri(ConfigurableApplicationContext context, String port, String path) {
		return URI.create("http://localhost:%s/actuator/delayedtasks%s"
			.formatted(context.getEnvironment().getProperty(port), path));
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	static class Parent {

		@Delayed(delay = "1h", name = "in-parent", key = "#id")
		public void run(long id) {
		}

	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	static class Child {

		@Delayed(delay = "1h", name = "in-child", key = "#id")
		public void run(long id) {
		}

	}

}
