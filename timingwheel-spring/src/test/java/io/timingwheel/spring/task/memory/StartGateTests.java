package io.timingwheel.spring.task.memory;

import java.lang.ref.WeakReference;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.timingwheel.spring.task.memory.VirtualTasks.NAME;
import static io.timingwheel.spring.task.memory.VirtualTasks.id;
import static io.timingwheel.spring.task.memory.VirtualTasks.limits;
import static io.timingwheel.spring.task.memory.VirtualTasks.paused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tasks that wait for their policy or for an executor that refuses.
 */
class StartGateTests {

	private static final PolicySettings ONE_AT_ONCE = limits(1, null, null);

	private static final PolicySettings FIVE_AT_ONCE = limits(5, null, null);

	private static final PolicySettings ONE_PER_KEY = limits(null, 1, null);

	private static List<String> numbers(int end) {
		return IntStream.range(0, end).mapToObj(Integer::toString).toList();
	}

	static List<PolicySettings> policies() {
		return List.of(PolicySettings.NONE, FIVE_AT_ONCE, paused(FIVE_AT_ONCE));
	}

	@ParameterizedTest
	@MethodSource("policies")
	void anExecutorThatRefusesIsTriedRarelyHoweverManyTasksAreDueAndTheyKeepTheirOrder(PolicySettings policy) {
		VirtualTasks tasks = new VirtualTasks(policy);
		tasks.refuse = true;
		for (int i = 0; i < 5000; i++) {
			String key = "" + i;
			if (i % 2 == 0) {
				tasks.schedule(key, 1 + i / 5);
			}
			else {
				tasks.template.schedule(Duration.ofMillis(1 + i / 5), () -> tasks.ran.add(key));
			}
		}
		tasks.advanceSeconds(2);
		// Three refusals for each of the retries after 5, 10, 20 ms and so on.
		assertThat(tasks.refusals).isBetween(8, 30);
		tasks.refusals = 0;
		tasks.advanceSeconds(60);
		assertThat(tasks.refusals).isBetween(60, 130);
		tasks.refuse = false;
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).hasSize(policy.isPaused() ? 2500 : 5000);
		if (policy == PolicySettings.NONE) {
			// A timer that was refused may be overtaken.
			assertThat(tasks.ran.stream().skip(200).map(Integer::valueOf).toList()).isSorted();
		}
		tasks.setPaused(false);
		assertThat(tasks.ran).containsExactlyInAnyOrderElementsOf(numbers(5000));
	}

	@Test
	void theTasksThatAnExecutorRefusesKeepTheirPermitsAndCanBeCancelled() {
		VirtualTasks tasks = new VirtualTasks(paused(FIVE_AT_ONCE));
		List<DelayedTask<?>> all = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			all.add(tasks.schedule("" + i, 1 + i));
		}
		tasks.advanceSeconds(1);
		assertThat(tasks.wheel.pending()).isZero();
		tasks.refuse = true;
		tasks.setPaused(false);
		tasks.advanceSeconds(1);
		assertThat(tasks.wheel.pending()).isEqualTo(5);
		assertThat(tasks.waiting()).isEqualTo(995);
		all.subList(0, 999).forEach((task) -> assertThat(task.cancel(false)).isTrue());
		assertThat(tasks.waiting()).isOne();
		tasks.refuse = false;
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).containsExactly("999");
		assertThat(tasks.wheel.pending()).isZero();
	}

	@Test
	void anExecutorThatStartsNothingCausesNoTurnsUntilATaskBegins() {
		VirtualTasks tasks = new VirtualTasks(limits(null, null, "1000/s"));
		List<Integer> queued = new ArrayList<>();
		tasks.holdBack = true;
		tasks.template.task(() -> {
			tasks.advance(Duration.ofMillis(2));
			queued.add(tasks.queue.size());
		}).name(NAME).after(Duration.ofMillis(1));
		for (int i = 0; i < 300; i++) {
			tasks.schedule("" + i, 2);
		}
		tasks.advanceSeconds(1);
		assertThat(tasks.queue).hasSize(100);
		long scheduled = tasks.wheel.snapshot().scheduled();
		tasks.advanceSeconds(60);
		assertThat(tasks.wheel.snapshot().scheduled()).isEqualTo(scheduled);
		assertThat(tasks.wheel.pending()).isZero();
		tasks.runNext();
		assertThat(queued).as("the begin of the task let another one start").containsExactly(100);
		tasks.runQueue();
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).containsExactlyElementsOf(numbers(300));
		assertThat(tasks.wheel.pending()).isZero();
	}

	@Test
	void aRateGoesOnDuringTheShutdownIfTheWheelIsFull() {
		try (RealTasks tasks = new RealTasks(1, Map.of(NAME, paused(limits(null, null, "20/s"))),
				(builder) -> builder.maxPending(2))) {
			List<DelayedTask<?>> all = new ArrayList<>();
			for (int i = 0; i < 5; i++) {
				long waiting = i + 1;
				all.add(tasks.template.task(() -> {
				}).name(NAME).after(Duration.ZERO));
				await().until(() -> tasks.registry.waiting(NAME) == waiting);
			}
			for (int i = 0; i < 2; i++) {
				tasks.wheel.schedule(() -> {
				}, 1, TimeUnit.HOURS);
			}
			tasks.registry.atShutdown().stopAccepting();
			tasks.registry.setPaused(NAME, false);
			await().until(() -> all.stream().allMatch((task) -> task.status() == Status.SUCCEEDED));
		}
	}

	@Test
	void aGateWhoseWheelHasEndedLooksAtItsTasksNoMore() {
		WeakReference<VirtualTasks> tasks = tasksThatWaitForARateWithoutAWheel();
		await().until(() -> {
			System.gc();
			return tasks.get() == null;
		});
	}

	private static WeakReference<VirtualTasks> tasksThatWaitForARateWithoutAWheel() {
		VirtualTasks tasks = new VirtualTasks(paused(limits(null, null, "1/m")));
		tasks.schedule("first", 1);
		tasks.schedule("second", 2);
		tasks.advanceSeconds(1);
		tasks.wheel.close();
		tasks.registry.setPaused(NAME, false);
		assertThat(tasks.waiting()).isOne();
		return new WeakReference<>(tasks);
	}

	@Test
	void theTasksOfAnExecutorWithoutAThreadAreTriedAgain() {
		VirtualTasks tasks = new VirtualTasks(ONE_AT_ONCE);
		List<Error> errors = new ArrayList<>(List.of(new InternalError("no thread")));
		Executor executor = VirtualTasks.prompt((task) -> {
			if (!errors.isEmpty()) {
				throw errors.get(0);
			}
			task.run();
		});
		for (String key : List.of("first", "second", "third")) {
			tasks.template.task(() -> tasks.ran.add(key)).id(id(key)).executor(executor).after(Duration.ofMillis(1));
			tasks.advanceSeconds(1);
		}
		assertThat(tasks.ran).isEmpty();
		errors.clear();
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).containsExactly("first", "second", "third");
		assertThat(tasks.waiting()).isZero();
	}

	@Test
	void aTaskThatFallsDueWhenTheRateAllowsAStartDoesNotOvertakeThoseThatWait() {
		VirtualTasks tasks = new VirtualTasks(limits(null, null, "1/s"));
		tasks.schedule("first", 1);
		tasks.schedule("second", 2);
		tasks.schedule("third", 1001);
		tasks.advance(Duration.ofMillis(1500));
		assertThat(tasks.ran).containsExactly("first", "second");
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).containsExactly("first", "second", "third");
	}

	@Test
	void theNextTaskIsDueOnTheWheelBeforeTheDependentsOfTheFutureRun() {
		VirtualTasks tasks = new VirtualTasks(ONE_AT_ONCE);
		tasks.holdBack = true;
		DelayedTask<?> first = tasks.schedule("first", 1);
		tasks.schedule("second", 2);
		List<Long> onWheel = new ArrayList<>();
		first.completion().whenComplete((value, error) -> onWheel.add(tasks.wheel.pending()));
		tasks.advanceSeconds(1);
		assertThat(tasks.queue).hasSize(1);
		tasks.runNext();
		assertThat(onWheel).containsExactly(1L);
		tasks.runQueue();
		assertThat(tasks.ran).containsExactly("first", "second");
	}

	@Test
	void withVirtualTimeTheDependentsRunBeforeTheNextBody() {
		VirtualTasks tasks = new VirtualTasks(paused(ONE_AT_ONCE), HandOverExecutors.onCallingThread(),
				(time) -> Clock.systemUTC());
		DelayedTask<?> first = tasks.schedule("first", 1);
		tasks.schedule("second", 2);
		first.completion().whenComplete((value, error) -> tasks.ran.add("dependent"));
		tasks.advanceSeconds(1);
		tasks.setPaused(false);
		assertThat(tasks.ran).containsExactly("first", "dependent", "second");
	}

	@Test
	void aWaitingTaskThatShallRunNowKeepsItsPlaceAndDueTime() {
		VirtualTasks tasks = new VirtualTasks(paused(ONE_AT_ONCE));
		DelayedTask<?> first = tasks.schedule("first", 1);
		tasks.schedule("second", 2);
		tasks.advanceSeconds(1);
		Instant dueAt = first.dueAt();
		assertThat(first.reschedule(Duration.ZERO)).isTrue();
		assertThat(first.dueAt()).isEqualTo(dueAt);
		assertThat(tasks.waiting()).isEqualTo(2);
		tasks.setPaused(false);
		assertThat(tasks.ran).containsExactly("first", "second");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aTaskThatWaitsForItsKeyStartsAfterAResetOrWithoutTheLimitAlthoughTheOtherRunHasNotEnded(boolean reset) {
		VirtualTasks tasks = new VirtualTasks();
		tasks.registry.declare(NAME, ONE_PER_KEY);
		tasks.holdBack = true;
		tasks.template.schedule(id("key"), Duration.ofMillis(1), () -> {
			tasks.schedule("key", 1);
			tasks.advanceSeconds(1);
			assertThat(tasks.queue).isEmpty();
			if (reset) {
				tasks.registry.resetLimits();
			}
			else {
				tasks.registry.declare(NAME, PolicySettings.NONE);
			}
			tasks.turn();
			assertThat(tasks.queue).hasSize(1);
		});
		tasks.advanceSeconds(1);
		tasks.runNext();
		tasks.runQueue();
		assertThat(tasks.ran).containsExactly("key");
		assertThat(tasks.uncaught).isEmpty();
	}

}
