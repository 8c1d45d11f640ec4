package io.timingwheel.spring.actuate;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ErrorDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.NameDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ResultDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.TaskView;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;

/** What the endpoint does with a name whose tasks are stored. */
class StoredNameEndpointTests {

	private static final Instant NOON = Instant.parse("2026-01-10T12:00:00Z");

	private final MemoryStore store = new MemoryStore();

	private int seconds;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class, JacksonAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
		.withBean(MemoryStore.class, () -> this.store)
		.withBean(Reminders.class);

	@Test
	void theEndOfAPauseIsRefusedWhileAPropertyPausesTheName() {
		this.runner.withPropertyValues("timingwheel.tasks.remind.paused=true").run((context) -> {
			DelayedTasksEndpoint endpoint = endpoint(context);
			assertThat(endpoint.changeName("remind", "pause", null, null, null).getStatus()).isEqualTo(204);
			assertThat(this.store.pausedNames()).containsExactly("remind");
			WebEndpointResponse<?> response = endpoint.changeName("remind", "resume", null, null, null);
			assertThat(response.getStatus()).isEqualTo(409);
			assertThat(response.getBody()).isEqualTo(new ErrorDescriptor(
					"The tasks of \"remind\" stay paused on this node, since timingwheel.tasks.remind"
							+ ".paused is true. Nodes without this property start them"));
			assertThat(this.store.pausedNames()).as("the pause of all nodes has ended").isEmpty();
		});
	}

	@Test
	void theTasksOfANameAreReadWithoutTheCountsOfOtherNamesAndTellIfThisNodeHasNoMethod() {
		this.runner.run((context) -> {
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			tasks.enqueue(TaskId.of("remind", 1), Duration.ofHours(1), 1);
			DelayedTasksEndpoint endpoint = endpoint(context, Show.NEVER);
			NameDescriptor name = (NameDescriptor) endpoint
				.tasksOfName(SecurityContext.NONE, "remind", null, null, null)
				.getBody();
			assertThat(name.counts().pending()).isOne();
			assertThat(name.next()).singleElement().extracting(TaskDescriptor::unknown).isNull();
			assertThat(this.store.countedNames()).containsExactly(List.of("remind"));
			tasks.enqueue(TaskId.of("gone", 1), Duration.ofHours(1), 1);
			TaskDescriptor gone = (TaskDescriptor) result(
					endpoint.task(SecurityContext.NONE, new String[] { "gone", "1" }, null, null, null));
			assertThat(gone.unknown()).isTrue();
		});
	}

	@Test
	void nodesReportNotMoreOftenThanTheyPoll() {
		this.runner.withPropertyValues("timingwheel.store.poll-interval=1m")
			.run((context) -> assertThat(context.getBean(StoredTasks.class).node().reportInterval())
				.isEqualTo(Duration.ofMinutes(1)));
	}

	@Test
	void aGroupIsActedOnExactlyAlsoIfItsErrorIsMasked() {
		this.runner.run((context) -> {
			context.getBean(StoredTasks.class).node().pause();
			for (int i = 0; i < 6; i++) {
				bury("remind", "k" + i, (i < 2) ? "HTTP 50" : "HTTP 503");
			}
			DelayedTasksEndpoint masked = endpoint(context, Show.NEVER);
			List<DeadDescriptor.Group> groups = groups(masked, "remind");
			assertThat(groups).extracting(DeadDescriptor.Group::error).containsExactly("******", "******");
			assertThat(groups).extracting(DeadDescriptor.Group::group)
				.isEqualTo(groups(endpoint(context), "remind").stream().map(DeadDescriptor.Group::group).toList());
			String group = groups.get(1).group();
			assertThat(result(masked.changeName("remind", "delete-dead", null, group, null)))
				.isEqualTo(new StepDescriptor(2, 0, false, null));
			assertThat(result(masked.changeName("remind", "requeue-dead", null, group, null)))
				.isEqualTo(new StepDescriptor(0, 0, false, null));
			assertThat(groups(masked, "remind")).singleElement().extracting(DeadDescriptor.Group::count).isEqualTo(4);
			assertThat(result(masked.changeName("remind", "delete-dead", "HTTP 50", null, null)))
				.as("an error goes on to mean 'contains'")
				.isEqualTo(new StepDescriptor(4, 0, false, null));
		});
	}

