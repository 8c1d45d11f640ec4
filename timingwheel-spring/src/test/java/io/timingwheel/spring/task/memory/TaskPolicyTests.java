package io.timingwheel.spring.task.memory;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What policies do to tasks in memory.
 */
class TaskPolicyTests {

	private static final PolicySettings TWO_AT_ONCE = limits(2, null, null);

	private static final PolicySettings ONE_PER_KEY = limits(null, 1, null);

	private static final PolicySettings PAUSED = new PolicySettings(null, BackoffSettings.NONE, null, null, null, true);

	private static final PolicySettings THREE_ATTEMPTS = new PolicySettings(3,
			new BackoffSettings(Duration.ofSeconds(1), 10.0, Duration.ofSeconds(5), null), null, null, null, null);

	private final List<String> ran = new ArrayList<>();

	private static PolicySettings limits(@Nullable Integer maxConcurrent, @Nullable Integer maxConcurrentPerKey,
			@Nullable String rate) {
		return new PolicySettings(null, BackoffSettings.NONE, maxConcurrent, maxConcurrentPerKey,
				(rate != null) ? StartRate.parse(rate) : null, null);
	}

	private static VirtualTasks tasks(PolicySettings policy) {
		return new VirtualTasks(Map.of("limited", policy));
	}

	private DelayedTask<?> schedule(VirtualTasks tasks, String key, long millis) {
		return tasks.template.schedule(TaskId.of("limited", key), Duration.ofMillis(millis), () -> this.ran.add(key));
	}

	@Test
	void noMoreBodiesThanAllowedStartAndTheOthersFollowInTheOrderOfTheirDueTimes() {
		VirtualTasks tasks = tasks(TWO_AT_ONCE);
		tasks.holdBack = true;
		for (int i : new int[] { 4, 1, 3, 5, 2 }) {
			schedule(tasks, "due in " + i, i);
		}
		tasks.advanceSeconds(1);
		Runnable first = tasks.queue.remove();
		Runnable second = tasks.queue.remove();
		assertThat(tasks.queue).isEmpty();
		assertThat(tasks.registry.waiting("limited")).isEqualTo(3);
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
		assertThat(this.ran).containsExactly("due in 2", "due in 1", "due in 3", "due in 4", "due in 5");
		assertThat(tasks.registry.waiting("limited")).isZero();
		assertThat(tasks.registry.pendingCount()).isZero();
	}

	@Test
	void aTaskThatWaitsIsPendingInEveryRespect() {
		VirtualTasks tasks = tasks(PAUSED);
		DelayedTask<?> cancelled = schedule(tasks, "cancelled", 1);
		DelayedTask<?> replaced = schedule(tasks, "replaced", 2);
		DelayedTask<?> moved = schedule(tasks, "moved", 3);
		DelayedTask<?> found = schedule(tasks, "found", 4);
		tasks.advanceSeconds(1);
		assertThat(tasks.registry.waiting("limited")).isEqualTo(4);
		assertThat(found.status()).isEqualTo(Status.SCHEDULED);
		assertThat(tasks.template.find(TaskId.of("limited", "found"))).containsSame(found);
		assertThat(tasks.registry.memoryTasks().page("limited", null, 9)).hasSize(4);
		assertThat(tasks.template.cancel(TaskId.of("limited", "cancelled"))).isTrue();
		assertThat(cancelled.isCancelled()).isTrue();
		DelayedTask<?> newer = schedule(tasks, "replaced", 0);
		assertThat(replaced.status()).isEqualTo(Status.REPLACED);
		assertThat(moved.reschedule(Duration.ofSeconds(10))).isTrue();
		assertThat(tasks.registry.waiting("limited")).isOne();
		tasks.advanceSeconds(1);
		assertThat(tasks.setPaused("limited", false)).isTrue();
		assertThat(this.ran).containsExactly("found", "replaced");
		assertThat(newer.status()).isEqualTo(Status.SUCCEEDED);
		assertThat(moved.status()).isEqualTo(Status.SCHEDULED);
		tasks.advanceSeconds(10);
		assertThat(this.ran).containsExactly("found", "replaced", "moved");
	}

