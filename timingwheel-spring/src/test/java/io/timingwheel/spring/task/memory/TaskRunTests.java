package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.task.TaskDecorator;
import org.springframework.util.Assert;

import static io.timingwheel.spring.task.memory.VirtualTasks.NAME;
import static io.timingwheel.spring.task.memory.VirtualTasks.id;
import static io.timingwheel.spring.task.memory.VirtualTasks.limits;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The run of a task within a decorator and an interceptor, its end, and its further
 * attempts.
 */
class TaskRunTests {

	private static final PolicySettings THREE_ATTEMPTS = new PolicySettings(3,
			new BackoffSettings(Duration.ofSeconds(1), 10.0, Duration.ofSeconds(5), null), null, null, null, null);

	private final ThreadLocal<@Nullable String> tenant = new ThreadLocal<>();

	private final TaskExecution.Interceptor interceptor = new TaskExecution.Interceptor() {

		@Override
		public String traceparent() {
			return "trace";
		}

		@Override
		public @Nullable Object intercept(TaskExecution execution, TaskExecution.Body body) throws Throwable {
			TaskRunTests.this.ran.add("before, " + execution.parentTrace() + ", " + TaskRunTests.this.tenant.get());
			Object result = body.run();
			TaskRunTests.this.ran.add("after " + result);
			return result;
		}

	};

	private final VirtualTasks decorated = new VirtualTasks(Map.of(NAME, THREE_ATTEMPTS),
			(builder) -> builder.maxPending(2), (task) -> () -> {
				this.tenant.set("a");
				task.run();
				this.tenant.remove();
			}, this.interceptor);

	private final List<String> ran = this.decorated.ran;

	private final TaskDefinition definition = new TaskDefinition(this.decorated.registry, NAME,
			() -> this.decorated.executor, Duration.ofMinutes(1)) {

		@Override
		protected @Nullable Object run(Object body) throws Exception {
			return ((Callable<?>) body).call();
		}

		@Override
		protected void handleError(Throwable error, Object payload) {
			TaskRunTests.this.ran.add("handled for " + TaskRunTests.this.tenant.get());
		}

		@Override
		protected boolean flattens() {
			return true;
		}

	};

	private @Nullable DelayedTask<?> schedule(Callable<@Nullable Object> body) {
		return new TaskSubmission(this.definition, 1, IfPending.REPLACE, null, body, true)
			.schedule(this.decorated.registry.clock().after(Duration.ofSeconds(1)));
	}

	@Test
	void anInterceptorStandsAroundTheBodyWithItsTraceWithinTheDecorator() {
		schedule(() -> "result");
		this.decorated.advanceSeconds(1);
		assertThat(this.ran).containsExactly("before, trace, a", "after result");
	}

	@Test
	void aDecoratorMayRunOtherCodeInACapturedContextFirst() throws Exception {
		CallerContext plain = new CallerContext((code) -> code::run, () -> this.decorated.executor);
		FutureTask<Boolean> first = new FutureTask<>(plain.capture(() -> this.ran.add("first")));
		TaskDecorator decorator = (code) -> () -> {
			first.run();
			code.run();
		};
		CallerContext nesting = new CallerContext(decorator, () -> this.decorated.executor);
		assertThat(nesting.capture(() -> this.ran.add("second")).call()).isTrue();
		assertThat(this.ran).containsExactly("first", "second");
	}

	@Test
	void theHandlerHasTheContextOfTheBodyAlsoIfTheWheelRefusesTheNextAttempt() {
		schedule(() -> {
			throw new IllegalStateException("first");
		});
		this.decorated.holdBack = true;
		this.decorated.advanceSeconds(1);
		for (int i = 0; i < 2; i++) {
			this.decorated.template.schedule(Duration.ofDays(1), () -> {
			});
		}
		this.decorated.runQueue();
		assertThat(this.ran).hasSize(2).endsWith("handled for a");
	}

	@Test
	void aTaskThatIsTooLateWhenItsExecutorRunsItExpires() {
		DelayedTask<?> task = schedule(() -> this.ran.add("body"));
		this.decorated.holdBack = true;
		this.decorated.advanceSeconds(62);
		assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		this.decorated.runQueue();
		assertThat(task.status()).isEqualTo(Status.CANCELLED);
		assertThat(this.ran).isEmpty();
		assertThat(this.decorated.registry.counts(NAME).expired()).isOne();
	}

	@Test
	void aRunOfAScheduleThatIsCancelledByItsBodyCountsAsCancelled() {
		TaskSubmission.repeat(this.definition, 1, IfPending.REPLACE, (Callable<?>) () -> {
			throw new CancellationException();
		}, Schedule.every(Duration.ofSeconds(10)), Missed.ONCE, null);
		this.decorated.advanceSeconds(20);
		assertThat(this.decorated.registry.counts(NAME)).isEqualTo(new TaskCounts(1, 0, 0, 0, 2, 0, 0, 0));
	}

	@ParameterizedTest
	@CsvSource({ "false, CANCELLED", "true, FAILED" })
	void aRunThatADecoratorDropsIsCancelledAndOneThatItFailsHasFailed(boolean fails, Status status) {
		VirtualTasks tasks = new VirtualTasks(Map.of(), (builder) -> builder,
				(task) -> () -> Assert.state(!fails, "decorator"), null);
		DelayedTask<?> task = tasks.schedule("once", 1000);
		recur(tasks, () -> {
		});
		tasks.advanceSeconds(1);
		assertThat(task.status()).isEqualTo(status);
		assertThat(tasks.ran).isEqualTo(fails ? List.of("handled") : List.of());
		TaskCounts counts = tasks.registry.counts(NAME);
		assertThat(fails ? counts.failed() : counts.cancelled()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aCancelDuringTheBodyCancelsTheFutureOfTheBodyOnlyIfItMayInterrupt(boolean mayInterrupt) {
		CompletableFuture<Object> inner = new CompletableFuture<>();
		AtomicReference<@Nullable DelayedTask<?>> task = new AtomicReference<>();
		task.set(schedule(() -> {
			task.get().cancel(mayInterrupt);
			return inner;
		}));
		this.decorated.advanceSeconds(1);
		assertThat(inner.isCancelled()).isEqualTo(mayInterrupt);
		assertThat(Thread.interrupted()).as("left to the executor").isFalse();
	}

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
		assertThat(tasks.registry.counts(NAME)).isEqualTo(new TaskCounts(0, 0, 1, 0, 0, 0, 0, 1));
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

	/** Starts a schedule with a run after 1 s and every 20 s from then on. */
	private static void recur(VirtualTasks virtual, Runnable body) {
		TaskDefinition definition = new TaskDefinition(virtual.registry, NAME, () -> virtual.executor, null) {

			@Override
			protected @Nullable Object run(Object payload) {
				virtual.ran.add("attempt " + DelayedTaskContext.current().orElseThrow().attempt());
				body.run();
				return null;
			}

			@Override
			protected void handleError(Throwable error, Object payload) {
				virtual.ran.add("handled");
			}

		};
		TaskSubmission.repeat(definition, "schedule", IfPending.REPLACE, "payload",
				Schedule.every(Duration.ofSeconds(20)), Missed.ONCE, Duration.ofSeconds(1));
	}

}