	@Test
	void theDeadOfAllNamesOfAMethodComeInTheOrderOfTheirDeaths() {
		this.runner.run((context) -> {
			context.getBean(StoredTasks.class).node().pause();
			for (int i = 0; i < 150; i++) {
				bury((i % 3 == 0) ? "extend" : "renew", "k" + i, "Failed");
			}
			DelayedTasksEndpoint endpoint = endpoint(context);
			List<TaskDescriptor> dead = ((NameDescriptor) endpoint
				.tasksOfName(SecurityContext.NONE, "renew", null, null, null)
				.getBody()).dead();
			assertThat(dead).extracting(TaskDescriptor::key)
				.containsExactlyElementsOf(IntStream.range(0, 100).mapToObj((i) -> "k" + (149 - i)).toList());
			assertThat(dead).extracting(TaskDescriptor::diedAt).isSortedAccordingTo(Comparator.reverseOrder());
			assertThat(groups(endpoint, "renew")).singleElement().satisfies((group) -> {
				assertThat(group.count()).isEqualTo(150);
				assertThat(group.last()).isEqualTo(dead.get(0).diedAt());
				assertThat(group.id()).isEqualTo(dead.get(0).id());
			});
			assertThat(result(endpoint.changeName("renew", "delete-dead", null, null, null)))
				.isEqualTo(new StepDescriptor(150, 0, false, null));
		});
	}

	/** Lets a task die, a second after the one before. */
	private void bury(String name, String key, String error) {
		this.store.insert(name, key, "[1]");
		ClaimRequest claim = new ClaimRequest("other", Map.of(name, new ClaimRequest.Share(10, 0)), 10, false,
				Duration.ZERO, Duration.ofDays(1), 1000);
		this.store.setClockOffset(Duration.ofSeconds(++this.seconds));
		this.store.claim(claim)
			.tasks()
			.forEach((task) -> this.store.settle(List.of(new Settlement.Bury(task.ref(), error))));
	}

	private static List<DeadDescriptor.Group> groups(DelayedTasksEndpoint endpoint, String name) {
		WebEndpointResponse<?> response = endpoint.tasksOfName(SecurityContext.NONE, name, "true", null, null);
		return ((DeadDescriptor) result(response)).groups();
	}

	private static Object result(WebEndpointResponse<?> response) {
		return ((ResultDescriptor) response.getBody()).result();
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "\u65e5", "\ud83d\ude97", "\u0001", "\"" })
	void theDeadOfANameFitIntoAHundredKilobytes(String error) {
		DeadDescriptor dead = new DeadDescriptor("remind",
				IntStream.range(0, DeadDescriptor.MAX_GROUPS)
					.mapToObj((i) -> new DeadDescriptor.Group(
							DeadDescriptor.beginOf((i + error.repeat(DeadDescriptor.MAX_ERROR))), "0".repeat(32), 20,
							NOON, NOON, "i".repeat(36)))
					.toList(),
				2000, true, null);
		StoredTasks stored = mock(RETURNS_DEEP_STUBS);
		given(stored.owns("remind")).willReturn(true);
		given(stored.dead().byError("remind", null)).willReturn(dead);
		DeadDescriptor shown = new TaskView(null, stored).deadByError("remind", null, true);
		String json = new JsonMapper().writeValueAsString(shown);
		assertThat(json.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(100_000);
		assertThat(shown.groups()).hasSize(DeadDescriptor.MAX_GROUPS).doesNotHaveDuplicates();
		assertThat(json).doesNotContain("\ufffd", "?");
		if (error.equals("a")) {
			assertThat(shown.groups().get(0).error()).hasSize(DeadDescriptor.MAX_ERROR);
		}
	}

	private static DelayedTasksEndpoint endpoint(ApplicationContext context) {
		return endpoint(context, Show.ALWAYS);
	}

	private static DelayedTasksEndpoint endpoint(ApplicationContext context, Show showValues) {
		return new DelayedTasksEndpoint(context.getBean(DelayedTaskRegistry.class), context.getBean(StoredTasks.class),
				showValues, Set.of());
	}

	static class Reminders {

		@Delayed(delay = "1h", name = "remind", key = "#id", durable = true)
		public void remind(int id) {
		}

		@Delayed(delay = "1h", name = "renew", aliases = "extend", key = "#id", durable = true)
		public void renew(int id) {
		}

	}

}