	@Test
	void aPauseAtRunTimeHoldsBackWhatHasNotBegunAndNoOtherName() {
		VirtualTasks tasks = new VirtualTasks();
		tasks.holdBack = true;
		schedule(tasks, "handed over before", 1);
		tasks.advanceSeconds(1);
		tasks.setPaused("limited", true);
		tasks.runQueue();
		schedule(tasks, "due in the pause", 1);
		tasks.template.schedule(TaskId.of("other", 1), Duration.ofMillis(1), () -> this.ran.add("other"));
		tasks.advanceSeconds(1);
		assertThat(this.ran).containsExactly("other");
		assertThat(tasks.registry.isPaused("limited")).isTrue();
		assertThat(tasks.registry.waiting("limited")).isEqualTo(2);
		tasks.setPaused("limited", false);
		assertThat(this.ran).containsExactly("other", "handed over before", "due in the pause");
		assertThat(tasks.registry.isPaused("limited")).isFalse();
		assertThat(tasks.setPaused("never heard of", true)).isFalse();
	}

	@Test
	void manyTasksOfAPausedNameHaveNoTimersAndWakeNobody() throws Exception {
		assertWaitWithoutWork(PAUSED, 100_000, 0);
	}

	@Test
	void manyTasksThatWaitForTwoBodiesHaveNoTimersAndWakeNobody() throws Exception {
		assertWaitWithoutWork(TWO_AT_ONCE, 100_000, 2);
	}

	@Test
	@Tag("faults")
	void aMillionTasksThatWaitForTwoBodiesHaveNoTimersAndWakeNobody() throws Exception {
		assertWaitWithoutWork(TWO_AT_ONCE, 1_000_000, 2);
	}

	/**
	 * Counts what the wheel and the executor get to do while tasks wait.
	 */
	private static void assertWaitWithoutWork(PolicySettings policy, int count, int running) throws Exception {
		ManualTimeSource time = new ManualTimeSource();
		ThreadPoolExecutor pool = pool(2);
		TimingWheel wheel = TimingWheel.builder(pool).timeSource(time).build();
		DelayedTaskRegistry registry = new DelayedTaskRegistry(wheel, new TaskClock(time, Clock.systemUTC()),
				new HandOverExecutors(), null, null, TaskPolicies.none());
		registry.declare("limited", policy);
		DelayedTaskOperations template = new DefaultDelayedTaskTemplate(registry, VirtualTasks.executors(pool),
				new SimpleAsyncUncaughtExceptionHandler(), null);
		AtomicInteger runs = new AtomicInteger();
		CountDownLatch end = new CountDownLatch(1);
		for (int i = 0; i < count; i++) {
			template.task(() -> {
				runs.incrementAndGet();
				end.await();
				return null;
			}).name("limited").after(Duration.ofMillis(1 + i % 100));
		}
		time.advance(Duration.ofSeconds(1));
		await().until(() -> runs.get() == running && registry.waiting("limited") == count - running);
		assertThat(registry.pendingCount()).isEqualTo(count - running);
		assertThat(wheel.pending()).isZero();
		WheelSnapshot before = wheel.snapshot();
		long handedOver = pool.getTaskCount();
		time.advance(Duration.ofHours(1));
		assertThat(wheel.snapshot().scheduled()).isEqualTo(before.scheduled());
		assertThat(wheel.snapshot().fired()).isEqualTo(before.fired());
		assertThat(pool.getTaskCount()).isEqualTo(handedOver);
		registry.declare("limited", PolicySettings.NONE);
		registry.setPaused("limited", false);
		end.countDown();
		await().until(() -> {
			time.advance(Duration.ZERO);
			return runs.get() == count;
		});
		await().until(() -> registry.runningCount() == 0);
		assertThat(registry.pendingCount()).isZero();
		wheel.close();
		pool.shutdownNow();
	}

	private static ThreadPoolExecutor pool(int threads) {
		return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
	}

	@Test
	void tasksThatWaitForARateHaveOneTimerTogether() {
		VirtualTasks tasks = tasks(limits(null, null, "1/m"));
		for (int i = 0; i < 1000; i++) {
			tasks.template.task(() -> this.ran.add("")).name("limited").after(Duration.ZERO);
		}
		tasks.advanceSeconds(1);
		long scheduled = tasks.wheel.snapshot().scheduled();
		assertThat(tasks.wheel.pending()).isOne();
		tasks.advance(Duration.ofMinutes(10));
		assertThat(this.ran).hasSize(11);
		assertThat(tasks.wheel.snapshot().scheduled() - scheduled).as("a wake-up and a start for each task")
			.isEqualTo(20);
	}

