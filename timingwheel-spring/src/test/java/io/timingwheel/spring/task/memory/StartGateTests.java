package io.timingwheel.spring.task.memory;

import java.lang.ref.WeakReference;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.timingwheel.TimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tasks that wait for their policy or for an executor that refuses, on virtual time.
 */
class StartGateTests {

	private static final PolicySettings ONE_AT_ONCE = limits(1, null);

	private static final PolicySettings FIVE_AT_ONCE = limits(5, null);

	private static final PolicySettings ONE_PER_KEY = new PolicySettings(null, BackoffSettings.NONE, null, 1, null,
			null);

	private final List<String> ran = new ArrayList<>();

	private static PolicySettings limits(@Nullable Integer maxConcurrent, @Nullable String rate) {
		return new PolicySettings(null, BackoffSettings.NONE, maxConcurrent, null,
				(rate != null) ? StartRate.parse(rate) : null, null);
	}

	private static PolicySettings paused(PolicySettings policy) {
		return new PolicySettings(null, BackoffSettings.NONE, policy.maxConcurrent(), null, policy.rate(), true);
	}

	private static VirtualTasks tasks(PolicySettings policy) {
		return new VirtualTasks(Map.of("limited", policy));
	}

	private DelayedTask<?> schedule(VirtualTasks tasks, String name, String key, long millis) {
		return tasks.template.schedule(TaskId.of(name, key), Duration.ofMillis(millis), () -> this.ran.add(key));
	}

	private DelayedTask<?> schedule(VirtualTasks tasks, Executor executor, String key, long millis) {
		return tasks.template.task(() -> this.ran.add(key))
			.id(TaskId.of("limited", key))
			.executor(executor)
			.after(Duration.ofMillis(millis));
	}

	private static List<String> numbers(int end) {
		return IntStream.range(0, end).mapToObj(Integer::toString).toList();
	}

	static List<PolicySettings> policies() {
		return List.of(PolicySettings.NONE, FIVE_AT_ONCE, paused(FIVE_AT_ONCE));
	}

	@ParameterizedTest
	@MethodSource("policies")
	void anExecutorThatRefusesIsTriedRarelyHoweverManyTasksAreDueAndTheyKeepTheirOrder(PolicySettings policy) {
		VirtualTasks tasks = tasks(policy);
		tasks.refuse = true;
		for (int i = 0; i < 5000; i++) {
			schedule(tasks, (i % 2 == 0) ? "limited" : "any", "" + i, 1 + i / 5);
		}
		tasks.advanceSeconds(2);
		// Three refusals for each of the retries after 5, 10, 20 ms and so on.
		assertThat(tasks.refusals).isBetween(8, 30);
		tasks.refusals = 0;
		tasks.advanceSeconds(60);
		assertThat(tasks.refusals).isBetween(60, 130);
		tasks.refuse = false;
		tasks.advanceSeconds(1);
		assertThat(this.ran).hasSize(policy.isPaused() ? 2500 : 5000);
		if (policy == PolicySettings.NONE) {
			// A timer that was refused may be overtaken.
			assertThat(this.ran.stream().skip(200).map(Integer::valueOf).toList()).isSorted();
		}
		tasks.setPaused("limited", false);
		assertThat(this.ran).containsExactlyInAnyOrderElementsOf(numbers(5000));
	}

	@Test
	void theTasksThatAnExecutorRefusesKeepTheirPermitsAndTheWheelTriesItAgain() {
		VirtualTasks tasks = tasks(paused(FIVE_AT_ONCE));
		for (int i = 0; i < 1000; i++) {
			schedule(tasks, "limited", "" + i, 1 + i);
		}
		tasks.refuse = true;
		tasks.advanceSeconds(1);
		assertThat(tasks.wheel.pending()).isZero();
		tasks.setPaused("limited", false);
		tasks.advanceSeconds(60);
		assertThat(tasks.refusals).isBetween(60, 200);
		assertThat(tasks.wheel.pending()).isEqualTo(5);
		assertThat(tasks.registry.waiting("limited")).isEqualTo(995);
		tasks.refuse = false;
		tasks.advanceSeconds(1);
		assertThat(this.ran).containsExactlyInAnyOrderElementsOf(numbers(1000));
		assertThat(tasks.wheel.pending()).isZero();
		assertThat(tasks.registry.waiting("limited")).isZero();
	}

