package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskSpec;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.core.task.support.TaskExecutorAdapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

class DelayedTaskTemplateTests {

	private static final TaskId ID = VirtualTasks.id(42);

	private static final Duration DELAY = Duration.ofSeconds(10);

	private final VirtualTasks tasks = new VirtualTasks();

	private final DelayedTaskOperations template = this.tasks.template;

	private final List<String> ran = this.tasks.ran;

	private Runnable run(String text) {
		return () -> this.ran.add(text);
	}

	private static void fail() {
		throw new IllegalStateException("no");
	}

	@Test
	void theHandlerOfUncaughtExceptionsHasTheCodeAndTheTaskThatThrew() {
		Runnable failing = DelayedTaskTemplateTests::fail;
		List<TaskId> seen = new ArrayList<>();
		DelayedTaskOperations template = new DefaultDelayedTaskTemplate(this.tasks.registry,
				VirtualTasks.executors(this.tasks.executor), (error, method, arguments) -> {
					assertThat(method.getName()).isEqualTo("run");
					assertThat(method.getDeclaringClass()).isEqualTo(failing.getClass());
					seen.add(DelayedTaskContext.current().orElseThrow().taskId());
				}, null);
		template.schedule(ID, DELAY, failing);
		template.task(failing).id(VirtualTasks.id(43)).every(DELAY);
		this.tasks.advanceSeconds(11);
		assertThat(seen).containsExactly(ID, VirtualTasks.id(43));
		assertThat(DelayedTaskContext.current()).isEmpty();
	}

