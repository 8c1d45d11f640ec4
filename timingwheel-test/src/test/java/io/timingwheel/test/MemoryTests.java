package io.timingwheel.test;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
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
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.test.VirtualTime.OnFailure;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
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

	@Autowired
	private TimingWheel wheel;

	@Autowired
	private ConfigurableApplicationContext context;

	private final String thread = Thread.currentThread().getName();

	@Test
	void bodiesRunOnThisThreadInDueOrderAtTheirTimesWhateverTheirExecutorIs() throws Exception {
		this.tasks.log().clear();
		Instant start = this.time.now();
		this.tasks.named("second", Duration.ofSeconds(2));
		this.tasks.plain("third", Duration.ofMillis(2500));
		this.tasks.plain("first", Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.tasks.log()).containsExactly("first at " + start.plusSeconds(1) + " on " + this.thread,
				"second at " + start.plusSeconds(2) + " on " + this.thread,
				"third at " + start.plusMillis(2500) + " on " + this.thread);
		assertThat(this.time.now()).isEqualTo(start.plusSeconds(3));
	}

	@Test
	void whatABodySchedulesWithinTheSpanRunsToo() throws Exception {
		List<String> ran = new ArrayList<>();
		this.operations.schedule(Duration.ofMinutes(1), () -> {
			ran.add("outer");
			this.operations.schedule(Duration.ofMinutes(1), () -> {
				ran.add("inner");
			});
			this.operations.schedule(Duration.ofHours(2), () -> {
				ran.add("late");
			});
		});
		this.time.advance(HOUR);
		assertThat(ran).containsExactly("outer", "inner");
		assertThat(this.time).hasPendingCount("unnamed", 1);
	}

	@Test
	void futuresAreCompleteWhenAdvanceReturns() throws Exception {
		CompletableFuture<String> called = this.tasks.named("result", HOUR);
		CompletableFuture<Integer> dependent = called.thenApply(String::length);
		this.time.advance(HOUR);
		assertThat(called.get()).isEqualTo("result");
		assertThat(dependent).isCompletedWithValue(6);
	}

	@Test
	void theContextOfABodyHasVirtualTimes() {
		AtomicReference<DelayedTaskContext> context = new AtomicReference<>();
		Instant due = this.time.now().plus(HOUR);
		this.operations.schedule(HOUR, () -> context.set(DelayedTaskContext.current().orElseThrow()));
		DelayedTask<Void> task = this.operations.task(() -> {
		}).at(due);
		assertThat(task.dueAt()).isEqualTo(due);
		this.time.advanceTo(due);
		assertThat(context.get().dueAt()).isEqualTo(due);
		assertThat(context.get().lateness()).isZero();
		assertThat(task).isDone();
	}

	@Test
	void aDecoratorAndContextPropagationStillAct() {
		Config.decorated.set(0);
		this.operations.schedule(HOUR, () -> Config.decorated.addAndGet(100));
		this.time.advance(HOUR);
		assertThat(Config.decorated).hasValue(101);
	}

	@Test
	void theSchedulerOnTheWheelGoesByVirtualTime() {
		List<Instant> runs = new ArrayList<>();
		Instant start = this.time.now();
		var schedule = this.scheduler.scheduleAtFixedRate(() -> runs.add(this.time.now()), start.plusSeconds(10),
				Duration.ofSeconds(10));
		this.time.advance(Duration.ofSeconds(35));
		schedule.cancel(false);
		assertThat(runs).containsExactly(start.plusSeconds(10), start.plusSeconds(20), start.plusSeconds(30));
	}

	@Test
	void aTimeoutPassesWhenTheTimeIsMoved() {
		assertThat(this.tasks.limited(() -> this.time.advance(Duration.ofSeconds(1)))).isEqualTo("done");
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.tasks.limited(() -> this.time.advance(Duration.ofSeconds(2))));
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void theTimeoutOfAFuturePassesWhenTheTimeIsMoved() {
		CompletableFuture<String> answer = this.tasks.answer();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(answer).isNotDone();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(answer).isDone();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(answer::join)
			.withCauseInstanceOf(MethodTimeoutException.class);
	}

	@Test
	void theTimeoutOfAnotherThreadPassesToo() throws Exception {
		CountDownLatch entered = new CountDownLatch(1);
		CompletableFuture<String> result = new CompletableFuture<>();
		Thread caller = new Thread(() -> {
			try {
				result.complete(this.tasks.limited(() -> {
					entered.countDown();
					while (!Thread.currentThread().isInterrupted()) {
						LockSupport.park();
					}
				}));
			}
			catch (RuntimeException ex) {
				result.completeExceptionally(ex);
			}
		});
		caller.start();
		entered.await();
		this.time.advance(Duration.ofSeconds(2));
		caller.join();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join)
			.withCauseInstanceOf(MethodTimeoutException.class)
			.satisfies((ex) -> assertThat(ex.getCause().getSuppressed()).singleElement()
				.satisfies((stack) -> assertThat(stack).hasMessageContaining("at the deadline")));
		awaitNoThread("timeout-");
	}

	@Test
	void anExceptionIsThrownWhenTheWholeTimeHasPassed() {
		Instant end = this.time.now().plus(HOUR);
		List<String> ran = new ArrayList<>();
		IllegalStateException first = new IllegalStateException("first");
		IllegalStateException second = new IllegalStateException("second");
		this.operations.schedule(Duration.ofSeconds(1), () -> {
			throw first;
		});
		DelayedTask<String> seen = this.operations.schedule(Duration.ofSeconds(2), () -> {
			throw second;
		});
		this.operations.schedule(Duration.ofSeconds(3), () -> {
			ran.add("third");
		});
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
			.isSameAs(first)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(second));
		assertThat(seen.completion()).isCompletedExceptionally();
		assertThat(ran).containsExactly("third");
		assertThat(this.time.now()).isEqualTo(end);
		this.time.advance(HOUR);
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
	void exceptionsAreCollectedIfTheTestAsks() {
		this.time.onFailure(OnFailure.COLLECT);
		IllegalStateException boom = new IllegalStateException("boom");
		List<String> ran = new ArrayList<>();
		this.operations.task(() -> {
			ran.add("beat");
		}).name("beat").after(HOUR);
		this.operations.task(() -> {
			ran.add("beat");
		}).name("beat").after(HOUR.plusSeconds(1));
		this.time.failNext("beat", boom);
		this.time.advance(HOUR.multipliedBy(2));
		assertThat(this.time.failures()).containsExactly(boom);
		assertThat(ran).containsExactly("beat");
	}

	@Test
	void whatWasCollectedIsNotThrownLater() {
		IllegalStateException first = new IllegalStateException("first");
		IllegalStateException second = new IllegalStateException("second");
		this.operations.task(() -> {
			throw first;
		}).name("first").after(Duration.ofMinutes(1));
		this.operations.task(() -> {
			throw second;
		}).name("second").after(HOUR.plusMinutes(1));
		this.time.onFailure(OnFailure.COLLECT);
		this.time.advance(HOUR);
		this.time.onFailure(OnFailure.THROW);
		this.time.advance(Duration.ZERO);
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
			.isSameAs(second)
			.withNoCause()
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(this.time.failures()).containsExactly(first);
	}

	@Test
	void wrongCallsGetAMessage() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.time.advance(Duration.ofMinutes(-5)))
			.withMessageContaining("cannot go back: the duration is PT-5M");
		assertThatIllegalArgumentException().isThrownBy(() -> this.time.advanceTo(this.time.now().minusMillis(1)))
			.withMessageContaining("cannot go back");
		this.operations.schedule(HOUR, () -> this.time.advance(HOUR));
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
			.withMessageContaining("The body of a task cannot move the time");
		this.operations.schedule(HOUR, this.time::reset);
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
			.withMessageContaining("The body of a task cannot begin anew");
		assertThatIllegalStateException().isThrownBy(() -> this.time.deliverTwice(true))
			.withMessageContaining("deliverTwice")
			.withMessageContaining("timingwheel.store.type");
		assertThatIllegalStateException().isThrownBy(() -> this.time.crashBeforeAcknowledge("plain"))
			.withMessageContaining("no store");
	}

	@Test
	void theContextCanPauseAndGoOnAsTheCacheOfContextsMakesIt() throws Exception {
		this.context.stop();
		this.context.start();
		DelayedTask<String> task = this.operations.task(() -> "ran").after(HOUR);
		this.time.advance(HOUR);
		assertThat(task.completion()).isCompletedWithValue("ran");
	}

	@Test
	void waitingForAPendingTaskFailsInPlaceOfHanging() {
		DelayedTask<String> task = this.operations.task(() -> "late").name("report").after(HOUR);
		assertThatIllegalStateException().isThrownBy(task::get)
			.withMessageContaining("\"report\", which is due in 1h")
			.withMessageContaining("time.advance");
		assertThatIllegalStateException().isThrownBy(() -> task.completion().join());
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> task.get(1, TimeUnit.DAYS));
		this.operations.schedule(Duration.ofMinutes(1), () -> task.get());
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR))
			.withMessageContaining("The body of a task waits");
		assertThat(task.completion()).isCompletedWithValue("late");
	}

	@Test
	void anotherThreadMayWaitForATask() throws Exception {
		DelayedTask<String> task = this.operations.task(() -> "late").after(HOUR);
		CompletableFuture<String> waiting = new CompletableFuture<>();
		Thread waiter = new Thread(() -> {
			try {
				waiting.complete(task.get());
			}
			catch (Exception ex) {
				waiting.completeExceptionally(ex);
			}
		});
		waiter.start();
		this.time.advance(HOUR);
		assertThat(waiting.get(60, TimeUnit.SECONDS)).isEqualTo("late");
		waiter.join();
	}

	@Test
	void runAllRunsWhatIsPendingAndLeavesSchedulesAlone() {
		List<String> ran = new ArrayList<>();
		DelayedTask<Void> schedule = this.operations.task(() -> {
			ran.add("tick");
		}).name("tick").every(Duration.ofDays(1));
		this.operations.schedule(Duration.ofHours(30), () -> {
			ran.add("once");
			this.operations.schedule(Duration.ofDays(2), () -> {
				ran.add("chained");
			});
		});
		Instant end = this.time.now().plus(Duration.ofHours(78));
		this.time.runAll();
		assertThat(this.time.now()).isEqualTo(end);
		assertThat(ran).containsExactly("tick", "once", "tick", "tick", "chained");
		assertThat(schedule.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
	}

	@Test
	void anAssertionThatFailsSaysWhatIsPending() throws Exception {
		this.tasks.plain("41", Duration.ofMinutes(29));
		this.tasks.plain("43", Duration.ofMinutes(30));
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(this.time).hasPending("plain", 42))
			.withMessage("expected a pending plain 42; pending are plain 41 (due in 29m), plain 43 (due in 30m)");
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.time).hasPending("plain", 41).dueIn(HOUR))
			.withMessageContaining("expected plain 41 to be due in 1h, but it is due in 29m");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(this.time).hasNothingPending())
			.withMessageContaining("expected no pending task; pending are plain 41");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(this.time).hasPending("absent"))
			.withMessageContaining("expected a pending absent");
		assertThat(this.time).hasPending("plain", 43).isInMemory().dueAt(this.time.now().plus(Duration.ofMinutes(30)));
		assertThat(this.time.tasks("plain")).extracting(PendingTask::key).containsExactly("41", "43");
		assertThat(this.time.pending("plain")).isEqualTo(2);
	}

	@Test
	void aTaskIsNotLateHoweverFineTheTimesAre() {
		this.time.advance(Duration.ofNanos(50));
		DelayedTask<Void> task = this.operations.schedule(HOUR, () -> {
		});
		assertThat(task.dueAt()).isEqualTo(this.time.now().plus(HOUR));
		this.time.advance(HOUR.minusNanos(1));
		assertThat(task).isNotDone();
		this.time.advance(Duration.ofNanos(1));
		assertThat(task).isDone();
	}

	@Test
	void theClockGoesByVirtualTime() {
		Clock clock = this.time.clock();
		Instant start = clock.instant();
		this.time.advance(Duration.ofDays(400));
		assertThat(clock.instant()).isEqualTo(start.plus(Duration.ofDays(400)));
	}

	@Test
	@Tag("measuring")
	void aYearWithTenThousandTasksTakesNoTime() {
		int[] ran = { 0 };
		IntStream.range(0, 10_000).forEach((i) -> this.operations.task(() -> {
			ran[0]++;
		}).name("year").after(Duration.ofMinutes(52L * i)));
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		long start = threads.getCurrentThreadCpuTime();
		this.time.advance(Duration.ofDays(366));
		long millis = TimeUnit.NANOSECONDS.toMillis(threads.getCurrentThreadCpuTime() - start);
		System.out.println("A year with 10,000 tasks in memory: " + millis + " ms of CPU time");
		assertThat(ran[0]).isEqualTo(10_000);
		assertThat(millis).isLessThan(1000);
	}

	@Test
	void noThreadOfOursRuns() throws Exception {
		this.tasks.plain("a", HOUR);
		this.tasks.named("b", HOUR);
		this.time.advance(HOUR);
		awaitNoThread("timing-wheel", "delayed-", "task-", "timeout-");
	}

	/**
	 * Threads of other tests may end a while after those.
	 */
	private static void awaitNoThread(String... prefixes) {
		await().untilAsserted(
				() -> assertThat(threads()).noneMatch((name) -> Stream.of(prefixes).anyMatch(name::startsWith)));
	}

	private static List<String> threads() {
		return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Config {

		static final java.util.concurrent.atomic.AtomicInteger decorated = new java.util.concurrent.atomic.AtomicInteger();

		@Bean
		Tasks tasks(ObjectProvider<VirtualTime> time) {
			return new Tasks(time.getObject());
		}

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

}