	@ParameterizedTest
	@ValueSource(strings = { "100/s", "1000/s", "7/s", "600/m" })
	void theStartsFollowTheRate(String rate) {
		VirtualTasks tasks = tasks(limits(null, null, rate));
		StartRate expected = StartRate.parse(rate);
		double perSecond = expected.count() / (double) expected.unit().toSeconds(1);
		List<Long> starts = new ArrayList<>();
		for (int i = 0; i < 20 * perSecond; i++) {
			tasks.template.task(() -> starts.add(tasks.time.nanoTime())).name("limited").after(Duration.ofMillis(5));
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
		VirtualTasks tasks = tasks(limits(null, null, "20/s"));
		tasks.holdBack = true;
		AtomicInteger starts = new AtomicInteger();
		for (int i = 0; i < 100; i++) {
			tasks.template.task(starts::incrementAndGet).name("limited").after(Duration.ofMillis(5));
		}
		tasks.advanceSeconds(3);
		tasks.runQueue();
		assertThat(starts).hasValueLessThanOrEqualTo(2);
		tasks.advanceSeconds(1);
		assertThat(starts).hasValueBetween(20, 22);
	}

	@Test
	void theRunsOfAKeyFollowOneAnotherAndHoldUpNoOtherKey() {
		VirtualTasks tasks = tasks(ONE_PER_KEY);
		tasks.holdBack = true;
		tasks.template.schedule(TaskId.of("limited", "a"), Duration.ofMillis(1), () -> {
			tasks.holdBack = false;
			schedule(tasks, "a", 1);
			schedule(tasks, "b", 2);
			tasks.advance(Duration.ofMillis(2));
			this.ran.add("end of the first a");
		});
		tasks.advance(Duration.ofMillis(1));
		tasks.runNext();
		assertThat(this.ran).containsExactly("b", "end of the first a", "a");
	}

	@Test
	void aTaskThatIsReplacedInTheQueueOfItsExecutorLeavesItsPermitToTheNewerOne() {
		VirtualTasks tasks = tasks(ONE_PER_KEY);
		tasks.holdBack = true;
		schedule(tasks, "a", 1);
		tasks.advance(Duration.ofMillis(1));
		tasks.template.schedule(TaskId.of("limited", "a"), Duration.ofMillis(1), () -> this.ran.add("newer a"));
		tasks.advance(Duration.ofMillis(1));
		assertThat(tasks.queue).hasSize(2);
		tasks.runQueue();
		assertThat(this.ran).containsExactly("newer a");
	}

	@Test
	void aShutdownThatRunsTasksRunsThoseThatWaitAndCancelsThoseOfAPausedName() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(4);
		TimingWheel wheel = TimingWheel.builder(pool).build();
		DelayedTaskRegistry registry = new DelayedTaskRegistry(wheel,
				new TaskClock(TimeSource.system(), Clock.systemUTC()), new HandOverExecutors(), null, null,
				VirtualTasks.policies(Map.of("limited", limits(1, null, null), "paused", PAUSED)));
		DelayedTaskOperations template = new DefaultDelayedTaskTemplate(registry, VirtualTasks.executors(pool),
				new SimpleAsyncUncaughtExceptionHandler(), null);
		CountDownLatch firstRuns = new CountDownLatch(1);
		CountDownLatch go = new CountDownLatch(1);
		AtomicInteger runs = new AtomicInteger();
		for (int i = 0; i < 20; i++) {
			template.task(() -> {
				firstRuns.countDown();
				await().until(() -> go.getCount() == 0);
				runs.incrementAndGet();
			}).name("limited").after(Duration.ZERO);
		}
		DelayedTask<?> paused = template.schedule(TaskId.of("paused", 1), Duration.ZERO, runs::incrementAndGet);
		firstRuns.await();
		await().until(() -> registry.waiting("limited") == 19 && registry.waiting("paused") == 1);
		go.countDown();
		assertThat(registry.atShutdown().runDue(Duration.ofSeconds(30))).isTrue();
		assertThat(runs).hasValue(20);
		assertThat(paused.isCancelled()).isTrue();
		wheel.close();
		pool.shutdownNow();
	}

