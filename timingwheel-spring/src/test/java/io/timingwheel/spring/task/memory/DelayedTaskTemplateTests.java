package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskSpec;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.core.task.support.TaskExecutorAdapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

class DelayedTaskTemplateTests {

	private static final TaskId ID = TaskId.of("close-order", 42);

	private static final Duration DELAY = Duration.ofSeconds(10);

	private final VirtualTasks tasks = new VirtualTasks();

	private final DelayedTaskOperations template = this.tasks.template;

	private final List<String> ran = new CopyOnWriteArrayList<>();

	@Test
	void runsOnceAfterTheDelay() {
		DelayedTask<?> task = this.template.schedule(DELAY, () -> this.ran.add("a"));
		assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		this.tasks.advance(DELAY.minusNanos(1));
		assertThat(this.ran).isEmpty();
		this.tasks.advance(Duration.ofMillis(2));
		assertThat(this.ran).containsExactly("a");
		assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
		this.tasks.advanceSeconds(100);
		assertThat(this.ran).containsExactly("a");
		assertThat(this.template.pendingCount()).isZero();
	}

	@Test
	void tellsTheHandlerOfAnExceptionThatNobodyCanSee() {
		IllegalStateException error = new IllegalStateException("no");
		Runnable failing = () -> {
			throw error;
		};
		this.template.schedule(DELAY, failing);
		this.tasks.advanceSeconds(11);
		assertThat(this.tasks.uncaught).containsOnlyKeys(error);
		Method method = this.tasks.uncaught.get(error);
		assertThat(method.getName()).isEqualTo("run");
		assertThat(method.getDeclaringClass()).isEqualTo(failing.getClass());
		assertThat(method.toString()).contains(DelayedTaskTemplateTests.class.getName());
	}

	@Test
	void tellsTheHandlerWhichTaskThrew() {
		List<@Nullable TaskId> ids = new ArrayList<>();
		VirtualTasks tasks = new VirtualTasks();
		DelayedTaskOperations template = new DefaultDelayedTaskTemplate(tasks.registry,
				VirtualTasks.executors(tasks.executor),
				(error, method, arguments) -> ids.add(DelayedTaskContext.current().orElseThrow().taskId()), null);
		template.schedule(ID, DELAY, () -> {
			throw new IllegalStateException("no");
		});
		tasks.advanceSeconds(11);
		assertThat(ids).containsExactly(ID);
		assertThat(DelayedTaskContext.current()).isEmpty();
	}

	@Test
	void tellsTheHandlerOfThePeriodicTaskThatEndsWithAnException() {
		IllegalStateException error = new IllegalStateException("no");
		this.template.task(() -> {
			throw error;
		}).every(DELAY);
		this.tasks.advanceSeconds(11);
		assertThat(this.tasks.uncaught).containsOnlyKeys(error);
	}

	@Test
	void doesNotTellTheHandlerOfAnExceptionThatAFutureShows() throws Exception {
		List<Throwable> seen = new CopyOnWriteArrayList<>();
		this.template.schedule(DELAY, DelayedTaskTemplateTests::fail)
			.completion()
			.whenComplete((result, error) -> seen.add(error));
		this.template.task(DelayedTaskTemplateTests::fail)
			.every(DELAY)
			.completion()
			.whenComplete((result, error) -> seen.add(error));
		DelayedTask<?> awaited = this.template.schedule(DELAY, DelayedTaskTemplateTests::fail);
		Thread waiter = new Thread(() -> {
			try {
				awaited.get();
			}
			catch (Exception ex) {
				seen.add(ex);
			}
		});
		waiter.start();
		await().until(() -> waiter.getState() == Thread.State.WAITING);
		List<DelayedTask<?>> given = new ArrayList<>();
		given.add(this.template.schedule(DELAY, () -> {
			given.get(0).cancel(false);
			fail();
		}));
		this.tasks.advanceSeconds(11);
		waiter.join();
		assertThat(seen).hasSize(3);
		assertThat(given.get(0).status()).isEqualTo(Status.CANCELLED);
		assertThat(this.tasks.uncaught).isEmpty();
	}

