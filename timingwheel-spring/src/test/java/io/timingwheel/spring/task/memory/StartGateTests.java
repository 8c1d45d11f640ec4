package io.timingwheel.spring.task.memory;

import java.lang.ref.WeakReference;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.timingwheel.spring.task.memory.VirtualTasks.NAME;
import static io.timingwheel.spring.task.memory.VirtualTasks.id;
import static io.timingwheel.spring.task.memory.VirtualTasks.limits;
import static io.timingwheel.spring.task.memory.VirtualTasks.paused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Limits, pauses, and executors that refuse: tasks that are due and have to wait. */
class StartGateTests {

	private static final PolicySettings ONE_AT_ONCE = limits(1, null, null);

	private static final PolicySettings FIVE_AT_ONCE = limits(5, null, null);

	private static final PolicySettings TWO_AT_ONCE = limits(2, null, null);

	private static final PolicySettings ONE_PER_KEY = limits(null, 1, null);

	private static final PolicySettings PAUSED = paused(PolicySettings.NONE);

	@Test
	void noMoreBodiesThanAllowedStartAndTheOthersFollowInTheOrderOfTheirDueTimes() {
		VirtualTasks tasks = new VirtualTasks(TWO_AT_ONCE);
		tasks.holdBack = true;
		for (int i : new int[] { 4, 1, 3, 5, 2 }) {
			tasks.schedule("due in " + i, i);
		}
		tasks.advanceSeconds(1);
		Runnable first = tasks.queue.remove();
		Runnable second = tasks.queue.remove();
		assertThat(tasks.queue).isEmpty();
		assertThat(tasks.waiting()).isEqualTo(3);
		assertThat(tasks.registry.pendingCount()).isEqualTo(5);
		second.run();
		tasks.turn();
		assertThat(tasks.queue).hasSize(1);
		first.run();
		tasks.turn();
		assertThat(tasks.queue).hasSize(2);
		while (!tasks.queue.isEmpty()) {
			tasks.runNext();
		}
		assertThat(tasks.ran).containsExactly("due in 2", "due in 1", "due in 3", "due in 4", "due in 5");
		assertThat(tasks.waiting()).isZero();
		assertThat(tasks.registry.pendingCount()).isZero();
	}

