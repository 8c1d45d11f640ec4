package io.timingwheel.spring.task.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.timingwheel.spring.task.memory.VirtualTasks.NAME;
import static io.timingwheel.spring.task.memory.VirtualTasks.id;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The run of a task and its end, within a decorator and an interceptor.
 */
class TaskRunTests {

	private final ThreadLocal<@Nullable String> tenant = new ThreadLocal<>();

	private final TaskExecutionInterceptor interceptor = new TaskExecutionInterceptor() {

		@Override
		public Object capture(String name) {
			return "captured for " + name;
		}

		@Override
		public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured, TaskExecution.Body body)
				throws Throwable {
			TaskRunTests.this.ran.add("before, " + captured + ", " + TaskRunTests.this.tenant.get());
			Object result = body.run();
			TaskRunTests.this.ran.add("after " + result);
			return result;
		}

	};

	private final VirtualTasks tasks = new VirtualTasks(
			Map.of(NAME, new PolicySettings(3, BackoffSettings.NONE, null, null, null, null)),
			(builder) -> builder.maxPending(2), (task) -> () -> {
				this.tenant.set("a");
				task.run();
				this.tenant.remove();
			}, this.interceptor);

	private final List<String> ran = this.tasks.ran;

	private final TaskDefinition<Callable<@Nullable Object>> definition = new TaskDefinition<>(this.tasks.registry,
			NAME, () -> this.tasks.executor, null) {

		@Override
		protected @Nullable Object run(Callable<@Nullable Object> payload) throws Exception {
			return payload.call();
		}

		@Override
		protected void handleError(Throwable error, Callable<@Nullable Object> payload) {
			TaskRunTests.this.ran.add("handled for " + TaskRunTests.this.tenant.get());
		}

		@Override
		protected boolean flattens() {
			return true;
		}

	};

	private @Nullable DelayedTask<?> schedule(Callable<@Nullable Object> body) {
		return new TaskSubmission(this.definition, 1, IfPending.REPLACE, null, body, true)
			.schedule(this.tasks.registry.clock().after(Duration.ofSeconds(1)));
	}

	@Test
	void anInterceptorStandsAroundTheBodyWithWhatItCapturedWithinTheDecorator() {
		schedule(() -> "result");
		this.tasks.advanceSeconds(1);
		assertThat(this.ran).containsExactly("before, captured for work, a", "after result");
	}

	@Test
	void theHandlerHasTheContextOfTheBodyAlsoIfTheWheelRefusesTheNextAttempt() {
		schedule(() -> {
			throw new IllegalStateException("first");
		});
		this.tasks.holdBack = true;
		this.tasks.advanceSeconds(1);
		for (int i = 0; i < 2; i++) {
			this.tasks.template.schedule(Duration.ofDays(1), () -> {
			});
		}
		this.tasks.runQueue();
		assertThat(this.ran).hasSize(2).endsWith("handled for a");
	}

	@Test
	void aRunOfAScheduleThatIsCancelledByItsBodyCountsAsCancelled() {
		TaskSubmission.recur(this.definition, 1, () -> {
			throw new CancellationException();
		}, Schedule.every(Duration.ofSeconds(10)), Missed.ONCE, null);
		this.tasks.advanceSeconds(20);
		assertThat(this.tasks.registry.counts(NAME)).isEqualTo(new TaskCounts(1, 0, 0, 0, 2, 0, 0, 0));
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
		this.tasks.advanceSeconds(1);
		assertThat(inner.isCancelled()).isEqualTo(mayInterrupt);
		assertThat(Thread.interrupted()).as("left to the executor").isFalse();
	}

	@Test
	void aStallBetweenTheReadingsOfTheClocksDoesNotShiftTheDueTimes() {
		ManualTimeSource time = new ManualTimeSource();
		long start = time.nanoTime();
		Instant noon = Instant.parse("2026-01-10T12:00:00Z");
		AtomicReference<Duration> stall = new AtomicReference<>(Duration.ofMillis(100));
		InstantSource wall = () -> {
			time.advance(stall.getAndSet(Duration.ZERO));
			return noon.plusNanos(time.nanoTime() - start);
		};
		Clock clock = wall.withZone(ZoneOffset.UTC);
		assertThat(new TaskClock(time, clock).now()).isEqualTo(noon.plusMillis(100));
	}

	@Test
	void anUpdateDuringARunOfARepeatingTaskIsDueAfterItsOwnDelay() {
		VirtualTasks tasks = new VirtualTasks();
		tasks.template.task(() -> {
			tasks.ran.add("repeating");
			tasks.template.task(() -> tasks.ran.add("update"))
				.id(id(1))
				.ifPending(IfPending.UPDATE)
				.after(Duration.ofSeconds(30));
		}).id(id(1)).every(Duration.ofSeconds(10));
		tasks.advanceSeconds(39);
		assertThat(tasks.ran).containsExactly("repeating");
		tasks.advanceSeconds(1);
		assertThat(tasks.ran).containsExactly("repeating", "update");
	}

}
