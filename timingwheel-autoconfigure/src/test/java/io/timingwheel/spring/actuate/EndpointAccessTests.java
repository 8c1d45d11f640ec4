package io.timingwheel.spring.actuate;

import java.net.URI;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import io.timingwheel.spring.actuate.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails.State;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelEndpointAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Which endpoints exist with which settings, and which operations they permit.
 */
class EndpointAccessTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TimingWheelAutoConfiguration.class, TimingWheelEndpointAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			any.property=default                                       | false | false
			management.endpoints.web.exposure.include=timingwheel      | true  | false
			management.endpoints.web.exposure.include=delayedtasks     | false | true
			management.endpoints.jmx.exposure.include=delayedtasks     | false | false
			management.endpoints.web.exposure.include=*                | true  | true
			management.endpoints.web.exposure.include=* management.endpoints.access.default=NONE | false | false
			""")
	void anEndpointIsThereIfItIsExposedAndMayBeAccessedAndNoTasksAreShownOverJmx(String properties, boolean wheel,
			boolean tasks) {
		this.contextRunner.withPropertyValues(properties.split(" "))
			.withPropertyValues("spring.jmx.enabled=true")
			.run((context) -> {
				assertThat(context.getBeansOfType(TimingWheelEndpoint.class)).hasSize(wheel ? 1 : 0);
				assertThat(context.getBeansOfType(DelayedTasksEndpoint.class)).hasSize(tasks ? 1 : 0);
			});
	}

	@Test
	void anEndpointOfTheApplicationReplacesTheEndpointOfTimingwheel() {
		this.contextRunner.withPropertyValues("management.endpoints.web.exposure.include=*")
			.withBean("mine", TimingWheelEndpoint.class)
			.run((context) -> assertThat(context).hasSingleBean(TimingWheelEndpoint.class).hasBean("mine"));
	}

	@ParameterizedTest
	@CsvSource({ "any=default, operator, false", "management.endpoint.delayedtasks.show-values=never, operator, false",
			"management.endpoint.delayedtasks.show-values=when-authorized, visitor, false",
			"management.endpoint.delayedtasks.show-values=when-authorized, operator, true",
			"management.endpoint.delayedtasks.show-values=always, visitor, true" })
	void errorsAreMaskedUnlessValuesAreShownAndKeysAreNot(String property, String role, boolean shown) {
		StoredTasks stored = mock(StoredTasks.class);
		given(stored.node()).willReturn(mock(StoreNode.class));
		given(stored.find("mail", "id")).willReturn(Optional.of(new StoredTaskDetails("id", "mail", "ann@example.com",
				Instant.EPOCH, State.DEAD, 1, 1, "No mailbox of Ann", null, Instant.EPOCH, false)));
		this.contextRunner.withBean(StoredTasks.class, () -> stored)
			.withPropertyValues("management.endpoints.web.exposure.include=delayedtasks",
					"management.endpoint.delayedtasks.roles=operator", property)
			.run((context) -> {
				TaskDescriptor task = (TaskDescriptor) context.getBean(DelayedTasksEndpoint.class)
					.task(user(role), new String[] { "mail", "id" }, null, null, null)
					.getBody();
				assertThat(task.key()).isEqualTo("ann@example.com");
				assertThat(task.error()).isEqualTo(shown ? "No mailbox of Ann" : "******");
			});
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

		@Value("${local.server.port}")
		private int port;

		@Test
		void allTasksOfANameCannotBeCancelledAtOnce() {
			DelayedTask<?> task = this.tasks.schedule(TaskId.of("close-order", 5), Duration.ofHours(1), () -> {
			});
			URI name = URI.create("http://localhost:%d/actuator/delayedtasks/close-order".formatted(this.port));
			RestTestClient.bindToServer().build().delete().uri(name).exchange().expectStatus().isNotFound();
			assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		}

	}

}
