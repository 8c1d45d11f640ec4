package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.scheduling.TaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/** What virtual time does with tasks in memory and in a store alike. */
@ParameterizedClass
@ValueSource(classes = { Jobs.InMemory.class, Jobs.Stored.class })
@TestApplication.WithStore
class BothKindsTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration SECOND = Duration.ofSeconds(1);

	@Parameter
	Class<? extends Jobs> kind;

	@Autowired
	private VirtualTime time;

	@Autowired
	private ApplicationContext context;

	@Autowired
	private DelayedTaskOperations tasks;

	@Autowired
	private Runs runs;

	@Autowired
	private DelayedTaskRegistry registry;

	@Autowired
	private DurableTaskAdmin admin;

	private Jobs jobs;

	private Instant start;

	@BeforeEach
	void begin() {
		this.jobs = this.context.getBean(this.kind);
		this.runs.clear();
		this.start = this.time.now();
	}

	@AfterEach
	void leaveNoInterrupt() {
		Thread.interrupted();
	}

	private TaskId id(String key) {
		return TaskId.of(this.jobs.name("run"), key);
	}

	@Test
	void bodiesRunOnThisThreadInDueOrderAtTheirTimes() {
		this.jobs.run("third", HOUR.multipliedBy(3));
		this.jobs.run("first", HOUR);
		this.jobs.run("second", HOUR.multipliedBy(2));
		this.time.advance(Duration.ofDays(1));
		assertThat(this.runs.names()).containsExactly("first", "second", "third");
		assertThat(this.runs.all()).containsExactly(this.start.plus(HOUR), this.start.plus(HOUR.multipliedBy(2)),
				this.start.plus(HOUR.multipliedBy(3)));
		assertThat(this.runs.threads()).containsOnly(Thread.currentThread());
		assertThat(this.time.now()).isEqualTo(this.start.plus(Duration.ofDays(1)));
	}

	@Test
	void dueTimesAreExactHoweverLongTheTestTakesAndHoweverFineTheTimesAre() {
		DelayedTask<Void> task = this.jobs.run("a", HOUR);
		letTheRealTimePass();
		assertThat(task.dueAt()).isEqualTo(this.time.now().plus(HOUR));
		assertThat(this.time).hasPending(this.jobs.name("run"), "a").dueIn(HOUR);
		this.time.advance(HOUR.minusMillis(1));
		assertThat(this.runs.names()).isEmpty();
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.runs.contexts()).singleElement().satisfies((context) -> {
			assertThat(context.dueAt()).isEqualTo(task.dueAt());
			assertThat(context.lateness()).isZero();
		});
		this.time.advance(Duration.ofNanos(50));
		this.jobs.run("b", HOUR);
		assertThat(this.time).hasPending(this.jobs.name("run"), "b").dueIn(HOUR);
		this.time.advance(HOUR);
		assertThat(this.runs.names()).containsExactly("a", "b");
	}

	private static void letTheRealTimePass() {
		long start = System.nanoTime();
		while (System.nanoTime() - start < 5_000_000) {
			Thread.onSpinWait();
		}
	}

	@Test
	void whatABodySchedulesMovesOrCancelsTakesEffectWithinTheSpan() {
		this.jobs.run("moved", HOUR.multipliedBy(5));
		this.jobs.run("cancelled", HOUR.plusMillis(1));
		this.runs.setBody((key) -> {
			if (key.equals("first")) {
				this.tasks.cancel(id("cancelled"));
				this.tasks.reschedule(id("moved"), Duration.ofMinutes(1));
				this.jobs.run("chained", Duration.ofMinutes(2));
				this.jobs.run("too late", HOUR.multipliedBy(3));
			}
		});
		this.jobs.run("first", HOUR);
		this.time.advance(HOUR.multipliedBy(2));
		assertThat(this.runs.names()).containsExactly("first", "moved", "chained");
		assertThat(this.time.pending(this.jobs.name("run"))).isOne();
	}

	@Test
	void aBodyCancelsATaskThatIsDueAtTheSameTime() {
		this.runs.setBody((key) -> this.tasks.cancel(id(key.equals("a") ? "b" : "a")));
		this.jobs.run("a", HOUR);
		this.jobs.run("b", HOUR);
		this.time.advance(HOUR);
		assertThat(this.runs.names()).hasSize(1);
	}

	@Test
	void aFailureIsThrownWhenTheWholeTimeHasPassed() {
		this.runs.setBody((key) -> {
			if (!key.equals("third")) {
				throw new IllegalStateException(key);
			}
		});
		this.jobs.run("first", HOUR);
		this.jobs.run("second", HOUR.plusSeconds(1));
		this.jobs.run("third", HOUR.multipliedBy(2));
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(HOUR.multipliedBy(2)))
			.withMessage("first")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).extracting(Throwable::getMessage).contains("second"));
		assertThat(this.runs.names()).endsWith("third");
		assertThat(this.time.now()).isEqualTo(this.start.plus(HOUR.multipliedBy(2)));
	}

	@Test
	void attemptsFollowABackoffThatDoesNotVary() {
		this.time.failNext(this.jobs.name("flaky"), new IllegalStateException("injected"));
		this.runs.setBody((name) -> {
			if (this.runs.names().size() == 1) {
				throw new IllegalStateException("second");
			}
		});
		this.jobs.flaky();
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(SECOND)).withMessage("injected");
		assertThat(this.time).hasPending(this.jobs.name("flaky")).dueIn(Duration.ofSeconds(10));
		assertThatIllegalStateException().isThrownBy(this.time::runAll).withMessage("second");
		assertThat(this.runs.all()).containsExactly(this.start.plusSeconds(11), this.start.plusSeconds(31));
		assertThat(this.runs.contexts()).extracting(DelayedTaskContext::attempt).containsExactly(2, 3);
	}

	/** The repetition before has used up the starts of its last minute. */
	@RepeatedTest(2)
	void aRateSpreadsTheStartsOverVirtualTime() {
		for (int i = 0; i < 3; i++) {
			this.jobs.send();
		}
		this.time.runAll();
		assertThat(this.runs.all()).hasSize(3).first().isEqualTo(this.start.plusSeconds(1));
		assertThat(Duration.between(this.runs.all().get(0), this.runs.all().get(2))).isBetween(Duration.ofMinutes(2),
				Duration.ofSeconds(121));
	}

	@Test
	void oneAfterAnotherIsAtTheSameTime() {
		for (int i = 0; i < 3; i++) {
			this.jobs.single();
		}
		this.time.advance(SECOND);
		assertThat(this.runs.all()).hasSize(3).containsOnly(this.start.plusSeconds(1));
	}

	@Test
	void aDebounceCannotStarve() {
		for (int i = 0; i < 12; i++) {
			this.jobs.index();
			this.time.advance(Duration.ofSeconds(5));
		}
		assertThat(this.runs.all()).containsExactly(this.start.plusSeconds(30), this.start.plusSeconds(60));
	}

	@RepeatedTest(2)
	void pausesOfANameAndOfTheNodeEndWithTheMethod() {
		this.jobs.single();
		this.time.advance(SECOND);
		assertThat(this.runs.all()).hasSize(1);
		this.registry.setPaused("single", true);
		this.admin.setPaused("stored-single", true);
		this.jobs.single();
		this.time.advance(SECOND);
		assertThat(this.runs.all()).hasSize(1);
		this.admin.pause();
	}

	@Test
	void runAllRunsWhatIsPendingHoweverFarAwayAndLeavesPausedTasksAlone() {
		this.runs.setBody((key) -> {
			if (key.length() < 3) {
				this.jobs.run(key + "a", Duration.ofDays(3));
			}
		});
		this.jobs.stopped();
		DelayedTask<?> repeating = this.tasks.task(() -> {
		}).name("repeating").every(Duration.ofDays(1));
		this.jobs.run("a", Duration.ofDays(30));
		this.time.runAll();
		assertThat(this.runs.names()).containsExactly("a", "aa", "aaa");
		assertThat(this.time.pending(this.jobs.name("stopped"))).isOne();
		assertThat(this.time.now()).isEqualTo(this.start.plus(Duration.ofDays(36)));
		assertThat(repeating.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
		repeating.cancel(false);
	}

	@Test
	void theContextCanStopAndStartAgain() {
		this.jobs.run("a", HOUR);
		((ConfigurableApplicationContext) this.context).stop();
		((ConfigurableApplicationContext) this.context).start();
		this.time.advance(HOUR);
		assertThat(this.runs.names()).containsExactly("a");
	}

	@Test
	void aBodyThatInterruptsItsThreadDisturbsNeitherAnotherNorTheTest(@Autowired TimingWheel wheel,
			@Autowired TaskScheduler scheduler) {
		List<Boolean> interrupted = new ArrayList<>();
		Runnable body = () -> {
			interrupted.add(Thread.currentThread().isInterrupted());
			Thread.currentThread().interrupt();
		};
		this.runs.setBody((key) -> body.run());
		this.jobs.run("a", SECOND);
		this.jobs.run("b", SECOND.multipliedBy(2));
		wheel.schedule(body, SECOND.multipliedBy(3));
		scheduler.schedule(body, this.time.now().plusSeconds(4));
		this.jobs.run("c", SECOND.multipliedBy(5));
		this.time.advance(HOUR);
		assertThat(Thread.interrupted()).as("the test is interrupted").isFalse();
		assertThat(interrupted).containsExactly(false, false, false, false, false);
		Thread.currentThread().interrupt();
		this.jobs.run("d", SECOND);
		this.time.advance(HOUR);
		assertThat(Thread.interrupted()).as("the test is interrupted").isTrue();
		assertThat(interrupted).hasSize(6).endsWith(false);
	}

	@Test
	void aTimeoutThatPassesDoesNotInterruptTheBodiesThatFollow(@Autowired Limited limited) {
		List<Boolean> interrupted = new ArrayList<>();
		this.runs.setBody((key) -> interrupted.add(Thread.currentThread().isInterrupted()));
		this.jobs.run("a", SECOND.multipliedBy(2));
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> limited.run(() -> this.time.advance(HOUR)));
		assertThat(Thread.interrupted()).as("the test is interrupted").isFalse();
		assertThat(interrupted).containsExactly(false);
	}

	@Test
	void noThreadOfOursRuns() {
		this.jobs.run("a", HOUR);
		this.time.advance(HOUR);
		// Threads of other tests may end a while after those.
		await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
			.noneMatch((name) -> name.startsWith("timing-wheel") || name.startsWith("task-")
					|| name.startsWith("delayed-")));
	}

	static class Limited {

		@Timeout("1s")
		public void run(Runnable work) {
			work.run();
		}

	}

}