	/** It waits for the end of a pause, or in the queue of its executor. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aTaskThatWaitsIsPendingInEveryRespect(boolean paused) {
		VirtualTasks tasks = new VirtualTasks(paused ? PAUSED : PolicySettings.NONE);
		tasks.holdBack = !paused;
		DelayedTask<?> cancelled = tasks.schedule("cancelled", 1);
		DelayedTask<?> replaced = tasks.schedule("replaced", 2);
		DelayedTask<?> moved = tasks.schedule("moved", 3);
		DelayedTask<?> found = tasks.schedule("found", 4);
		tasks.advanceSeconds(1);
		assertThat(tasks.waiting()).isEqualTo(paused ? 4 : 0);
		assertThat(found.status()).isEqualTo(Status.SCHEDULED);
		assertThat(tasks.template.find(id("found"))).containsSame(found);
		assertThat(new MemoryTaskReader(tasks.registry).page(NAME, null, 9)).hasSize(4);
		assertThat(tasks.template.cancel(id("cancelled"))).isTrue();
		assertThat(cancelled.isCancelled()).isTrue();
		DelayedTask<?> newer = tasks.schedule("replaced", 0);
		assertThat(replaced.status()).isEqualTo(Status.REPLACED);
		assertThat(moved.reschedule(Duration.ofSeconds(10))).isTrue();
		assertThat(tasks.waiting()).isEqualTo(paused ? 1 : 0);
		assertThat(tasks.registry.pendingCount()).isEqualTo(3);
		tasks.advanceSeconds(1);
		tasks.setPaused(false);
		tasks.runQueue();
		assertThat(tasks.ran).containsExactly("found", "replaced");
		assertThat(newer.status()).isEqualTo(Status.SUCCEEDED);
		assertThat(moved.status()).isEqualTo(Status.SCHEDULED);
		tasks.advanceSeconds(10);
		assertThat(tasks.ran).containsExactly("found", "replaced", "moved");
	}

	@Test
	void aPauseAtRunTimeHoldsBackWhatHasNotBegunAndNoOtherName() {
		VirtualTasks tasks = new VirtualTasks();
		tasks.holdBack = true;
		tasks.schedule("handed over before", 1);
		tasks.advanceSeconds(1);
		tasks.setPaused(true);
		tasks.runQueue();
		tasks.schedule("due in the pause", 1);
		tasks.template.schedule(Duration.ofMillis(1), () -> tasks.ran.add("other"));
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).containsExactly("other");
		assertThat(tasks.registry.isPaused(NAME)).isTrue();
		assertThat(tasks.waiting()).isEqualTo(2);
		tasks.registry.setPaused(NAME, false);
		assertThat(tasks.ran).as("nothing runs on the thread that resumes").hasSize(1);
		tasks.turn();
		assertThat(tasks.ran).containsExactly("other", "handed over before", "due in the pause");
		assertThat(tasks.registry.isPaused(NAME)).isFalse();
		assertThat(tasks.registry.setPaused("never heard of", true)).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "true, 0", "false, 2" })
	void manyTasksThatWaitHaveNoTimersAndWakeNobody(boolean paused, int running) {
		int count = 100_000;
		ManualTimeSource time = new ManualTimeSource();
		try (RealTasks tasks = new RealTasks(2, Map.of(NAME, paused ? PAUSED : TWO_AT_ONCE),
				(builder) -> builder.timeSource(time))) {
			AtomicInteger runs = new AtomicInteger();
			CountDownLatch end = new CountDownLatch(1);
			for (int i = 0; i < count; i++) {
				tasks.template.task(() -> {
					runs.incrementAndGet();
					end.await();
					return null;
				}).name(NAME).after(Duration.ZERO);
			}
			time.advance(Duration.ofMillis(1));
			await().until(() -> runs.get() == running && tasks.registry.waiting(NAME) == count - running);
			assertThat(tasks.registry.pendingCount()).isEqualTo(count - running);
			assertThat(tasks.wheel.pending()).isZero();
			WheelSnapshot before = tasks.wheel.snapshot();
			long handedOver = ((ThreadPoolExecutor) tasks.pool).getTaskCount();
			time.advance(Duration.ofHours(1));
			assertThat(tasks.wheel.snapshot().scheduled()).isEqualTo(before.scheduled());
			assertThat(tasks.wheel.snapshot().fired()).isEqualTo(before.fired());
			assertThat(((ThreadPoolExecutor) tasks.pool).getTaskCount()).isEqualTo(handedOver);
			end.countDown();
		}
	}

	@Test
	void tasksThatWaitForARateHaveOneTimerTogether() {
		VirtualTasks tasks = new VirtualTasks(limits(null, null, "1/m"));
		for (int i = 0; i < 1000; i++) {
			tasks.schedule("" + i, 0);
		}
		tasks.advanceSeconds(1);
		long scheduled = tasks.wheel.snapshot().scheduled();
		assertThat(tasks.wheel.pending()).isOne();
		tasks.advance(Duration.ofMinutes(10));
		assertThat(tasks.ran).hasSize(11);
		assertThat(tasks.wheel.snapshot().scheduled() - scheduled).as("a wake-up and a start for each task")
			.isEqualTo(20);
	}

	@ParameterizedTest
	@ValueSource(strings = { "100/s", "1000/s", "7/s", "600/m" })
	void theStartsFollowTheRate(String rate) {
		VirtualTasks tasks = new VirtualTasks(limits(null, null, rate));
		StartRate expected = StartRate.parse(rate);
		double perSecond = expected.count() / (double) expected.unit().toSeconds(1);
		List<Long> starts = new ArrayList<>();
		for (int i = 0; i < 20 * perSecond; i++) {
			tasks.template.task(() -> starts.add(tasks.time.nanoTime())).name(NAME).after(Duration.ofMillis(5));
		}
		for (int i = 0; i < 10_000; i++) {
			tasks.advance(Duration.ofMillis(1));
		}
		assertThat(starts.size() / 10.0).isBetween(0.95 * perSecond, 1.02 * perSecond + 1);
		for (int i = 0; i < starts.size(); i++) {
			long end = starts.get(i) + 1_000_000_000;
			assertThat(starts.subList(i, starts.size()).stream().filter((start) -> start < end).count())
				.isLessThanOrEqualTo((long) Math.max(Math.ceil(perSecond), 1.1 * perSecond));
		}
		assertThat(starts.stream().filter((start) -> start.equals(starts.get(0))).count()).isEqualTo(expected.burst());
	}

	@Test
	void aSlowExecutorGathersNoStarts() {
		VirtualTasks tasks = new VirtualTasks(limits(null, null, "20/s"));
		tasks.holdBack = true;
		for (int i = 0; i < 100; i++) {
			tasks.schedule("" + i, 5);
		}
		tasks.advanceSeconds(3);
		tasks.runQueue();
		assertThat(tasks.ran).hasSizeLessThanOrEqualTo(2);
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).hasSizeBetween(20, 22);
	}

	@Test
	void theRunsOfAKeyFollowOneAnotherAndHoldUpNoOtherKey() {
		VirtualTasks tasks = new VirtualTasks(ONE_PER_KEY);
		tasks.holdBack = true;
		tasks.template.schedule(id("a"), Duration.ofMillis(1), () -> {
			tasks.holdBack = false;
			tasks.schedule("a", 1);
			tasks.schedule("b", 2);
			tasks.advance(Duration.ofMillis(2));
			tasks.ran.add("end of the first a");
		});
		tasks.advance(Duration.ofMillis(1));
		tasks.runNext();
		assertThat(tasks.ran).containsExactly("b", "end of the first a", "a");
	}

	private static List<String> numbers(int end) {
		return IntStream.range(0, end).mapToObj(Integer::toString).toList();
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
		// Three refusals for each of the retries after 5, 10, 20 ms and so on.
		assertThat(tasks.refusals).isBetween(8, 30);
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
		VirtualTasks tasks = new VirtualTasks(paused(ONE_AT_ONCE), new HandOverExecutors(true),
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
