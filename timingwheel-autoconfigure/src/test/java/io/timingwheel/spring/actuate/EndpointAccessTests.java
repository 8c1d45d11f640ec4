package io.timingwheel.spring.actuate;

import java.security.Principal;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ResultDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor.State;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TasksDescriptor;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.Operation;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.jmx.JmxEndpointsSupplier;
import org.springframework.boot.actuate.endpoint.web.WebEndpointsSupplier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Which endpoints exist with which settings, and whom they show errors. */
class EndpointAccessTests {

	private final WebApplicationContextRunner contextRunner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class,
				TimingWheelActuatorAutoConfiguration.class, EndpointAutoConfiguration.class,
				WebEndpointAutoConfiguration.class, JmxAutoConfiguration.class, JmxEndpointAutoConfiguration.class))
		.withPropertyValues("spring.jmx.enabled=true");

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			any.property=default                                   | []
			management.endpoints.web.exposure.include=timingwheel  | [timingwheel [READ]]
			management.endpoints.web.exposure.include=delayedtasks | [delayedtasks [READ]]
			management.endpoints.jmx.exposure.include=*            | [jmx timingwheel]
			management.endpoints.web.exposure.include=*            | [delayedtasks [READ], timingwheel [READ]]
			management.endpoints.web.exposure.include=* management.endpoints.access.default=NONE | []
			management.endpoints.web.exposure.include=* management.endpoints.access.default=UNRESTRICTED \
			| [delayedtasks [READ, WRITE, DELETE], timingwheel [READ]]
			""")
	void anEndpointIsThereIfItIsExposedAndMayBeAccessedAndNoTasksAreShownOverJmx(String properties, String exposed) {
		this.contextRunner.withPropertyValues(properties.split(" ")).run((context) -> {
			TreeSet<String> ids = new TreeSet<>();
			context.getBean(WebEndpointsSupplier.class)
				.getEndpoints()
				.forEach((endpoint) -> ids.add(endpoint.getEndpointId() + " " + types(endpoint.getOperations())));
			context.getBean(JmxEndpointsSupplier.class)
				.getEndpoints()
				.forEach((endpoint) -> ids.add("jmx " + endpoint.getEndpointId()));
			assertThat(ids).hasToString(exposed);
		});
	}

	private static Set<OperationType> types(Collection<? extends Operation> operations) {
		return operations.stream().map(Operation::getType).collect(Collectors.toCollection(TreeSet::new));
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
		given(stored.find("mail", "id"))
			.willReturn(Optional.of(stored("ann@example.com", Instant.EPOCH, State.DEAD, 1, "No mailbox of Ann")));
		SecurityContext user = mock(SecurityContext.class);
		given(user.getPrincipal()).willReturn(mock(Principal.class));
		given(user.isUserInRole(role)).willReturn(true);
		this.contextRunner.withBean(StoredTasks.class, () -> stored)
			.withPropertyValues("management.endpoint.delayedtasks.roles=operator", property)
			.run((context) -> {
				ResultDescriptor body = (ResultDescriptor) context.getBean(DelayedTasksEndpoint.class)
					.task(user, new String[] { "mail", "id" }, null, null, null)
					.getBody();
				TaskDescriptor task = (TaskDescriptor) body.result();
				assertThat(task.key()).isEqualTo("ann@example.com");
				assertThat(task.error()).isEqualTo(shown ? "No mailbox of Ann" : "******");
			});
	}

	@ParameterizedTest
	@CsvSource({ "PENDING, 1, every(PT1H), 0, 0, 0, as planned", "PENDING, 2, every(PT1H), 9, 0, 3600, a retry",
			"RUNNING, 1, every(PT1H), 0, 0, 3600, running", "RUNNING, 1, every(PT1H), -9, 0, 0, an additional run",
			"PENDING, 1, every(PT1H), 4000, 0, 7200, put off", "PENDING, 1, of a newer release, 0, 0, 0, as planned",
			"RUNNING, 1, fixedDelay(PT1H), 0, 0, , after the end of the run",
			"RUNNING, 1, of a newer release, 0, 0, , unknown" })
	void aStoredTaskHasTheNextTimeOfItsSchedule(State state, int attempt, String schedule, int due, int scheduled,
			Integer next, String reason) {
		Instant noon = Instant.parse("2026-01-10T12:00:00Z");
		TaskDescriptor task = stored("key", noon.plusSeconds(due), state, attempt, null).withSchedule(schedule,
				noon.plusSeconds(scheduled));
		assertThat(task.schedule()).isEqualTo(schedule);
		assertThat(task.next()).as(reason).isEqualTo((next != null) ? noon.plusSeconds(next) : null);
	}

	/** Also that of the management context, whose parent is that of the application. */
	@Test
	void eachContextOfAHierarchyShowsItsOwnTasksAndTheRegistryOfTheParentHasTheirMeters() {
		new ApplicationContextRunner().withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class, TimingWheelAutoConfiguration.class,
					TimingWheelActuatorAutoConfiguration.class))
			.withBean(InParent.class)
			.run((parent) -> this.contextRunner.withParent(parent)
				.withPropertyValues("management.endpoints.web.exposure.include=*")
				.withBean(InChild.class)
				.run((child) -> {
					child.getBean(InChild.class).run(5);
					TasksDescriptor shown = (TasksDescriptor) child.getBean(DelayedTasksEndpoint.class)
						.tasks(null, null, null)
						.getBody();
					assertThat(shown.tasks()).containsOnlyKeys("in-child");
					assertThat(child.getBean(DelayedTaskOperations.class).find(TaskId.of("in-child", 5))).isPresent();
					for (String name : List.of("in-child", "in-parent")) {
						assertThat(parent.getBean(MeterRegistry.class)
							.get("timingwheel.tasks.pending")
							.tag("name", name)
							.gauge()
							.value()).as(name).isEqualTo(name.equals("in-child") ? 1 : 0);
					}
				}));
	}

	private static TaskDescriptor stored(String key, Instant dueAt, State state, int attempt, String error) {
		return new TaskDescriptor("id", "mail", key, dueAt, state, attempt, 1, error, null, null, null, null);
	}

	static class InParent {

		@Delayed(delay = "1h", name = "in-parent", key = "#id")
		public void run(long id) {
		}

	}

	static class InChild {

		@Delayed(delay = "1h", name = "in-child", key = "#id")
		public void run(long id) {
		}

	}

}