	@Test
	void anExecutorThatStartsNothingCausesNoTurnsUntilATaskBegins() {
		VirtualTasks tasks = tasks(limits(null, "1000/s"));
		List<Integer> queued = new ArrayList<>();
		tasks.holdBack = true;
		tasks.template.task(() -> {
			tasks.advance(Duration.ofMillis(2));
			queued.add(tasks.queue.size());
		}).name("limited").after(Duration.ofMillis(1));
		for (int i = 0; i < 300; i++) {
			schedule(tasks, "limited", "" + i, 2);
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
		assertThat(this.ran).containsExactlyElementsOf(numbers(300));
		assertThat(tasks.wheel.pending()).isZero();
	}

	@Test
	void aRateGoesOnDuringTheShutdownIfTheWheelIsFull() {
		ExecutorService pool = Executors.newFixedThreadPool(1);
		TimingWheel wheel = TimingWheel.builder(pool).maxPending(2).build();
		DelayedTaskRegistry registry = new DelayedTaskRegistry(wheel,
				new TaskClock(TimeSource.system(), Clock.systemUTC()), new HandOverExecutors(), null, null,
				VirtualTasks.policies(Map.of("limited", paused(limits(null, "20/s")))));
		DelayedTaskOperations template = new DefaultDelayedTaskTemplate(registry, VirtualTasks.executors(pool),
				new SimpleAsyncUncaughtExceptionHandler(), null);
		List<DelayedTask<?>> all = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			long waiting = i + 1;
			all.add(template.task(() -> {
			}).name("limited").after(Duration.ZERO));
			await().until(() -> registry.waiting("limited") == waiting);
		}
		wheel.schedule(() -> {
		}, 1, TimeUnit.HOURS);
		wheel.schedule(() -> {
		}, 1, TimeUnit.HOURS);
		registry.atShutdown().stopAccepting();
		registry.setPaused("limited", false);
		await().until(() -> all.stream().allMatch((task) -> task.status() == Status.SUCCEEDED));
		wheel.close();
		pool.shutdownNow();
	}

	@Test
	void aGateWhoseWheelHasEndedLooksAtItsTasksNoMore() {
		WeakReference<VirtualTasks> tasks = tasksThatWaitForARateWithoutAWheel();
		await().until(() -> {
			System.gc();
			return tasks.get() == null;
		});
	}

	private WeakReference<VirtualTasks> tasksThatWaitForARateWithoutAWheel() {
		VirtualTasks tasks = tasks(paused(limits(null, "1/m")));
		schedule(tasks, "limited", "first", 1);
		schedule(tasks, "limited", "second", 2);
		tasks.advanceSeconds(1);
		tasks.wheel.close();
		tasks.registry.setPaused("limited", false);
		assertThat(tasks.registry.waiting("limited")).isOne();
		return new WeakReference<>(tasks);
	}

	@Test
	void theTasksOfAnExecutorWithoutAThreadAreTriedAgain() {
		VirtualTasks tasks = tasks(ONE_AT_ONCE);
		List<Error> errors = new ArrayList<>(List.of(new InternalError("no thread")));
		Executor executor = VirtualTasks.prompt((task) -> {
			if (!errors.isEmpty()) {
				throw errors.get(0);
			}
			task.run();
		});
		schedule(tasks, executor, "first", 1);
		tasks.advanceSeconds(1);
		tasks.setPaused("limited", true);
		errors.clear();
		schedule(tasks, executor, "second", 1);
		schedule(tasks, executor, "third", 1);
		tasks.advanceSeconds(2);
		assertThat(tasks.registry.waiting("limited")).isEqualTo(3);
		errors.add(new InternalError("no thread"));
		tasks.setPaused("limited", false);
		assertThat(this.ran).isEmpty();
		errors.clear();
		tasks.advanceSeconds(1);
		assertThat(this.ran).containsExactly("first", "second", "third");
		assertThat(tasks.registry.waiting("limited")).isZero();
	}

	@Test
	void aTaskThatFallsDueWhenTheRateAllowsAStartDoesNotOvertakeThoseThatWait() {
		VirtualTasks tasks = tasks(limits(null, "1/s"));
		schedule(tasks, "limited", "first", 1);
		schedule(tasks, "limited", "second", 2);
		schedule(tasks, "limited", "third", 1001);
		tasks.advance(Duration.ofMillis(1500));
		assertThat(this.ran).containsExactly("first", "second");
		tasks.advanceSeconds(1);
		assertThat(this.ran).containsExactly("first", "second", "third");
	}

	@Test
	void theNextTaskIsDueOnTheWheelBeforeTheDependentsOfTheFutureRun() {
		VirtualTasks tasks = tasks(ONE_AT_ONCE);
		tasks.holdBack = true;
		DelayedTask<?> first = schedule(tasks, "limited", "first", 1);
		schedule(tasks, "limited", "second", 2);
		List<Long> onWheel = new ArrayList<>();
		first.completion().whenComplete((value, error) -> onWheel.add(tasks.wheel.pending()));
		tasks.advanceSeconds(1);
		assertThat(tasks.queue).hasSize(1);
		tasks.runNext();
		assertThat(onWheel).containsExactly(1L);
		tasks.runQueue();
		assertThat(this.ran).containsExactly("first", "second");
	}