	@Test
	void failsOnceIfTheExecutorThrowsWhatIsNoRefusal() {
		SimpleAsyncTaskExecutor decorated = new SimpleAsyncTaskExecutor();
		AtomicInteger calls = new AtomicInteger();
		IllegalStateException error = new IllegalStateException("no context");
		decorated.setTaskDecorator((task) -> {
			calls.incrementAndGet();
			throw error;
		});
		List<Executor> executors = List.of(decorated, new TaskExecutorAdapter(decorated));
		for (Executor executor : executors) {
			DelayedTask<?> task = this.template.task(() -> this.ran.add("never"))
				.id(ID)
				.executor(executor)
				.after(DELAY);
			this.tasks.advanceSeconds(11);
			await().until(task::isDone);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get).withCause(error);
		}
		DelayedTask<?> periodic = this.template.task(() -> this.ran.add("never")).executor(decorated).every(DELAY);
		this.tasks.advanceSeconds(11);
		await().until(periodic::isDone);
		this.tasks.advanceSeconds(1000);
		assertThat(calls).hasValue(3);
		assertThat(this.ran).isEmpty();
		await().untilAsserted(() -> assertThat(this.tasks.uncaught).containsOnlyKeys(error));
		assertThat(this.tasks.registry.counts("close-order").failed()).isEqualTo(2);
		assertThat(this.tasks.registry.pendingCount()).isZero();
	}

	@Test
	void beginsNoTaskDuringAPause() {
		DelayedTask<?> queued = this.template.schedule(DELAY, () -> this.ran.add("queued"));
		DelayedTask<?> due = this.template.schedule(DELAY.multipliedBy(2), () -> this.ran.add("due"));
		DelayedTask<?> cancelled = this.template.schedule(DELAY.multipliedBy(2), () -> this.ran.add("cancelled"));
		this.tasks.holdBack = true;
		this.tasks.advanceSeconds(11);
		assertThat(this.tasks.queue).hasSize(1);
		this.tasks.handOvers.pause();
		this.tasks.runQueue();
		this.tasks.advanceSeconds(10);
		assertThat(this.ran).isEmpty();
		assertThat(this.tasks.registry.pendingCount()).isEqualTo(3);
		assertThat(cancelled.cancel(false)).isTrue();
		this.tasks.handOvers.resume();
		await().until(() -> queued.isDone() && due.isDone());
		assertThat(this.ran).containsExactly("queued", "due");
	}

	private static void fail() {
		throw new IllegalStateException("no");
	}

	@Test
	void givesTheExceptionOfACallable() {
		DelayedTask<String> task = this.template.schedule(DELAY, () -> {
			throw new IllegalStateException("no");
		});
		this.tasks.advanceSeconds(11);
		assertThat(task.status()).isEqualTo(Status.FAILED);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get)
			.withCauseInstanceOf(IllegalStateException.class);
		assertThat(this.tasks.registry.counts("unnamed").failed()).isOne();
	}

	@Test
	void runsAtAnInstantByTheWallClock() {
		Instant due = Instant.now().plus(Duration.ofHours(1));
		DelayedTask<?> task = this.template.task(() -> this.ran.add("a")).at(due);
		assertThat(task.dueAt()).isEqualTo(due);
		this.tasks.advance(Duration.ofMinutes(50));
		assertThat(this.ran).isEmpty();
		this.tasks.advance(Duration.ofMinutes(11));
		assertThat(this.ran).containsExactly("a");
	}

	@Test
	void negativeDelaysAndPastInstantsAreNow() {
		this.template.schedule(Duration.ofSeconds(-5), () -> this.ran.add("a"));
		this.template.task(() -> this.ran.add("b")).at(Instant.EPOCH);
		this.template.task(() -> this.ran.add("c")).at(Instant.MIN);
		this.tasks.advance(Duration.ZERO);
		assertThat(this.ran).containsExactlyInAnyOrder("a", "b", "c");
	}

	@Test
	void delaysSaturate() {
		DelayedTask<?> task = this.template.schedule(Duration.ofSeconds(Long.MAX_VALUE), () -> this.ran.add("a"));
		DelayedTask<?> other = this.template.task(() -> this.ran.add("b")).at(Instant.MAX);
		this.tasks.advance(Duration.ofDays(36_500));
		assertThat(this.ran).isEmpty();
		assertThat(task.dueAt()).isAfter(Instant.parse("2262-01-01T00:00:00Z"));
		assertThat(other.dueAt()).isAfter(Instant.parse("2262-01-01T00:00:00Z"));
	}

	@Test
	void replaceTakesThePlaceOfThePendingTask() {
		DelayedTask<?> first = this.template.schedule(ID, DELAY, () -> this.ran.add("first"));
		this.tasks.advanceSeconds(5);
		DelayedTask<?> second = this.template.schedule(ID, DELAY, () -> this.ran.add("second"));
		assertThat(first.status()).isEqualTo(Status.REPLACED);
		assertThat(first.isCancelled()).isTrue();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(first::get);
		assertThat(this.template.pendingCount()).isOne();
		assertThat(this.tasks.wheel.pending()).isOne();
		assertThat(this.tasks.wheel.snapshot().scheduled()).as("the timer was moved").isOne();
		assertThat(first.id()).isNotEqualTo(second.id());
		this.tasks.advanceSeconds(6);
		assertThat(this.ran).isEmpty();
		this.tasks.advanceSeconds(5);
		assertThat(this.ran).containsExactly("second");
		assertThat(this.tasks.registry.counts("close-order").replaced()).isOne();
	}

	@Test
	void keepGivesBothCallersOneResult() {
		DelayedTask<String> first = this.template.task(() -> "first").id(ID).after(DELAY);
		DelayedTask<String> second = this.template.task(() -> "second").id(ID).ifPending(IfPending.KEEP).after(DELAY);
		assertThat(second).isSameAs(first);
		this.tasks.advanceSeconds(11);
		assertThat(second.completion()).isCompletedWithValue("first");
	}

	@Test
	void rejectThrowsAndLeavesTheFirst() {
		this.template.schedule(ID, DELAY, () -> this.ran.add("first"));
		TaskSpec<?> second = this.template.task(() -> this.ran.add("second")).id(ID).ifPending(IfPending.REJECT);
		assertThatExceptionOfType(DuplicateTaskException.class).isThrownBy(() -> second.after(DELAY))
			.withMessage("A task \"close-order\" with the key \"42\" is pending already")
			.satisfies((ex) -> assertThat(ex.getTaskId()).isEqualTo(ID));
		this.tasks.advanceSeconds(11);
		assertThat(this.ran).containsExactly("first");
		second.after(DELAY);
		assertThat(this.template.pendingCount()).isOne();
	}

	@Test
	void aBegunTaskNoLongerHoldsItsKey() {
		this.template.task(() -> {
			this.ran.add("first");
			assertThat(this.template.find(ID)).isEmpty();
			assertThat(this.template.cancel(ID)).isFalse();
			this.template.task(() -> this.ran.add("second")).id(ID).ifPending(IfPending.REJECT).after(DELAY);
		}).id(ID).after(DELAY);
		this.tasks.advanceSeconds(11);
		assertThat(this.template.find(ID)).isPresent();
		this.tasks.advanceSeconds(11);
		assertThat(this.ran).containsExactly("first", "second");
	}

	@Test
	void aTaskThatWaitsForItsExecutorIsStillPending() {
		this.tasks.holdBack = true;
		DelayedTask<?> first = this.template.schedule(ID, DELAY, () -> this.ran.add("first"));
		this.tasks.advanceSeconds(11);
		assertThat(this.tasks.queue).hasSize(1);
		assertThat(first.status()).isEqualTo(Status.SCHEDULED);
		assertThat(this.template.find(ID)).contains(first);
		assertThat(this.template.pendingCount()).isOne();
		this.template.schedule(ID, DELAY, () -> this.ran.add("second"));
		assertThat(first.status()).isEqualTo(Status.REPLACED);
		this.tasks.runQueue();
		assertThat(this.ran).isEmpty();
		this.tasks.advanceSeconds(11);
		assertThat(this.ran).containsExactly("second");
	}

	@Test
	void aTaskThatWaitsForItsExecutorCanBeCancelledAndMoved() {
		this.tasks.holdBack = true;
		DelayedTask<?> cancelled = this.template.schedule(TaskId.of("a", 1), DELAY, () -> this.ran.add("a"));
		DelayedTask<?> moved = this.template.schedule(TaskId.of("b", 1), DELAY, () -> this.ran.add("b"));
		this.tasks.advanceSeconds(11);
		assertThat(cancelled.cancel(false)).isTrue();
		assertThat(moved.reschedule(DELAY)).isTrue();
		this.tasks.runQueue();
		assertThat(this.ran).isEmpty();
		assertThat(moved.status()).isEqualTo(Status.SCHEDULED);
		this.tasks.advanceSeconds(11);
		assertThat(this.ran).containsExactly("b");
		assertThat(moved.status()).isEqualTo(Status.SUCCEEDED);
	}

	@Test
	void cancelBeforeTheStartRemovesTheTimer() {
		DelayedTask<?> task = this.template.schedule(DELAY, () -> this.ran.add("a"));
		assertThat(task.cancel(false)).isTrue();
		assertThat(task.cancel(false)).isFalse();
		assertThat(task.status()).isEqualTo(Status.CANCELLED);
		assertThat(this.tasks.wheel.pending()).isZero();
		assertThat(this.template.pendingCount()).isZero();
		this.tasks.advanceSeconds(11);
		assertThat(this.ran).isEmpty();
		assertThat(this.tasks.registry.counts("unnamed").cancelled()).isOne();
	}

	@Test
	void cancelByIdTellsWhetherATaskWasPending() {
		DelayedTask<?> task = this.template.schedule(ID, DELAY, () -> this.ran.add("a"));
		assertThat(this.template.cancel(TaskId.of("close-order", "42"))).isTrue();
		assertThat(this.template.cancel(ID)).isFalse();
		assertThat(this.template.cancel(TaskId.of("no-such-name", 1))).isFalse();
		assertThat(task.isCancelled()).isTrue();
	}

	@Test
	void completingByHandRemovesTheTimer() throws Exception {
		DelayedTask<String> task = this.template.schedule(DELAY, () -> "late");
		assertThat(task.completion().complete("early")).isTrue();
		assertThat(this.tasks.wheel.pending()).isZero();
		assertThat(task.get()).isEqualTo("early");
		DelayedTask<String> other = this.template.schedule(DELAY, () -> "late");
		assertThat(other.completion().completeExceptionally(new IllegalStateException())).isTrue();
		assertThat(this.tasks.wheel.pending()).isZero();
		assertThat(this.template.pendingCount()).isZero();
	}

	@Test
	void aHandleOfAReplacedTaskDoesNotTouchTheNewOne() {
		DelayedTask<?> first = this.template.schedule(ID, DELAY, () -> this.ran.add("first"));
		this.template.schedule(ID, DELAY, () -> this.ran.add("second"));
		assertThat(first.cancel(true)).isFalse();
		assertThat(first.reschedule(Duration.ZERO)).isFalse();
		this.tasks.advanceSeconds(9);
		assertThat(this.ran).isEmpty();
		this.tasks.advanceSeconds(2);
		assertThat(this.ran).containsExactly("second");
	}

	@Test
	void rescheduleMovesThePendingTask() {
		DelayedTask<?> task = this.template.schedule(ID, DELAY, () -> this.ran.add("a"));
		Instant due = task.dueAt();
		assertThat(this.template.reschedule(ID, DELAY.multipliedBy(2))).isTrue();
		assertThat(task.dueAt()).isAfter(due);
		this.tasks.advanceSeconds(15);
		assertThat(this.ran).isEmpty();
		assertThat(task.reschedule(Duration.ofSeconds(1))).isTrue();
		this.tasks.advanceSeconds(2);
		assertThat(this.ran).containsExactly("a");
		assertThat(this.template.reschedule(ID, DELAY)).isFalse();
		assertThat(task.reschedule(DELAY)).isFalse();
	}

	@Test
	void findGivesTheHandle() {
		DelayedTask<?> task = this.template.schedule(ID, DELAY, () -> this.ran.add("a"));
		assertThat(this.template.find(ID)).containsSame(task);
		assertThat(task.taskId()).isEqualTo(ID);
		assertThat(this.template.find(TaskId.of("close-order", 43))).isEmpty();
		assertThat(this.template.schedule(DELAY, () -> {
		}).taskId()).isNull();
	}

	@Test
	void keysAreComparedByTheirText() {
		for (Object[] same : new Object[][] { { 5, "5" }, { 5L, "5" }, { (byte) -5, "-5" },
				{ Long.MAX_VALUE, String.valueOf(Long.MAX_VALUE) }, { Long.MIN_VALUE, "-9223372036854775808" },
				{ 1.5, "1.5" }, { new StringBuilder("12"), 12 } }) {
			this.template.schedule(TaskId.of("n", same[0]), DELAY, () -> this.ran.add("a"));
			assertThat(this.template.cancel(TaskId.of("n", same[1]))).as("%s", same[0]).isTrue();
		}
		for (Object[] different : new Object[][] { { 5, "05" }, { 5, "+5" }, { 0, "-0" }, { 5, " 5" }, { 5, "5 " },
				{ "a", "A" }, { "", "-" }, { 5, "\u0665" } }) {
			this.template.schedule(TaskId.of("n", different[0]), DELAY, () -> this.ran.add("a"));
			assertThat(this.template.cancel(TaskId.of("n", different[1]))).as("%s", different[0]).isFalse();
			assertThat(this.template.cancel(TaskId.of("n", different[0]))).isTrue();
		}
	}

	@Test
	void fixedRateRunsFirstAfterOnePeriodAndDoesNotDrift() {
		List<Long> times = new ArrayList<>();
		long start = this.tasks.time.nanoTime();
		DelayedTask<?> task = this.template
			.task(() -> times.add(Duration.ofNanos(this.tasks.time.nanoTime() - start).toMillis()))
			.name("tick")
			.every(Duration.ofMillis(1500));
		this.tasks.advance(Duration.ofMillis(1499));
		assertThat(times).isEmpty();
		this.tasks.advanceSeconds(10);
		assertThat(times).containsExactly(1500L, 3000L, 4500L, 6000L, 7500L, 9000L, 10_500L);
		assertThat(task.isDone()).isFalse();
		assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		assertThat(task.cancel(false)).isTrue();
		this.tasks.advanceSeconds(10);
		assertThat(times).hasSize(7);
		assertThat(this.tasks.wheel.pending()).isZero();
	}

	@Test
	void anExceptionEndsAPeriodicTask() {
		AtomicInteger runs = new AtomicInteger();
		DelayedTask<?> task = this.template.task(() -> {
			if (runs.incrementAndGet() == 3) {
				throw new IllegalStateException("third");
			}
		}).id(ID).every(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(10);
		assertThat(runs).hasValue(3);
		assertThat(task.status()).isEqualTo(Status.FAILED);
		assertThat(task.completion()).isCompletedExceptionally();
		assertThat(this.template.pendingCount()).isZero();
		assertThat(this.tasks.registry.counts("close-order").running()).isZero();
	}

	@Test
	void aPeriodicTaskHoldsItsKeyWhileItRuns() {
		AtomicInteger runs = new AtomicInteger();
		this.template.task(() -> {
			assertThat(this.template.find(ID)).isPresent();
			if (runs.incrementAndGet() == 2) {
				assertThat(this.template.cancel(ID)).isTrue();
			}
		}).id(ID).every(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(10);
		assertThat(runs).hasValue(2);
		assertThat(this.tasks.wheel.pending()).isZero();
	}

	@Test
	void aPeriodicTaskCanBeReplacedByItself() {
		DelayedTask<?> first = this.template.task(() -> {
			this.ran.add("first");
			this.template.task(() -> this.ran.add("second")).id(ID).every(Duration.ofSeconds(3));
		}).id(ID).every(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(5);
		assertThat(first.status()).isEqualTo(Status.REPLACED);
		assertThat(this.ran).containsExactly("first", "second");
		assertThat(this.template.pendingCount()).isOne();
	}

	@Test
	void fixedDelayCountsFromTheEndOfARun() {
		List<Long> starts = new ArrayList<>();
		this.tasks.holdBack = true;
		this.template.task(() -> starts.add(this.tasks.time.nanoTime())).withFixedDelay(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(5);
		assertThat(starts).isEmpty();
		this.tasks.runQueue();
		this.tasks.advance(Duration.ofMillis(999));
		assertThat(starts).hasSize(1);
		this.tasks.advance(Duration.ofMillis(2));
		assertThat(starts).hasSize(2);
	}

	@Test
	void aLateFixedRateCatchesUp() {
		this.tasks.holdBack = true;
		this.template.task(() -> this.ran.add("a")).every(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(5);
		this.tasks.runQueue();
		this.tasks.advance(Duration.ofMillis(1));
		assertThat(this.ran).hasSize(5);
	}

	@Test
	void refusesInvalidArguments() {
		TaskSpec<?> spec = this.template.task(() -> {
		});
		assertThatIllegalArgumentException().isThrownBy(() -> spec.every(Duration.ZERO))
			.withMessageStartingWith("The period of a schedule must be at least 1ms")
			.withMessageEndingWith("not 0s");
		assertThatIllegalArgumentException().isThrownBy(() -> spec.withFixedDelay(Duration.ofSeconds(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> spec.after(null));
		assertThatIllegalArgumentException().isThrownBy(() -> spec.at(null));
		assertThatIllegalArgumentException().isThrownBy(() -> spec.name(" "));
		assertThatIllegalArgumentException().isThrownBy(() -> spec.executor("nobody"));
		assertThatIllegalArgumentException().isThrownBy(() -> TaskId.of("n", null));
		assertThatIllegalArgumentException().isThrownBy(() -> TaskId.of("", 1));
		assertThatIllegalArgumentException().isThrownBy(() -> this.template.schedule(null, () -> {
		}));
		assertThat(this.template.pendingCount()).isZero();
	}

	@Test
	void aSlashInANameIsRefusedSinceItSeparatesTheNameFromTheKey() {
		List<ThrowingCallable> calls = List.of(() -> TaskId.of("billing/close", 1),
				() -> new TaskId("billing/close", "1"), () -> this.template.task(() -> {
				}).name("billing/close"), () -> DurableCall.of("billing/close", Duration.ZERO, 1));
		calls.forEach((call) -> assertThatIllegalArgumentException().isThrownBy(call)
			.withMessageContaining("must not contain a slash")
			.withMessageContaining("billing.close"));
	}

	@Test
	void beyondTheLimitTasksAreRejectedAndNothingChanges() {
		VirtualTasks limited = new VirtualTasks((builder) -> builder.maxPending(2), null, null);
		DelayedTask<?> first = limited.template.schedule(ID, DELAY, () -> this.ran.add("first"));
		limited.template.schedule(DELAY, () -> this.ran.add("second"));
		assertThatExceptionOfType(TaskRejectedException.class)
			.isThrownBy(() -> limited.template.schedule(DELAY, () -> this.ran.add("third")))
			.withMessageStartingWith("The task \"unnamed\" was not accepted: ");
		assertThat(limited.template.pendingCount()).isEqualTo(2);
		// At the limit a replacement needs no room.
		limited.template.schedule(ID, DELAY, () -> this.ran.add("replacement"));
		assertThat(first.status()).isEqualTo(Status.REPLACED);
		limited.advanceSeconds(11);
		assertThat(this.ran).containsExactlyInAnyOrder("second", "replacement");
	}

	@Test
	void aTaskThatWaitsForItsExecutorCannotBeMovedBeyondTheLimit() {
		VirtualTasks limited = new VirtualTasks((builder) -> builder.maxPending(1), null, null);
		limited.holdBack = true;
		DelayedTask<?> waiting = limited.template.schedule(ID, DELAY, () -> this.ran.add("waiting"));
		limited.advanceSeconds(10);
		limited.template.schedule(DELAY, () -> {
		});
		assertThatExceptionOfType(TaskRejectedException.class).isThrownBy(() -> limited.template.reschedule(ID, DELAY))
			.withMessageStartingWith("The task \"close-order\" was not accepted: ");
		assertThatExceptionOfType(TaskRejectedException.class).isThrownBy(() -> waiting.reschedule(DELAY));
		limited.runQueue();
		assertThat(this.ran).containsExactly("waiting");
	}

	@Test
	void aPeriodicTaskGoesOnWhenThereIsRoomAgain() {
		VirtualTasks limited = new VirtualTasks((builder) -> builder.maxPending(1), null, null);
		DelayedTask<?> periodic = limited.template.task(() -> this.ran.add("run")).every(DELAY);
		limited.holdBack = true;
		limited.advanceSeconds(10);
		DelayedTask<?> other = limited.template.schedule(Duration.ofDays(1), () -> {
		});
		limited.runQueue();
		assertThat(periodic.status()).isEqualTo(Status.SCHEDULED);
		limited.refuse = true;
		other.cancel(false);
		await().until(() -> limited.wheel.pending() == 1);
		limited.refuse = false;
		limited.advanceSeconds(10);
		assertThat(this.ran).containsExactly("run", "run");
	}

	@Test
	void contextTellsTheBodyAboutItself() {
		List<DelayedTaskContext> contexts = new ArrayList<>();
		DelayedTask<?> task = this.template.task(() -> contexts.add(DelayedTaskContext.current().orElseThrow()))
			.id(ID)
			.after(DELAY);
		this.tasks.holdBack = true;
		this.tasks.advanceSeconds(10);
		this.tasks.advanceSeconds(3);
		this.tasks.runQueue();
		DelayedTaskContext context = contexts.get(0);
		assertThat(context.name()).isEqualTo("close-order");
		assertThat(context.taskId()).isEqualTo(ID);
		assertThat(context.id()).isEqualTo(task.id());
		assertThat(context.dueAt()).isEqualTo(task.dueAt());
		assertThat(context.lateness()).isEqualTo(Duration.ofSeconds(3));
		assertThat(DelayedTaskContext.current()).isEmpty();
	}

}
