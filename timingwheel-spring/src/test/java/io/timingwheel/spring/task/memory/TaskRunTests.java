package io.timingwheel.spring.task.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskSpec;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskCounts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.task.TaskDecorator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The run of a task and its end, on virtual time.
 */
class TaskRunTests {

	private static final TaskId ID = TaskId.of("work", 1);

	private static final PolicySettings THREE_ATTEMPTS = new PolicySettings(3, BackoffSettings.NONE, null, null, null,
			null);

	private final ThreadLocal<@Nullable String> tenant = new ThreadLocal<>();

	private final TaskDecorator decorator = (task) -> () -> {
		this.tenant.set("a");
		try {
			task.run();
		}
		finally {
			this.tenant.remove();
		}
	};

	private final VirtualTasks tasks = new VirtualTasks((builder) -> builder.maxPending(2), this.decorator, null);

	private final List<String> ran = new ArrayList<>();

	private TaskDefinition<Callable<@Nullable Object>> definition() {
		return new TaskDefinition<>(this.tasks.registry, ID.name(), () -> this.tasks.executor, null) {

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
	}

	@Test
	void theHandlerHasTheContextOfTheBodyAlsoIfTheWheelRefusesTheNextAttempt() {
		this.tasks.registry.declare(ID.name(), THREE_ATTEMPTS);
		Callable<@Nullable Object> failing = () -> {
			throw new IllegalStateException("first");
		};
		new TaskSubmission(definition(), ID.key(), IfPending.REPLACE, null, failing, true)
			.schedule(this.tasks.registry.clock().after(Duration.ofSeconds(1)));
		this.tasks.holdBack = true;
		this.tasks.advanceSeconds(1);
		for (int i = 0; i < 2; i++) {
			this.tasks.template.schedule(Duration.ofDays(1), () -> {
			});
		}
		this.tasks.runQueue();
		assertThat(this.ran).containsExactly("handled for a");
	}

	@Test
	void aRunOfAScheduleThatIsCancelledByItsBodyCountsAsCancelled() {
		Callable<@Nullable Object> cancelled = () -> {
			throw new CancellationException();
		};
		TaskSubmission.recur(definition(), ID.key(), cancelled, Schedule.every(Duration.ofSeconds(10)), Missed.ONCE,
				null);
		this.tasks.advanceSeconds(20);
		assertThat(this.tasks.registry.counts(ID.name())).isEqualTo(new TaskCounts(1, 0, 0, 0, 2, 0, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aCancelDuringTheBodyCancelsTheFutureOfTheBodyOnlyIfItMayInterrupt(boolean mayInterrupt) {
		CompletableFuture<Object> inner = new CompletableFuture<>();
		AtomicReference<@Nullable DelayedTask<?>> task = new AtomicReference<>();
		Callable<@Nullable Object> body = () -> {
			Objects.requireNonNull(task.get()).cancel(mayInterrupt);
			return inner;
		};
		task.set(new TaskSubmission(definition(), ID.key(), IfPending.REPLACE, null, body, true)
			.schedule(this.tasks.registry.clock().after(Duration.ofSeconds(1))));
		this.tasks.advanceSeconds(1);
		assertThat(inner.isCancelled()).isEqualTo(mayInterrupt);
	}

	@Test
	void anUpdateDuringARunOfARepeatingTaskIsDueAfterItsOwnDelay() {
		this.tasks.template.task(() -> {
			this.ran.add("repeating");
			this.tasks.template.task(() -> this.ran.add("update"))
				.id(ID)
				.ifPending(IfPending.UPDATE)
				.after(Duration.ofSeconds(30));
		}).id(ID).every(Duration.ofSeconds(10));
		this.tasks.advanceSeconds(39);
		assertThat(this.ran).containsExactly("repeating");
		this.tasks.advanceSeconds(1);
		assertThat(this.ran).containsExactly("repeating", "update");
	}

	@Test
	void aTaskThatIsMovedBeyondTheEndOfTheShutdownIsCancelled() {
		DelayedTask<?> task = this.tasks.template.schedule(ID, Duration.ofSeconds(1), () -> this.ran.add("run"));
		this.tasks.registry.atShutdown().stopAccepting();
		this.tasks.registry.tasksOf(ID.name())
			.shutdown()
			.setLastDue(this.tasks.time.nanoTime() + Duration.ofSeconds(5).toNanos());
		assertThat(task.reschedule(Duration.ofSeconds(2))).isTrue();
		assertThat(task.isDone()).isFalse();
		task.reschedule(Duration.ofSeconds(10));
		assertThat(task.isCancelled()).isTrue();
		assertThat(this.tasks.wheel.pending()).isZero();
	}

	@Test
	void aNameThatWouldDropTheKeyIsRefused() {
		TaskSpec<?> spec = this.tasks.template.task(() -> this.ran.add("run")).name("other").id(ID);
		assertThatIllegalStateException().isThrownBy(() -> spec.name("other"))
			.withMessage("The task has an id already, with the name \"work\"");
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

}
