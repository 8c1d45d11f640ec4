package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import io.timingwheel.spring.task.internal.TaskCounts;
import org.jspecify.annotations.Nullable;
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

/**
 * What policies do to tasks in memory.
 */
class TaskPolicyTests {

	private static final PolicySettings TWO_AT_ONCE = limits(2, null, null);

	private static final PolicySettings ONE_PER_KEY = limits(null, 1, null);

	private static final PolicySettings PAUSED = paused(PolicySettings.NONE);

	private static final PolicySettings THREE_ATTEMPTS = new PolicySettings(3,
			new BackoffSettings(Duration.ofSeconds(1), 10.0, Duration.ofSeconds(5), null), null, null, null, null);

	// Limits and pauses

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

	@Test
	void aTaskThatWaitsIsPendingInEveryRespect() {
		VirtualTasks tasks = new VirtualTasks(PAUSED);
		DelayedTask<?> cancelled = tasks.schedule("cancelled", 1);
		DelayedTask<?> replaced = tasks.schedule("replaced", 2);
		DelayedTask<?> moved = tasks.schedule("moved", 3);
		DelayedTask<?> found = tasks.schedule("found", 4);
		tasks.advanceSeconds(1);
		assertThat(tasks.waiting()).isEqualTo(4);
		assertThat(found.status()).isEqualTo(Status.SCHEDULED);
		assertThat(tasks.template.find(id("found"))).containsSame(found);
		assertThat(tasks.registry.memoryTasks().page(NAME, null, 9)).hasSize(4);
		assertThat(tasks.template.cancel(id("cancelled"))).isTrue();
		assertThat(cancelled.isCancelled()).isTrue();
		DelayedTask<?> newer = tasks.schedule("replaced", 0);
		assertThat(replaced.status()).isEqualTo(Status.REPLACED);
		assertThat(moved.reschedule(Duration.ofSeconds(10))).isTrue();
		assertThat(tasks.waiting()).isOne();
		tasks.advanceSeconds(1);
		tasks.setPaused(false);
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

	@Test
	void aTaskThatIsReplacedInTheQueueOfItsExecutorLeavesItsPermitToTheNewerOne() {
		VirtualTasks tasks = new VirtualTasks(ONE_PER_KEY);
		tasks.holdBack = true;
		tasks.schedule("a", 1);
		tasks.advance(Duration.ofMillis(1));
		tasks.template.schedule(id("a"), Duration.ofMillis(1), () -> tasks.ran.add("newer a"));
		tasks.advance(Duration.ofMillis(1));
		assertThat(tasks.queue).hasSize(2);
		tasks.runQueue();
		assertThat(tasks.ran).containsExactly("newer a");
	}

	// Attempts

	private static DelayedTask<?> failing(VirtualTasks tasks, String key) {
		return tasks.template.schedule(id(key), Duration.ofSeconds(1), () -> {
			tasks.ran.add(key + " " + DelayedTaskContext.current().orElseThrow().attempt());
			throw new IllegalStateException(key);
		});
	}

	@Test
	void aTaskThatFailsIsTriedAgainAfterTheBackoffAndItsFutureGetsTheLastFailure() {
		VirtualTasks tasks = new VirtualTasks(THREE_ATTEMPTS);
		List<String> attempts = new ArrayList<>();
		DelayedTask<?> task = tasks.template.schedule(id(1), Duration.ofSeconds(1), () -> {
			int attempt = DelayedTaskContext.current().orElseThrow().attempt();
			attempts.add(tasks.time.nanoTime() / 1_000_000_000 + " s: " + attempt);
			throw new IllegalStateException("attempt " + attempt);
		});
		String id = task.id();
		tasks.advanceSeconds(1);
		assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		assertThat(tasks.registry.pendingCount()).isOne();
		assertThat(tasks.registry.runningCount()).isZero();
		assertThat(tasks.template.find(id(1))).containsSame(task);
		tasks.advanceSeconds(6);
		assertThat(attempts).containsExactly("1 s: 1", "2 s: 2", "7 s: 3");
		assertThat(task.id()).isEqualTo(id);
		assertThat(task.completion()).failsWithin(Duration.ZERO).withThrowableThat().withMessageContaining("attempt 3");
		assertThat(tasks.uncaught).hasSize(1);
		assertThat(tasks.registry.counts(NAME)).isEqualTo(new TaskCounts(0, 0, 0, 1, 0, 0, 0, 0));
	}

	@Test
	void aTaskCanBeCancelledMovedAndReplacedBetweenItsAttempts() {
		VirtualTasks tasks = new VirtualTasks(THREE_ATTEMPTS);
		DelayedTask<?> cancelled = failing(tasks, "cancelled");
		DelayedTask<?> replaced = failing(tasks, "replaced");
		DelayedTask<?> moved = failing(tasks, "moved");
		tasks.advanceSeconds(1);
		assertThat(cancelled.cancel(false)).isTrue();
		tasks.schedule("replaced", 100);
		assertThat(moved.reschedule(Duration.ofMillis(100))).isTrue();
		tasks.advance(Duration.ofMillis(100));
		assertThat(cancelled.status()).isEqualTo(Status.CANCELLED);
		assertThat(replaced.status()).isEqualTo(Status.REPLACED);
		assertThat(tasks.ran).containsExactly("cancelled 1", "replaced 1", "moved 1", "replaced", "moved 2");
	}

	@Test
	void anAttemptGivesWayToANewerTaskWithItsKey() {
		VirtualTasks tasks = new VirtualTasks(THREE_ATTEMPTS);
		DelayedTask<?> task = tasks.template.schedule(id(1), Duration.ofSeconds(1), () -> {
			tasks.template.task(() -> tasks.ran.add("newer"))
				.id(id(1))
				.ifPending(IfPending.REJECT)
				.after(Duration.ZERO);
			throw new IllegalStateException("first");
		});
		tasks.advanceSeconds(20);
		assertThat(task.status()).isEqualTo(Status.FAILED);
		assertThat(tasks.ran).containsExactly("newer");
		assertThat(tasks.registry.counts(NAME).superseded()).isOne();
	}

	@Test
	void aFailureIsFinalIfTheWheelHasNoRoomForTheNextAttempt() {
		VirtualTasks tasks = VirtualTasks.withMaxPending(1);
		tasks.registry.declare(NAME, THREE_ATTEMPTS);
		tasks.holdBack = true;
		DelayedTask<?> task = failing(tasks, "full");
		tasks.advanceSeconds(1);
		tasks.schedule("other", 100_000);
		tasks.runQueue();
		tasks.advanceSeconds(20);
		assertThat(tasks.ran).containsExactly("full 1");
		assertThat(task.status()).isEqualTo(Status.FAILED);
		assertThat(tasks.registry.counts(NAME)).isEqualTo(new TaskCounts(1, 0, 0, 1, 0, 0, 0, 0));
	}

	@Test
	void aTaskThatIsCancelledByItsBodyIsNotTriedAgain() {
		VirtualTasks tasks = new VirtualTasks(THREE_ATTEMPTS);
		DelayedTask<?> task = tasks.template.schedule(id(1), Duration.ofSeconds(1), () -> {
			tasks.ran.add("a");
			throw new CancellationException();
		});
		tasks.advanceSeconds(20);
		assertThat(tasks.ran).hasSize(1);
		assertThat(task.isDone()).isTrue();
	}

	@Test
	void theShutdownEndsATaskThatFailsDuringItWithItsFailure() {
		VirtualTasks tasks = new VirtualTasks(THREE_ATTEMPTS);
		DelayedTask<?> task = tasks.template.schedule(id(1), Duration.ofSeconds(1), () -> {
			tasks.registry.atShutdown().stopAccepting();
			tasks.registry.atShutdown().cancelPending();
			throw new IllegalStateException("last");
		});
		tasks.advanceSeconds(20);
		assertThat(task.completion()).failsWithin(Duration.ZERO).withThrowableThat().withMessageContaining("last");
	}

	@Test
	void aRunOfAScheduleIsTriedAgainAndLeavesItsPermitToOthersUntilThen() {
		VirtualTasks tasks = new VirtualTasks(THREE_ATTEMPTS.overriddenBy(limits(1, null, null)));
		recur(tasks, () -> {
			throw new IllegalStateException("failed");
		});
		tasks.schedule("other", 1000);
		tasks.holdBack = true;
		tasks.advanceSeconds(1);
		assertThat(tasks.queue).hasSize(1);
		tasks.runQueue();
		assertThat(tasks.ran).containsExactly("attempt 1", "other");
		assertThat(tasks.registry.runningCount()).isZero();
		tasks.advanceSeconds(20);
		assertThat(tasks.ran).containsExactly("attempt 1", "other", "attempt 2", "attempt 3", "handled", "attempt 1");
		assertThat(tasks.registry.counts(NAME)).isEqualTo(new TaskCounts(1, 0, 1, 1, 0, 0, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theShutdownCancelsAScheduleWhoseNextAttemptOrRunComesTooLate(boolean fails) {
		VirtualTasks tasks = new VirtualTasks(THREE_ATTEMPTS);
		recur(tasks, () -> {
			tasks.registry.atShutdown().stopAccepting();
			tasks.registry.atShutdown().setLastDue(tasks.time.nanoTime());
			if (fails) {
				throw new IllegalStateException("failed");
			}
		});
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).isEqualTo(fails ? List.of("attempt 1", "handled") : List.of("attempt 1"));
		assertThat(tasks.wheel.pending()).isZero();
		assertThat(tasks.registry.counts(NAME))
			.isEqualTo(new TaskCounts(0, 0, fails ? 0 : 1, fails ? 1 : 0, 1, 0, 0, 0));
	}

	/**
	 * Starts a schedule with a run after 1 s and every 20 s from then on.
	 */
	private static void recur(VirtualTasks tasks, Runnable body) {
		TaskDefinition<String> definition = new TaskDefinition<>(tasks.registry, NAME, () -> tasks.executor, null) {

			@Override
			protected @Nullable Object run(String payload) {
				tasks.ran.add("attempt " + DelayedTaskContext.current().orElseThrow().attempt());
				body.run();
				return null;
			}

			@Override
			protected void handleError(Throwable error, String payload) {
				tasks.ran.add("handled");
			}

		};
		TaskSubmission.recur(definition, "schedule", "payload", Schedule.every(Duration.ofSeconds(20)), Missed.ONCE,
				Duration.ofSeconds(1));
	}

}
