package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class DelayedTaskRegistryTests {

	private static final Duration DELAY = Duration.ofSeconds(10);

	private final VirtualTasks tasks = new VirtualTasks();

	private final DelayedTaskRegistry registry = this.tasks.registry;

	@Test
	void listsThePendingTasksInDueOrder() {
		for (int i = 20; i > 0; i--) {
			this.tasks.template.schedule(TaskId.of("close", "k" + i), Duration.ofMinutes(i), () -> {
			});
		}
		assertThat(this.registry.memoryTasks().page("close", null, 3)).extracting(PendingTaskSnapshot::key)
			.containsExactly("k1", "k2", "k3");
		assertThat(this.registry.memoryTasks().page("close", null, 100)).hasSize(20)
			.isSortedAccordingTo(Comparator.comparing(PendingTaskSnapshot::dueAt))
			.allMatch((task) -> task.name().equals("close"));
		assertThat(this.registry.memoryTasks().page("unknown", null, 100)).isEmpty();
	}

	@Test
	void readsThePendingTasksPageByPage() {
		for (int i = 0; i < 25; i++) {
			this.tasks.template.schedule(TaskId.of("close", i), Duration.ofMinutes(1 + i / 10), () -> {
			});
		}
		List<String> all = this.registry.memoryTasks()
			.page("close", null, 100)
			.stream()
			.map(PendingTaskSnapshot::id)
			.toList();
		List<String> read = new ArrayList<>();
		List<PendingTaskSnapshot> page = this.registry.memoryTasks().page("close", null, 4);
		while (!page.isEmpty()) {
			page.forEach((task) -> read.add(task.id()));
			PendingTaskSnapshot last = page.get(page.size() - 1);
			// The next page begins behind the position, whether its task is there or not.
			this.registry.cancel("close", last.id());
			page = this.registry.memoryTasks().page("close", last.position(), 4);
		}
		assertThat(read).hasSize(25).isEqualTo(all);
	}

	@Test
	void aForecastCountsAllTasks() {
		int count = 200_000;
		IntStream.range(0, count)
			.forEach((i) -> this.tasks.template.schedule(TaskId.of("many", i), Duration.ofSeconds(i % 100), () -> {
			}));
		this.tasks.template.schedule(TaskId.of("few", 1), Duration.ofSeconds(15), () -> {
		});
		assertThat(this.registry.memoryTasks().forecast(this.registry.clock().now(), Duration.ofSeconds(10), 5))
			.isEqualTo(Map.of("few", List.of(0L, 1L, 0L, 0L, 0L), "many", Collections.nCopies(5, count / 10L)));
	}

	@Test
	void pagesOfVeryManyTasksMissNone() {
		int count = 200_000;
		IntStream.range(0, count)
			.forEach((i) -> this.tasks.template.schedule(TaskId.of("many", i), Duration.ofSeconds(count - i), () -> {
			}));
		List<PendingTaskSnapshot> page = this.registry.memoryTasks().page("many", null, 100);
		assertThat(page).extracting(PendingTaskSnapshot::key).containsExactlyElementsOf(keys(count - 1, count - 100));
		assertThat(this.registry.memoryTasks().page("many", page.get(99).position(), 100))
			.extracting(PendingTaskSnapshot::key)
			.containsExactlyElementsOf(keys(count - 101, count - 200));
	}

	private static List<String> keys(int from, int to) {
		return IntStream.rangeClosed(0, from - to).mapToObj((i) -> String.valueOf(from - i)).toList();
	}

	@Test
	void movesByKeyOrId() {
		DelayedTask<?> keyed = this.tasks.template.schedule(TaskId.of("close", "a/b"), DELAY, () -> {
		});
		DelayedTask<?> unkeyed = this.tasks.template.task(() -> {
		}).name("close").after(DELAY);
		assertThat(this.registry.reschedule("close", "absent", Duration.ZERO)).isFalse();
		assertThat(this.registry.reschedule("close", "a/b", Duration.ofHours(1))).isTrue();
		assertThat(this.registry.reschedule("close", unkeyed.id(), Duration.ofHours(2))).isTrue();
		assertThat(this.registry.memoryTasks().page("close", null, 10)).extracting(PendingTaskSnapshot::dueAt)
			.containsExactly(keyed.dueAt(), unkeyed.dueAt());
		this.tasks.advanceSeconds(60);
		assertThat(this.registry.reschedule("close", keyed.id(), Duration.ZERO)).isTrue();
		this.tasks.advanceSeconds(1);
		assertThat(keyed.isDone()).isTrue();
		assertThat(unkeyed.isDone()).isFalse();
		assertThat(this.registry.reschedule("close", keyed.id(), Duration.ZERO)).isFalse();
	}

	@Test
	void findsAndCancelsByKeyOrId() {
		DelayedTask<?> keyed = this.tasks.template.schedule(TaskId.of("close", "a/b"), DELAY, () -> {
		});
		DelayedTask<?> unkeyed = this.tasks.template.task(() -> {
		}).name("close").after(DELAY);
		assertThat(this.registry.memoryTasks().find("close", "a/b")).get()
			.extracting(PendingTaskSnapshot::id)
			.isEqualTo(keyed.id());
		assertThat(this.registry.memoryTasks().find("close", keyed.id())).get()
			.extracting(PendingTaskSnapshot::key)
			.isEqualTo("a/b");
		assertThat(this.registry.memoryTasks().find("close", unkeyed.id())).get()
			.extracting(PendingTaskSnapshot::key)
			.isNull();
		for (String absent : List.of("x", "", keyed.id() + "0", "00000000-1", "1", keyed.id().replace('-', '+'))) {
			assertThat(this.registry.memoryTasks().find("close", absent)).as(absent).isEmpty();
			assertThat(this.registry.cancel("close", absent)).as(absent).isFalse();
		}
		assertThat(this.registry.cancel("close", keyed.id())).isTrue();
		assertThat(this.registry.cancel("close", unkeyed.id())).isTrue();
		assertThat(this.registry.cancel("close", unkeyed.id())).isFalse();
		assertThat(keyed.isCancelled()).isTrue();
		assertThat(this.registry.pendingCount()).isZero();
	}

	@Test
	void anIdOfAPageFindsItsTaskAndNoOtherTaskOfTheKey() {
		TaskId taskId = TaskId.of("close", "k");
		this.tasks.template.schedule(taskId, DELAY, () -> {
		});
		String id = this.registry.memoryTasks().page("close", null, 10).get(0).id();
		assertThat(this.registry.memoryTasks().find("close", id)).get()
			.extracting(PendingTaskSnapshot::key)
			.isEqualTo("k");
		assertThat(this.registry.memoryTasks().find("other", id)).isEmpty();
		assertThat(this.registry.reschedule("close", id, DELAY.multipliedBy(2))).isTrue();
		assertThat(this.registry.memoryTasks().find("close", id)).isPresent();
		this.tasks.template.schedule(taskId, DELAY, () -> {
		});
		assertThat(this.registry.memoryTasks().find("close", id)).isEmpty();
		assertThat(this.registry.cancel("close", id)).isFalse();
		assertThat(this.registry.pendingCount()).isOne();
	}

	@Test
	void anIdThatIsReadWhileItsTaskIsReplacedGivesNoOtherTask() throws Exception {
		TaskId taskId = TaskId.of("close", "k");
		AtomicReference<String> latest = new AtomicReference<>("");
		AtomicBoolean stopped = new AtomicBoolean();
		AtomicInteger replacements = new AtomicInteger();
		CompletableFuture<Void> replacing = CompletableFuture.runAsync(() -> {
			while (!stopped.get()) {
				latest.set(this.tasks.template.schedule(taskId, DELAY, () -> {
				}).id());
				replacements.incrementAndGet();
			}
		}, (task) -> new Thread(task).start());
		Set<String> others = new HashSet<>();
		try {
			// On a busy machine the other thread may begin late.
			for (int i = 0; i < 100_000 || (replacements.get() < 1_000 && !replacing.isDone()); i++) {
				String id = latest.get();
				this.registry.memoryTasks()
					.find("close", id)
					.map(PendingTaskSnapshot::id)
					.filter((found) -> !found.equals(id))
					.ifPresent(others::add);
			}
		}
		finally {
			stopped.set(true);
			replacing.join();
		}
		assertThat(others).isEmpty();
		assertThat(replacements).hasValueGreaterThan(0);
	}

	@Test
	void eachOfManyNamesHasItsOwnFigures() {
		int names = 1500;
		for (int i = 0; i < names; i++) {
			this.tasks.template.schedule(TaskId.of("name-" + i, 1), DELAY, () -> {
			});
		}
		assertThat(this.registry.names()).hasSize(names).contains("name-0", "name-1499");
		assertThat(this.registry.counts("name-1200").pending()).isOne();
		assertThat(this.tasks.template.cancel(TaskId.of("name-1200", 1))).isTrue();
		assertThat(this.tasks.template.cancel(TaskId.of("name-1200", 1))).isFalse();
		this.tasks.advanceSeconds(11);
		assertThat(this.registry.counts("name-1200")).isEqualTo(new TaskCounts(0, 0, 0, 0, 1, 0, 0, 0));
		assertThat(this.registry.counts("name-1499")).isEqualTo(new TaskCounts(0, 0, 1, 0, 0, 0, 0, 0));
		assertThat(this.registry.counts("unknown")).isEqualTo(new TaskCounts(0, 0, 0, 0, 0, 0, 0, 0));
	}

	@Test
	void cancellingAllCancelsTheFutures() {
		List<DelayedTask<?>> scheduled = new ArrayList<>();
		IntStream.range(0, 100).forEach((i) -> scheduled.add(this.tasks.template.schedule(DELAY, () -> {
		})));
		scheduled.add(this.tasks.template.task(() -> {
		}).every(DELAY));
		this.registry.atShutdown().stopAccepting();
		assertThat(this.registry.atShutdown().cancelPending()).isEqualTo(101);
		assertThat(scheduled).allMatch(DelayedTask::isCancelled);
		assertThat(this.tasks.wheel.pending()).isZero();
		assertThat(this.registry.atShutdown().cancelPending()).isZero();
	}

	@Test
	void aReturnedFutureIsFollowedAlsoWhenTheExecutorRefuses() throws Exception {
		FutureTask<String> inner = new FutureTask<>(() -> "inner");
		TaskDefinition<Object> definition = new Flattening(this.registry, this.tasks.executor, inner);
		TaskSubmission submission = new TaskSubmission(definition, null, IfPending.REPLACE, null, "", true);
		DelayedTask<?> task = submission.schedule(this.registry.clock().after(DELAY));
		this.tasks.advanceSeconds(10);
		this.tasks.refuse = true;
		inner.run();
		assertThat(task.get(60, TimeUnit.SECONDS)).isEqualTo("inner");
		assertThat(this.registry.runningCount()).isZero();
	}

	@Test
	void anInterceptorStandsAroundTheBodyWithWhatItCaptured() throws Exception {
		List<String> events = new ArrayList<>();
		VirtualTasks intercepted = new VirtualTasks(UnaryOperator.identity(), null, new TaskExecutionInterceptor() {

			@Override
			public Object capture(String name) {
				events.add("capture " + name);
				return "captured";
			}

			@Override
			public Object intercept(TaskExecution execution, Object captured, Body body) throws Throwable {
				events.add("before " + execution.name() + " " + captured + " " + execution.method());
				Object result = body.run();
				events.add("after " + result);
				return result;
			}

		});
		DelayedTask<String> task = intercepted.template.task(() -> "result").name("n").after(DELAY);
		assertThat(events).containsExactly("capture n");
		intercepted.advanceSeconds(11);
		assertThat(events).containsExactly("capture n", "before n captured null", "after result");
		assertThat(task.get()).isEqualTo("result");
	}

	private static final class Flattening extends TaskDefinition<Object> {

		private final Object result;

		Flattening(DelayedTaskRegistry registry, Executor executor, Object result) {
			super(registry, "n", () -> executor, null);
			this.result = result;
		}

		@Override
		protected Object run(Object payload) {
			return this.result;
		}

		@Override
		protected boolean flattens() {
			return true;
		}

	}

}