	@Test
	void withVirtualTimeTheDependentsRunBeforeTheNextBody() {
		VirtualTasks tasks = new VirtualTasks(Map.of("limited", paused(ONE_AT_ONCE)),
				HandOverExecutors.onCallingThread());
		DelayedTask<?> first = schedule(tasks, "limited", "first", 1);
		schedule(tasks, "limited", "second", 2);
		first.completion().whenComplete((value, error) -> this.ran.add("dependent"));
		tasks.advanceSeconds(1);
		tasks.setPaused("limited", false);
		assertThat(this.ran).containsExactly("first", "dependent", "second");
	}

	@Test
	void tasksOfAnExecutorThatRefusesCanBeCancelled() {
		VirtualTasks tasks = tasks(paused(FIVE_AT_ONCE));
		List<DelayedTask<?>> all = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			all.add(schedule(tasks, "limited", "" + i, 1 + i));
		}
		tasks.advanceSeconds(1);
		tasks.refuse = true;
		tasks.setPaused("limited", false);
		tasks.advanceSeconds(1);
		all.subList(0, 999).forEach((task) -> assertThat(task.cancel(false)).isTrue());
		assertThat(tasks.registry.waiting("limited")).isOne();
		tasks.refuse = false;
		tasks.advanceSeconds(1);
		assertThat(this.ran).containsExactly("999");
		assertThat(tasks.wheel.pending()).isZero();
	}

	@Test
	void resumingRunsNothingOnTheCallingThread() {
		VirtualTasks tasks = tasks(paused(ONE_AT_ONCE));
		schedule(tasks, "limited", "a", 1);
		tasks.advanceSeconds(1);
		tasks.registry.setPaused("limited", false);
		assertThat(this.ran).isEmpty();
		tasks.turn();
		assertThat(this.ran).containsExactly("a");
	}

	@Test
	void aWaitingTaskThatShallRunNowKeepsItsPlaceAndDueTime() {
		VirtualTasks tasks = tasks(paused(ONE_AT_ONCE));
		DelayedTask<?> first = schedule(tasks, "limited", "first", 1);
		schedule(tasks, "limited", "second", 2);
		tasks.advanceSeconds(1);
		Instant dueAt = first.dueAt();
		assertThat(first.reschedule(Duration.ZERO)).isTrue();
		assertThat(first.dueAt()).isEqualTo(dueAt);
		assertThat(tasks.registry.waiting("limited")).isEqualTo(2);
		tasks.setPaused("limited", false);
		assertThat(this.ran).containsExactly("first", "second");
	}

	@Test
	void aHandOverThatFailsForWantOfAThreadIsARefusal() {
		HandOverExecutors handOvers = new HandOverExecutors();
		InternalError error = new InternalError("no thread");
		Executor executor = VirtualTasks.prompt((task) -> {
			throw error;
		});
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> handOvers.handOver(executor, () -> {
			}, (ex) -> {
			}))
			.withCause(error);
		handOvers.close();
	}

	@Test
	void aTaskThatWaitsForItsKeyStartsAfterAResetAlthoughTheOtherRunOfTheKeyHasNotEnded() {
		VirtualTasks tasks = tasks(ONE_PER_KEY);
		aTaskThatWaitsForItsKeyStartsAfter(tasks, tasks.registry::resetLimits);
	}

	@Test
	void aTaskThatWaitsForItsKeyStartsWhenKeysHaveNoLimitAnyMore() {
		VirtualTasks tasks = new VirtualTasks(Map.of());
		tasks.registry.declare("limited", ONE_PER_KEY);
		aTaskThatWaitsForItsKeyStartsAfter(tasks, () -> tasks.registry.declare("limited", PolicySettings.NONE));
	}

	private void aTaskThatWaitsForItsKeyStartsAfter(VirtualTasks tasks, Runnable change) {
		List<Integer> startedBeforeAndAfter = new ArrayList<>();
		tasks.holdBack = true;
		tasks.template.schedule(TaskId.of("limited", "key"), Duration.ofMillis(1), () -> {
			schedule(tasks, "limited", "key", 1);
			tasks.advanceSeconds(1);
			startedBeforeAndAfter.add(this.ran.size());
			change.run();
			tasks.turn();
			startedBeforeAndAfter.add(this.ran.size());
		});
		tasks.advanceSeconds(1);
		tasks.runQueue();
		assertThat(startedBeforeAndAfter).containsExactly(0, 1);
	}

}
