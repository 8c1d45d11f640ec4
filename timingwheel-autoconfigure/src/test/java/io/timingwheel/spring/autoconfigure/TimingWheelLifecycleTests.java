package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelProperties.Shutdown.Pending;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.TimingWheelTaskScheduler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class TimingWheelLifecycleTests {

	private static final Duration SOON = Duration.ofMinutes(1);

	private final VirtualApplication app = VirtualApplication.of(Drivers.class, Successor.class).withExecutors();

	@AfterEach
	void close() {
		this.app.close();
	}

	@Test
	void closingCancelsWhatWaitsForAnExecutorAndWaitsForBodiesBeforeItStopsTheExecutors(CapturedOutput output)
			throws Exception {
		Successor successor = this.app.with("spring.task.execution.pool.core-size=1").bean(Successor.class);
		CompletableFuture<String> release = new CompletableFuture<>();
		DelayedTask<String> running = running(release);
		DelayedTask<String> waiting = this.app.tasks().schedule(Duration.ZERO, () -> "never");
		this.app.advance(Duration.ZERO);
		Thread closing = inBackground(this.app::close);
		await().until(() -> waiting.status() == Status.CANCELLED);
		awaitWaiting(closing);
		// The successor stops after the tasks and before the executors.
		assertThat(successor.isRunning()).isTrue();
		release.complete("done");
		closing.join();
		assertThat(successor.isRunning()).isFalse();
		assertThat(running.completion()).succeedsWithin(SOON);
		assertThat(output).doesNotContain("await-termination-period");
	}

	@Test
	void closingWarnsOfBodiesThatOutliveThePeriod(CapturedOutput output) throws Exception {
		this.app.with("timingwheel.shutdown.await-termination-period=10ms");
		CompletableFuture<String> release = new CompletableFuture<>();
		DelayedTask<String> task = running(release);
		Thread closing = inBackground(this.app::close);
		await().untilAsserted(() -> assertThat(output).contains("Still running after 10ms: 1 of the delayed tasks"));
		release.complete("late");
		closing.join();
		assertThat(task.completion()).succeedsWithin(SOON).isEqualTo("late");
	}

	private DelayedTask<String> running(CompletableFuture<String> release) {
		DelayedTask<String> task = this.app.tasks().schedule(Duration.ZERO, release::join);
		this.app.advance(Duration.ZERO);
		await().until(() -> task.status() == Status.RUNNING);
		return task;
	}

	/**
	 * An executor that exists at the ContextClosedEvent, and shuts down early and
	 * strictly, refuses tasks from then on.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void pendingTasksThatAreDueWithinThePeriodRunAndTheOthersAreCancelled(boolean strict) throws Exception {
		ThreadPoolTaskExecutorCustomizer customizer = (executor) -> executor.setStrictEarlyShutdown(strict);
		this.app.with("timingwheel.shutdown.pending=run", "timingwheel.shutdown.await-termination-period=1m")
			.with(ThreadPoolTaskExecutorCustomizer.class, () -> customizer)
			.context()
			.getBean("applicationTaskExecutor");
		DelayedTask<String> within = this.app.tasks()
			.schedule(Duration.ofMinutes(1), () -> Thread.currentThread().getName());
		DelayedTask<String> beyond = this.app.tasks().schedule(Duration.ofMinutes(1).plusNanos(1), () -> "never");
		CompletableFuture<DelayedTask<String>> ofRequest = new CompletableFuture<>();
		this.app.context()
			.addApplicationListener((ContextClosedEvent event) -> ofRequest
				.complete(this.app.tasks().schedule(Duration.ofMinutes(1), () -> "of a request in progress")));
		assertThat(this.app.bean(TimingWheelLifecycle.class).getPhase()).as("stops after the web server")
			.isLessThan(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE);
		Thread closing = inBackground(this.app::close);
		await().until(() -> beyond.status() == Status.CANCELLED);
		awaitWaiting(closing);
		this.app.advance(Duration.ofMinutes(1).minusNanos(1));
		assertThat(within.status()).isEqualTo(Status.SCHEDULED);
		assertThat(closing.isAlive()).isTrue();
		this.app.advance(Duration.ofNanos(1));
		closing.join(SOON.toMillis());
		assertThat(closing.isAlive()).isFalse();
		assertThat(within.completion()).succeedsWithin(SOON).asString().startsWith("task-");
		assertThat(ofRequest.join().completion()).succeedsWithin(SOON);
	}

	@Test
	void aContextThatIsPausedOrStoppedKeepsItsTasksAndStartsNoBodyAlsoOnAnExecutorWithoutLifecycle() {
		AtomicInteger threads = new AtomicInteger();
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor((task) -> {
			threads.incrementAndGet();
			return new Thread(task);
		});
		ConfigurableApplicationContext context = this.app
			.with("applicationTaskExecutor", TaskExecutor.class, () -> executor)
			.with(Scheduler.class)
			.context();
		List<String> ran = this.app.calls();
		DelayedTask<String> annotated = this.app.bean(Drivers.class).silent("d1");
		DelayedTask<?> task = this.app.tasks().schedule(Duration.ofMinutes(1), () -> ran.add("task"));
		DelayedTask<?> periodic = this.app.tasks().task(() -> ran.add("periodic")).every(Duration.ofMinutes(7));
		this.app.bean(TimingWheelTaskScheduler.class)
			.scheduleWithFixedDelay(() -> ran.add("scheduled"), Instant.now().plus(Duration.ofMinutes(7)),
					Duration.ofHours(1));
		for (Runnable pause : List.<Runnable>of(context::pause, context::stop)) {
			pause.run();
			this.app.advance(Duration.ofMinutes(10));
			assertThat(threads).hasValue(0);
			assertThat(ran).isEmpty();
			assertThat(this.app.pending()).isEqualTo(3);
			assertThat(this.app.bean(TimingWheel.class).snapshot().refused()).isZero();
		}
		DelayedTask<String> meanwhile = this.app.tasks().schedule(Duration.ofMinutes(1), () -> "meanwhile");
		context.start();
		assertThat(annotated.completion()).succeedsWithin(SOON);
		assertThat(task.completion()).succeedsWithin(SOON);
		this.app.advance(Duration.ofMinutes(1));
		assertThat(meanwhile.completion()).succeedsWithin(SOON);
		await().untilAsserted(() -> assertThat(ran).contains("task", "periodic", "scheduled"));
		periodic.cancel(false);
	}

	@ParameterizedTest
	@EnumSource
	void aContextThatIsClosedWhileItIsStoppedCancelsItsTasks(Pending pending) {
		DelayedTask<String> task = this.app.with("timingwheel.shutdown.pending=" + pending)
			.tasks()
			.schedule(Duration.ofSeconds(1), () -> "never");
		this.app.context().stop();
		this.app.close();
		assertThat(task.status()).isEqualTo(Status.CANCELLED);
	}

	@Test
	void theEndOfAChildContextDoesNotEndTheTasksOfItsParent() {
		ConfigurableApplicationContext parent = this.app.context();
		DelayedTask<String> task = this.app.tasks().schedule(Duration.ofMinutes(1), () -> "parent");
		AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
		child.setParent(parent);
		child.refresh();
		child.close();
		parent.stop();
		parent.start();
		this.app.advance(Duration.ofMinutes(1));
		assertThat(task.completion()).succeedsWithin(SOON).isEqualTo("parent");
		assertThat(parent.getBean(TimingWheel.class).snapshot().state()).isEqualTo(WheelSnapshot.State.RUNNING);
	}

	private static Thread inBackground(Runnable action) {
		Thread thread = new Thread(action);
		thread.start();
		return thread;
	}

	private static void awaitWaiting(Thread thread) {
		await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
	}

	static class Drivers {

		@Delayed(delay = "10m", name = "driver-silent", key = "#driverId")
		DelayedTask<String> silent(String driverId) {
			return DelayedTask.completed(driverId);
		}

	}

	static class Scheduler {

		@Bean
		TimingWheelTaskScheduler wheelScheduler(TimingWheel wheel) {
			return new TimingWheelTaskScheduler(wheel);
		}

	}

	/** Stops directly after the tasks. */
	static class Successor implements SmartLifecycle {

		private volatile boolean running;

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return TimingWheelLifecycle.PHASE - 1;
		}

	}

}