	@Test
	void limitsHoldWhileManyThreadsScheduleAndCancel() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(6);
		TimingWheel wheel = TimingWheel.builder(pool).build();
		DelayedTaskRegistry registry = new DelayedTaskRegistry(wheel,
				new TaskClock(TimeSource.system(), Clock.systemUTC()), new HandOverExecutors(), null, null,
				VirtualTasks.policies(Map.of("limited", limits(3, 1, null))));
		DelayedTaskOperations template = new DefaultDelayedTaskTemplate(registry, VirtualTasks.executors(pool),
				new SimpleAsyncUncaughtExceptionHandler(), null);
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicIntegerArray byKey = new AtomicIntegerArray(8);
		AtomicInteger overlaps = new AtomicInteger();
		List<DelayedTask<?>> all = new ArrayList<>();
		SplittableRandom random = new SplittableRandom(1);
		for (int i = 0; i < 3000; i++) {
			int key = random.nextInt(8);
			all.add(template.task(() -> {
				most.accumulateAndGet(running.incrementAndGet(), Math::max);
				overlaps.addAndGet((byKey.incrementAndGet(key) > 1) ? 1 : 0);
				LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(200_000));
				byKey.decrementAndGet(key);
				running.decrementAndGet();
			}).id(TaskId.of("limited", key)).after(Duration.ofNanos(random.nextInt(1_000_000))));
			if (random.nextInt(4) == 0) {
				template.cancel(TaskId.of("limited", random.nextInt(8)));
			}
			LockSupport.parkNanos(20_000);
		}
		await().until(() -> all.stream().allMatch(DelayedTask::isDone) && registry.runningCount() == 0);
		assertThat(most).hasValueBetween(2, 3);
		assertThat(overlaps).hasValue(0);
		assertThat(registry.waiting("limited")).isZero();
		wheel.close();
		pool.shutdownNow();
	}

	@Test
	void aTaskThatFailsIsTriedAgainAfterTheBackoffAndItsFutureGetsTheLastFailure() {
		VirtualTasks tasks = tasks(THREE_ATTEMPTS);
		List<String> attempts = new ArrayList<>();
		DelayedTask<?> task = tasks.template.schedule(TaskId.of("limited", 1), Duration.ofSeconds(1), () -> {
			DelayedTaskContext context = DelayedTaskContext.current().orElseThrow();
			attempts.add(tasks.time.nanoTime() / 1_000_000_000 + " s: " + context.attempt());
			throw new IllegalStateException("attempt " + context.attempt());
		});
		String id = task.id();
		tasks.advanceSeconds(1);
		assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		assertThat(tasks.registry.pendingCount()).isOne();
		assertThat(tasks.registry.runningCount()).isZero();
		assertThat(tasks.template.find(TaskId.of("limited", 1))).containsSame(task);
		tasks.advanceSeconds(6);
		assertThat(attempts).containsExactly("1 s: 1", "2 s: 2", "7 s: 3");
		assertThat(task.id()).isEqualTo(id);
		assertThat(task.completion()).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withMessageContaining("attempt 3");
		assertThat(tasks.uncaught).hasSize(1);
		assertThat(tasks.registry.counts("limited")).isEqualTo(new TaskCounts(0, 0, 0, 1, 0, 0, 0, 0));
	}

	@Test
	void aTaskCanBeCancelledMovedAndReplacedBetweenItsAttempts() {
		VirtualTasks tasks = tasks(THREE_ATTEMPTS);
		DelayedTask<?> cancelled = failing(tasks, "cancelled");
		DelayedTask<?> replaced = failing(tasks, "replaced");
		DelayedTask<?> moved = failing(tasks, "moved");
		tasks.advanceSeconds(1);
		assertThat(cancelled.cancel(false)).isTrue();
		schedule(tasks, "replaced", 100);
		assertThat(moved.reschedule(Duration.ofMillis(100))).isTrue();
		tasks.advance(Duration.ofMillis(100));
		assertThat(cancelled.status()).isEqualTo(Status.CANCELLED);
		assertThat(replaced.status()).isEqualTo(Status.REPLACED);
		assertThat(this.ran).containsExactly("cancelled 1", "replaced 1", "moved 1", "replaced", "moved 2");
	}

	@Test
	void anAttemptGivesWayToANewerTaskWithItsKey() {
		VirtualTasks tasks = tasks(THREE_ATTEMPTS);
		AtomicReference<@Nullable DelayedTask<?>> newer = new AtomicReference<>();
		DelayedTask<?> task = tasks.template.schedule(TaskId.of("limited", 1), Duration.ofSeconds(1), () -> {
			newer.set(tasks.template.task(() -> this.ran.add("newer"))
				.id(TaskId.of("limited", 1))
				.ifPending(IfPending.REJECT)
				.after(Duration.ZERO));
			throw new IllegalStateException("first");
		});
		tasks.advanceSeconds(20);
		assertThat(task.status()).isEqualTo(Status.FAILED);
		assertThat(this.ran).containsExactly("newer");
		assertThat(tasks.registry.counts("limited").superseded()).isOne();
	}

	@Test
	void aFailureIsFinalIfTheWheelHasNoRoomForTheNextAttempt() {
		VirtualTasks tasks = new VirtualTasks((builder) -> builder.maxPending(1), null, null);
		tasks.registry.declare("limited", THREE_ATTEMPTS);
		tasks.holdBack = true;
		DelayedTask<?> task = failing(tasks, "full");
		tasks.advanceSeconds(1);
		tasks.template.schedule(Duration.ofDays(1), () -> {
		});
		tasks.runQueue();
		tasks.advanceSeconds(20);
		assertThat(this.ran).containsExactly("full 1");
		assertThat(task.status()).isEqualTo(Status.FAILED);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get).withMessageContaining("full");
		assertThat(tasks.registry.counts("limited")).isEqualTo(new TaskCounts(0, 0, 0, 1, 0, 0, 0, 0));
	}

	@Test
	void aTaskThatIsCancelledByItsBodyIsNotTriedAgain() {
		VirtualTasks tasks = tasks(THREE_ATTEMPTS);
		DelayedTask<?> task = tasks.template.schedule(TaskId.of("limited", 1), Duration.ofSeconds(1), () -> {
			this.ran.add("a");
			throw new CancellationException();
		});
		tasks.advanceSeconds(20);
		assertThat(this.ran).hasSize(1);
		assertThat(task.isDone()).isTrue();
	}

	@Test
	void theShutdownEndsATaskThatFailsDuringItWithItsFailure() throws Exception {
		VirtualTasks tasks = tasks(THREE_ATTEMPTS);
		DelayedTask<?> task = tasks.template.schedule(TaskId.of("limited", 1), Duration.ofSeconds(1), () -> {
			tasks.registry.atShutdown().stopAccepting();
			tasks.registry.atShutdown().cancelPending();
			throw new IllegalStateException("last");
		});
		tasks.advanceSeconds(20);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get).withMessageContaining("last");
	}

	@Test
	void aRunOfAScheduleIsTriedAgainAndLeavesItsPermitToOthersUntilThen() {
		VirtualTasks tasks = tasks(new PolicySettings(3, THREE_ATTEMPTS.backoff(), 1, null, null, null));
		recur(tasks, () -> {
			throw new IllegalStateException("failed");
		});
		schedule(tasks, "other", 1000);
		tasks.holdBack = true;
		tasks.advanceSeconds(1);
		assertThat(tasks.queue).hasSize(1);
		tasks.runQueue();
		assertThat(this.ran).containsExactly("attempt 1", "other");
		assertThat(tasks.registry.runningCount()).isZero();
		tasks.advanceSeconds(20);
		assertThat(this.ran).containsExactly("attempt 1", "other", "attempt 2", "attempt 3", "handled", "attempt 1");
		assertThat(tasks.registry.counts("limited")).isEqualTo(new TaskCounts(1, 0, 1, 1, 0, 0, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theShutdownCancelsAScheduleWhoseNextAttemptOrRunComesTooLate(boolean fails) {
		VirtualTasks tasks = tasks(THREE_ATTEMPTS);
		recur(tasks, () -> {
			tasks.registry.atShutdown().stopAccepting();
			tasks.registry.tasksOf("limited").shutdown().setLastDue(tasks.time.nanoTime());
			if (fails) {
				throw new IllegalStateException("failed");
			}
		});
		tasks.advanceSeconds(1);
		assertThat(this.ran).isEqualTo(fails ? List.of("attempt 1", "handled") : List.of("attempt 1"));
		assertThat(tasks.wheel.pending()).isZero();
		assertThat(tasks.registry.counts("limited"))
			.isEqualTo(new TaskCounts(0, 0, fails ? 0 : 1, fails ? 1 : 0, 1, 0, 0, 0));
	}

	/**
	 * Starts a schedule with a run after 1 s and every 20 s from then on.
	 */
	private void recur(VirtualTasks tasks, Runnable body) {
		TaskDefinition<String> definition = new TaskDefinition<>(tasks.registry, "limited", () -> tasks.executor,
				null) {

			@Override
			protected @Nullable Object run(String payload) {
				TaskPolicyTests.this.ran.add("attempt " + DelayedTaskContext.current().orElseThrow().attempt());
				body.run();
				return null;
			}

			@Override
			protected void handleError(Throwable error, String payload) {
				TaskPolicyTests.this.ran.add("handled");
			}

		};
		TaskSubmission.recur(definition, "schedule", "payload", Schedule.every(Duration.ofSeconds(20)), Missed.ONCE,
				Duration.ofSeconds(1));
	}

	private DelayedTask<?> failing(VirtualTasks tasks, String key) {
		return tasks.template.schedule(TaskId.of("limited", key), Duration.ofSeconds(1), () -> {
			this.ran.add(key + " " + DelayedTaskContext.current().orElseThrow().attempt());
			throw new IllegalStateException(key);
		});
	}

}
