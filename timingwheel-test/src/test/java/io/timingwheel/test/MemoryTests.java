package io.timingwheel.test;

import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.TaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

@SpringBootTest(properties = { "timingwheel.task-scheduler.enabled=true", "timingwheel.tick=1s",
		"spring.task.execution.propagate-context=true", "spring.threads.virtual.enabled=true" })
@AutoConfigureVirtualTime
class MemoryTests {

	private static final Duration HOUR = Duration.ofHours(1);

	@Autowired
	private VirtualTime time;

	@Autowired
	private Tasks tasks;

	@Autowired
	private DelayedTaskOperations operations;

	@Autowired
	private TaskScheduler scheduler;

	@Test
	void theBodyRunsOnThisThreadWhateverItsExecutorIsAndItsFutureIsCompleteWhenAdvanceReturns() {
		CompletableFuture<Thread> called = this.tasks.named();
		CompletableFuture<Boolean> dependent = called.thenApply(Thread::isAlive);
		this.time.advance(HOUR);
		assertThat(called).isCompletedWithValue(Thread.currentThread());
		assertThat(dependent).isCompletedWithValue(true);
	}

	/** The repetition before has left a future that is not done. */
	@RepeatedTest(2)
	void aBodyWhoseFutureIsNotDoneHoldsItsPlaceUntilTheTestEnds() {
		List<String> begun = new ArrayList<>();
		CompletableFuture<Void> first = new CompletableFuture<>();
		this.tasks.single(begun, "first", first);
		this.tasks.single(begun, "second", new CompletableFuture<>());
		this.time.advance(HOUR);
		assertThat(begun).containsExactly("first");
		assertThat(this.time.pending("single")).isOne();
		first.complete(null);
		this.time.advance(Duration.ZERO);
		assertThat(begun).containsExactly("first", "second");
	}

	@Test
	void aDecoratorAndContextPropagationStillAct() {
		Config.decorated.set(0);
		this.operations.schedule(HOUR, () -> Config.decorated.addAndGet(100));
		this.time.advance(HOUR);
		assertThat(Config.decorated).hasValue(101);
	}

	@Test
	void aTimeoutPassesWhenTheTimeIsMovedAlsoThatOfAFuture() {
		assertThat(this.tasks.limited(() -> this.time.advance(Duration.ofSeconds(1)))).isEqualTo("done");
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.tasks.limited(() -> this.time.advance(Duration.ofSeconds(2))));
		assertThat(Thread.interrupted()).isFalse();
		CompletableFuture<String> answer = this.tasks.answer();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(answer).isNotDone();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(answer).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(MethodTimeoutException.class);
	}

	@Test
	void theTimeoutOfAnotherThreadPassesToo() throws Exception {
		CountDownLatch entered = new CountDownLatch(1);
		CompletableFuture<String> result = onAnotherThread(() -> this.tasks.limited(() -> {
			entered.countDown();
			while (!Thread.currentThread().isInterrupted()) {
				LockSupport.park();
			}
		}));
		entered.await();
		this.time.advance(Duration.ofSeconds(2));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join)
			.withCauseInstanceOf(MethodTimeoutException.class)
			.satisfies((ex) -> assertThat(ex.getCause().getSuppressed()).singleElement()
				.satisfies((stack) -> assertThat(stack).hasMessageContaining("at the deadline")));
		await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
			.noneMatch((name) -> name.startsWith("timeout-")));
	}

	@Test
	void aCheckedExceptionAndTheFailureOfAFutureAreThrownToo() {
		this.operations.schedule(HOUR, () -> {
			throw new IOException("checked");
		});
		assertThatExceptionOfType(UndeclaredThrowableException.class).isThrownBy(() -> this.time.advance(HOUR))
			.withCauseInstanceOf(IOException.class);
		this.tasks.failing();
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR)).withMessage("async");
		AssertionError error = new AssertionError("in a body");
		this.operations.schedule(HOUR, () -> {
			throw error;
		});
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.time.advance(HOUR)).isSameAs(error);
	}

	@Test
	void waitingForAPendingTaskFailsInPlaceOfHanging() {
		DelayedTask<String> task = this.operations.task(() -> "late").name("report").after(HOUR);
		assertThatIllegalStateException().isThrownBy(task::get)
			.withMessageContaining("\"report\", which is due in 1h")
			.withMessageContaining("time.advance");
		assertThatIllegalStateException().isThrownBy(() -> task.completion().join());
		this.operations.schedule(Duration.ofMinutes(1), () -> task.get());
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
			.withMessageContaining("The body of a task waits");
		assertThat(task.completion()).isCompletedWithValue("late");
	}

	@Test
	void anotherThreadMayWaitForATask() throws Exception {
		DelayedTask<String> task = this.operations.task(() -> "late").after(HOUR);
		CompletableFuture<String> waiting = onAnotherThread(() -> task.completion().join());
		this.time.advance(HOUR);
		assertThat(waiting.get(60, TimeUnit.SECONDS)).isEqualTo("late");
	}

	private static CompletableFuture<String> onAnotherThread(Supplier<String> action) {
		return CompletableFuture.supplyAsync(action, (task) -> new Thread(task).start());
	}

	@Test
	void theClockGoesByVirtualTimeWhichMayBeMovedToAnInstant() {
		Clock clock = this.time.clock();
		Instant end = clock.instant().plus(Duration.ofDays(400));
		DelayedTask<Void> task = this.operations.task(() -> {
		}).at(end);
		assertThat(task.dueAt()).isEqualTo(end);
		this.time.advanceTo(end);
		assertThat(task).isDone();
		assertThat(clock.instant()).isEqualTo(end);
	}

	@Test
	void anEndlessChainEndsWithAMessageThatBringsTheFailuresOfBodies() {
		IllegalStateException inABody = new IllegalStateException("in a body");
		this.operations.schedule(Duration.ofMillis(1), () -> {
			throw inABody;
		});
		again();
		assertThatIllegalStateException().isThrownBy(this.time::runAll)
			.withMessageContaining("The tasks do not come to an end")
			.withMessageContaining("runAll has run 20000 of them")
			.withMessageContaining("pending is again (due in 1s)")
			.withMessageContaining("use advance")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(inABody));
	}

	private void again() {
		this.operations.task(this::again).name("again").after(Duration.ofSeconds(1));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Tasks.class)
	static class Config {

		static final AtomicInteger decorated = new AtomicInteger();

		@Bean
		TaskDecorator countingDecorator() {
			return (task) -> () -> {
				decorated.incrementAndGet();
				task.run();
			};
		}

		@Bean(defaultCandidate = false)
		Executor other() {
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("task-other-");
			executor.setConcurrencyLimit(1);
			return executor;
		}

	}

	static class Tasks {

		@Delayed(delay = "1h", name = "named", executor = "other")
		public CompletableFuture<Thread> named() {
			return CompletableFuture.completedFuture(Thread.currentThread());
		}

		@Delayed(delay = "1s", name = "single", policy = @TaskPolicy(maxConcurrent = 1))
		public CompletableFuture<Void> single(List<String> begun, String name, CompletableFuture<Void> end) {
			begun.add(name);
			return end;
		}

		@Delayed(delay = "1h", name = "failing")
		public CompletableFuture<String> failing() {
			return CompletableFuture.failedFuture(new IllegalStateException("async"));
		}

		@Timeout("2s")
		public String limited(Runnable work) {
			work.run();
			return "done";
		}

		@Timeout("2s")
		public CompletableFuture<String> answer() {
			return new CompletableFuture<>();
		}

	}

}
