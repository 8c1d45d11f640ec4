package io.timingwheel.spring.actuate;

import java.net.URI;
import java.security.Principal;
import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelEndpointAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which endpoints exist with which settings, and which operations they permit.
 */
class EndpointAccessTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TimingWheelAutoConfiguration.class, TimingWheelEndpointAutoConfiguration.class));

	@Test
	void endpointsThatAreNotExposedAreNotThere() {
		this.contextRunner.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelEndpoint.class)
			.doesNotHaveBean(DelayedTasksEndpoint.class)
			.doesNotHaveBean(DelayedTasksEndpointWebExtension.class));
	}

	@Test
	void eachEndpointIsExposedByItsName() {
		this.contextRunner.withPropertyValues("management.endpoints.web.exposure.include=timingwheel")
			.run((context) -> assertThat(context).hasSingleBean(TimingWheelEndpoint.class)
				.doesNotHaveBean(DelayedTasksEndpoint.class));
		this.contextRunner.withPropertyValues("management.endpoints.web.exposure.include=delayedtasks")
			.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelEndpoint.class)
				.hasSingleBean(DelayedTasksEndpoint.class)
				.hasSingleBean(DelayedTasksEndpointWebExtension.class));
	}

	@Test
	void overJmxAloneThereIsNoWebExtension() {
		this.contextRunner
			.withPropertyValues("spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=delayedtasks")
			.run((context) -> assertThat(context).hasSingleBean(DelayedTasksEndpoint.class)
				.doesNotHaveBean(DelayedTasksEndpointWebExtension.class));
	}

	@Test
	void endpointsWithoutAccessAreNotThere() {
		this.contextRunner
			.withPropertyValues("management.endpoints.web.exposure.include=*",
					"management.endpoint.timingwheel.access=NONE", "management.endpoint.delayedtasks.access=NONE")
			.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelEndpoint.class)
				.doesNotHaveBean(DelayedTasksEndpoint.class));
	}

	@Test
	void anEndpointOfTheApplicationReplacesTheEndpointOfTimingwheel() {
		this.contextRunner.withPropertyValues("management.endpoints.web.exposure.include=*")
			.withBean("mine", TimingWheelEndpoint.class)
			.run((context) -> assertThat(context).hasSingleBean(TimingWheelEndpoint.class).hasBean("mine"));
	}

	@Test
	void keysAndErrorsAreMaskedUnlessValuesAreShown() {
		this.contextRunner
			.withPropertyValues("management.endpoints.web.exposure.include=delayedtasks",
					"management.endpoint.delayedtasks.show-values=when-authorized",
					"management.endpoint.delayedtasks.roles=operator")
			.run((context) -> {
				DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
				DelayedTask<?> task = tasks.schedule(TaskId.of("mail", "ann@example.com"), Duration.ofHours(1), () -> {
				});
				DelayedTasksEndpointWebExtension endpoint = context.getBean(DelayedTasksEndpointWebExtension.class);
				for (String role : List.of("visitor", "operator")) {
					SecurityContext user = user(role);
					assertThat(key(endpoint.task(user, new String[] { "mail", task.id() }, null, null, null)))
						.isEqualTo(role.equals("operator") ? "ann@example.com" : "******");
					assertThat(String.valueOf(endpoint.tasksOfName(user, "mail", null, null, null).getBody()))
						.contains(role.equals("operator") ? "ann@example.com" : "******")
						.contains(task.id());
				}
				assertThat(
						String.valueOf(endpoint.tasksOfName(SecurityContext.NONE, "mail", null, null, null).getBody()))
					.contains("******");
			});
	}

	private static String key(WebEndpointResponse<?> response) {
		return ((DelayedTasksEndpoint.TaskDescriptor) response.getBody()).key();
	}

	private static SecurityContext user(String role) {
		return new SecurityContext() {

			@Override
			public Principal getPrincipal() {
				return () -> "user";
			}

			@Override
			public boolean isUserInRole(String other) {
				return other.equals(role);
			}

		};
	}

	@Nested
	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = EndpointTests.Application.class,
			properties = { "management.endpoints.web.exposure.include=delayedtasks",
					"management.endpoint.delayedtasks.access=unrestricted" })
	class Unrestricted {

		@Autowired
		private DelayedTaskOperations tasks;

		private final RestTestClient client = RestTestClient.bindToServer().build();

		@Value("${local.server.port}")
		private int port;

		@ParameterizedTest
		@CsvSource({ "5, 5", "a/b, a/b", "a b, a%20b", "größe, gr%C3%B6%C3%9Fe" })
		void aPendingTaskIsCancelledByItsKey(String key, String path) {
			DelayedTask<?> task = this.tasks.schedule(TaskId.of("close-order", key), Duration.ofHours(1), () -> {
			});
			DelayedTask<?> other = this.tasks.schedule(TaskId.of("close-order", "other"), Duration.ofHours(1), () -> {
			});
			delete("close-order/" + path).expectStatus().isNoContent().expectBody().isEmpty();
			assertThat(task.status()).isEqualTo(Status.CANCELLED);
			assertThat(other.status()).isEqualTo(Status.SCHEDULED);
			delete("close-order/" + path).expectStatus().isNotFound();
		}

		@Test
		void aPendingTaskIsCancelledByItsId() {
			DelayedTask<String> unkeyed = this.tasks.schedule(Duration.ofHours(1), () -> "never");
			DelayedTask<?> keyed = this.tasks.schedule(TaskId.of("close-order", "a//b"), Duration.ofHours(1), () -> {
			});
			delete("unnamed/" + unkeyed.id()).expectStatus().isNoContent();
			delete("close-order/" + keyed.id()).expectStatus().isNoContent();
			assertThat(unkeyed.status()).isEqualTo(Status.CANCELLED);
			assertThat(keyed.status()).isEqualTo(Status.CANCELLED);
		}

		@Test
		void aTaskThatIsAbsentIsNotFound() {
			delete("close-order/absent").expectStatus().isNotFound();
			delete("absent/5").expectStatus().isNotFound();
		}

		@Test
		void allTasksOfANameCannotBeCancelledAtOnce() {
			DelayedTask<?> task = this.tasks.schedule(TaskId.of("close-order", 5), Duration.ofHours(1), () -> {
			});
			delete("close-order").expectStatus().isNotFound();
			assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		}

		private RestTestClient.ResponseSpec delete(String path) {
			return this.client.delete()
				.uri(URI.create("http://localhost:%d/actuator/delayedtasks/%s".formatted(this.port, path)))
				.exchange();
		}

	}

}