	@Test
	void anExceptionThatAFutureShowsIsNoUncaughtOne() throws Exception {
		List<Throwable> seen = new ArrayList<>();
		for (DelayedTask<?> task : List.of(this.template.schedule(DELAY, DelayedTaskTemplateTests::fail),
				this.template.task(DelayedTaskTemplateTests::fail).every(DELAY))) {
			task.completion().whenComplete((result, error) -> seen.add(error));
		}
		DelayedTask<?> awaited = this.template.schedule(DELAY, DelayedTaskTemplateTests::fail);
		Thread waiter = new Thread(() -> assertThatExceptionOfType(ExecutionException.class).isThrownBy(awaited::get));
		waiter.start();
		await().until(() -> waiter.getState() == Thread.State.WAITING);
		List<DelayedTask<?>> cancelled = new ArrayList<>();
		cancelled.add(this.template.schedule(DELAY, () -> {
			cancelled.get(0).cancel(false);
			fail();
		}));
		this.tasks.advanceSeconds(11);
		waiter.join();
		assertThat(seen).hasSize(2).hasOnlyElementsOfType(IllegalStateException.class);
		assertThat(cancelled.get(0).status()).isEqualTo(Status.CANCELLED);
		assertThat(awaited.status()).isEqualTo(Status.FAILED);
		assertThat(this.tasks.uncaught).isEmpty();
		assertThat(this.tasks.registry.counts("unnamed").failed()).isEqualTo(3);
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
		for (Executor executor : List.of(decorated, new TaskExecutorAdapter(decorated))) {
			DelayedTask<?> task = this.template.task(run("never")).id(ID).executor(executor).after(DELAY);
			this.tasks.advanceSeconds(11);
			await().until(task::isDone);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get).withCause(error);
		}
		DelayedTask<?> periodic = this.template.task(run("never")).executor(decorated).every(DELAY);
		this.tasks.advanceSeconds(11);
		await().until(periodic::isDone);
		this.tasks.advanceSeconds(1000);
		assertThat(calls).hasValue(3);
		assertThat(this.ran).isEmpty();
		await().untilAsserted(() -> assertThat(this.tasks.uncaught).containsOnlyKeys(error));
		assertThat(this.tasks.registry.counts(ID.name()).failed()).isEqualTo(2);
		assertThat(this.tasks.registry.pendingCount()).isZero();
	}

	@Test
	void beginsNoTaskDuringAPause() {
		DelayedTask<?> queued = this.tasks.schedule("queued", 1);
		DelayedTask<?> due = this.tasks.schedule("due", 5000);
		DelayedTask<?> cancelled = this.tasks.schedule("cancelled", 5000);
		this.tasks.holdBack = true;
		this.tasks.advanceSeconds(1);
		assertThat(this.tasks.queue).hasSize(1);
		this.tasks.handOvers.pause();
		this.tasks.runQueue();
		this.tasks.advanceSeconds(10);
		assertThat(this.ran).isEmpty();
		assertThat(this.tasks.registry.pendingCount()).isEqualTo(3);
		assertThat(cancelled.cancel(false)).isTrue();
		assertThat(this.tasks.wheel.snapshot().refused()).isZero();
		this.tasks.handOvers.resume();
		await().until(() -> queued.isDone() && due.isDone());
		assertThat(this.ran).containsExactlyInAnyOrder("queued", "due");
	}

	@Test
	void aTimeIsByTheWallClockMayHavePassedAndHasNoEnd() {
		Instant due = Instant.now().plus(Duration.ofHours(1));
		assertThat(this.template.task(run("a")).at(due).dueAt()).isEqualTo(due);
		this.template.task(run("past")).at(Instant.MIN);
		this.template.schedule(Duration.ofSeconds(-5), run("negative"));
		DelayedTask<?> never = this.template.schedule(Duration.ofSeconds(Long.MAX_VALUE), run("never"));
		DelayedTask<?> last = this.template.task(run("never")).at(Instant.MAX);
		this.tasks.advance(Duration.ZERO);
		assertThat(this.ran).containsExactlyInAnyOrder("past", "negative");
		this.tasks.advance(Duration.ofMinutes(50));
		assertThat(this.ran).hasSize(2);
		this.tasks.advance(Duration.ofDays(36_500));
		assertThat(this.ran).hasSize(3).endsWith("a");
		assertThat(List.of(never, last))
			.allSatisfy((task) -> assertThat(task.dueAt()).isAfter(Instant.parse("2262-01-01T00:00:00Z")));
	}

	@Test
	void replaceTakesThePlaceOfThePendingTask() {
		DelayedTask<?> first = this.template.schedule(ID, DELAY, run("first"));
		this.tasks.advanceSeconds(5);
		DelayedTask<?> second = this.template.schedule(ID, DELAY, run("second"));
		assertThat(first.status()).isEqualTo(Status.REPLACED);
		assertThatExceptionOfType(CancellationException.class).isThrownBy(first::get);
		assertThat(this.tasks.wheel.pending()).isOne();
		assertThat(this.tasks.wheel.snapshot().scheduled()).as("the timer was moved").isOne();
		assertThat(first.id()).isNotEqualTo(second.id());
		assertThat(first.cancel(true)).isFalse();
		assertThat(first.reschedule(Duration.ZERO)).isFalse();
		this.tasks.advanceSeconds(6);
		assertThat(this.ran).isEmpty();
		this.tasks.advanceSeconds(5);
		assertThat(this.ran).containsExactly("second");
		assertThat(this.tasks.registry.counts(ID.name()).replaced()).isOne();
	}

	@Test
	void keepGivesBothCallersOneResultAndRejectThrows() {
		DelayedTask<String> first = this.template.task(() -> "first").id(ID).after(DELAY);
		DelayedTask<String> kept = this.template.task(() -> "second").id(ID).ifPending(IfPending.KEEP).after(DELAY);
		assertThat(kept).isSameAs(first);
		TaskSpec<?> rejected = this.template.task(run("third")).id(ID).ifPending(IfPending.REJECT);
		assertThatExceptionOfType(DuplicateTaskException.class).isThrownBy(() -> rejected.after(DELAY))
			.withMessage("A task \"work\" with the key \"42\" is pending already")
			.satisfies((ex) -> assertThat(ex.getTaskId()).isEqualTo(ID));
		this.tasks.advanceSeconds(11);
		assertThat(kept.completion()).isCompletedWithValue("first");
		rejected.after(DELAY);
		assertThat(this.template.pendingCount()).isOne();
	}

	@Test
	void cancelBeforeTheStartRemovesTheTimer() {
		DelayedTask<?> task = this.template.schedule(DELAY, run("a"));
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
	void completingByHandRemovesTheTimer() {
		DelayedTask<String> task = this.template.schedule(DELAY, () -> "late");
		assertThat(task.completion().complete("early")).isTrue();
		assertThat(this.template.schedule(DELAY, () -> "late")
			.completion()
			.completeExceptionally(new IllegalStateException())).isTrue();
		assertThat(this.tasks.wheel.pending()).isZero();
		assertThat(task.completion()).isCompletedWithValue("early");
		assertThat(this.template.pendingCount()).isZero();
	}

	@Test
	void keysAreComparedByTheirText() {
		for (Object[] same : new Object[][] { { 5, "5" }, { 5L, "5" }, { (byte) -5, "-5" },
				{ Long.MAX_VALUE, String.valueOf(Long.MAX_VALUE) }, { Long.MIN_VALUE, "-9223372036854775808" },
				{ 1.5, "1.5" }, { new StringBuilder("12"), 12 } }) {
			DelayedTask<?> task = this.template.schedule(VirtualTasks.id(same[0]), DELAY, run("a"));
			assertThat(this.template.cancel(VirtualTasks.id(same[1]))).as("%s", same[0]).isTrue();
			assertThat(task.isCancelled()).isTrue();
		}
		for (Object[] different : new Object[][] { { 5, "05" }, { 5, "+5" }, { 0, "-0" }, { 5, " 5" }, { 5, "5 " },
				{ "a", "A" }, { "", "-" }, { 5, "\u0665" } }) {
			this.template.schedule(VirtualTasks.id(different[0]), DELAY, run("a"));
			assertThat(this.template.cancel(VirtualTasks.id(different[1]))).as("%s", different[0]).isFalse();
			assertThat(this.template.cancel(VirtualTasks.id(different[0]))).isTrue();
		}
	}

	@Test
	void fixedRateRunsFirstAfterOnePeriodDoesNotDriftAndCatchesUp() {
		DelayedTask<?> task = this.template
			.task(() -> this.ran.add("" + this.tasks.registry.clock().nanoTime() / 1_000_000))
			.every(Duration.ofMillis(1500));
		long start = this.tasks.registry.clock().nanoTime() / 1_000_000;
		this.tasks.advance(Duration.ofMillis(1499));
		assertThat(this.ran).isEmpty();
		this.tasks.advanceSeconds(4);
		assertThat(this.ran).containsExactly("" + (start + 1500), "" + (start + 3000), "" + (start + 4500));
		this.tasks.holdBack = true;
		this.tasks.advanceSeconds(6);
		this.tasks.runQueue();
		assertThat(this.ran).hasSize(7);
		assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		assertThat(task.cancel(false)).isTrue();
		this.tasks.advanceSeconds(10);
		assertThat(this.ran).hasSize(7);
		assertThat(this.tasks.wheel.pending()).isZero();
	}

	@Test
	void anExceptionEndsAPeriodicTask() {
		DelayedTask<?> task = this.template.task(() -> {
			this.ran.add("run");
			assertThat(this.template.find(ID)).as("holds its key while it runs").isPresent();
			assertThat(this.template.reschedule(ID, DELAY)).as("runs").isFalse();
			if (this.ran.size() == 3) {
				fail();
			}
		}).id(ID).every(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(10);
		assertThat(this.ran).hasSize(3);
		assertThat(task.status()).isEqualTo(Status.FAILED);
		assertThat(this.template.pendingCount()).isZero();
		assertThat(this.tasks.registry.runningCount()).isZero();
	}

	@Test
	void aPeriodicTaskCanBeReplacedAndCancelledByItself() {
		DelayedTask<?> first = this.template.task(() -> {
			this.ran.add("first");
			this.template.task(() -> {
				this.ran.add("second");
				assertThat(this.template.cancel(ID)).isTrue();
			}).id(ID).every(Duration.ofSeconds(3));
		}).id(ID).every(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(10);
		assertThat(first.status()).isEqualTo(Status.REPLACED);
		assertThat(this.ran).containsExactly("first", "second");
		assertThat(this.tasks.wheel.pending()).isZero();
	}

	@Test
	void refusesInvalidArguments() {
		TaskSpec<?> spec = this.template.task(run(""));
		for (ThrowingCallable call : List.<ThrowingCallable>of(() -> spec.every(Duration.ZERO),
				() -> spec.withFixedDelay(Duration.ofSeconds(-1)), () -> spec.after(null), () -> spec.at(null),
				() -> spec.name(" "), () -> spec.executor("nobody"), () -> TaskId.of("n", null), () -> TaskId.of("", 1),
				() -> this.template.schedule(null, run("")))) {
			assertThatIllegalArgumentException().isThrownBy(call);
		}
		for (ThrowingCallable call : List.<ThrowingCallable>of(() -> TaskId.of("billing/close", 1),
				() -> new TaskId("billing/close", "1"), () -> spec.name("billing/close"),
				() -> DurableCall.of("billing/close", Duration.ZERO, 1))) {
			assertThatIllegalArgumentException().isThrownBy(call)
				.withMessageContaining("must not contain a slash")
				.withMessageContaining("billing.close");
		}
		assertThatIllegalStateException().isThrownBy(() -> spec.id(ID).name("other"))
			.withMessage("The task has an id already, with the name \"work\"");
		assertThat(this.template.pendingCount()).isZero();
	}

	@Test
	void beyondTheLimitTasksAreRejectedAndNothingChanges() {
		VirtualTasks limited = VirtualTasks.withMaxPending(2);
		limited.holdBack = true;
		DelayedTask<?> waiting = limited.schedule("waiting", 1);
		limited.advanceSeconds(1);
		DelayedTask<?> replaced = limited.schedule("replaced", 1000);
		limited.schedule("second", 1000);
		assertThatExceptionOfType(TaskRejectedException.class).isThrownBy(() -> limited.schedule("third", 1000))
			.withMessageStartingWith("The task \"work\" was not accepted: ");
		assertThatExceptionOfType(TaskRejectedException.class).isThrownBy(() -> waiting.reschedule(DELAY));
		assertThat(limited.template.pendingCount()).isEqualTo(3);
		limited.schedule("replaced", 2000);
		assertThat(replaced.status()).as("at the limit a replacement needs no room").isEqualTo(Status.REPLACED);
		limited.runQueue();
		limited.advanceSeconds(2);
		assertThat(limited.ran).containsExactly("waiting", "second", "replaced");
	}

	@Test
	void aPeriodicTaskGoesOnWhenThereIsRoomAgain() {
		VirtualTasks limited = VirtualTasks.withMaxPending(1);
		DelayedTask<?> periodic = limited.template.task(() -> limited.ran.add("run")).every(DELAY);
		limited.holdBack = true;
		limited.advanceSeconds(10);
		DelayedTask<?> other = limited.schedule("other", 100_000);
		limited.runQueue();
		assertThat(periodic.status()).isEqualTo(Status.SCHEDULED);
		limited.refuse = true;
		other.cancel(false);
		await().until(() -> limited.wheel.pending() == 1);
		limited.refuse = false;
		limited.advanceSeconds(10);
		assertThat(limited.ran).containsExactly("run", "run");
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
		assertThat(context.name()).isEqualTo("work");
		assertThat(context.taskId()).isEqualTo(ID);
		assertThat(context.id()).isEqualTo(task.id());
		assertThat(context.dueAt()).isEqualTo(task.dueAt());
		assertThat(context.lateness()).isEqualTo(Duration.ofSeconds(3));
	}

}
