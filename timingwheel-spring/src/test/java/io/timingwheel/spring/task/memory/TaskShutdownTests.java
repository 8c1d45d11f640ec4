package io.timingwheel.spring.task.memory;

import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.TimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;
import org.springframework.core.task.TaskRejectedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class TaskShutdownTests {

	private final ExecutorService pool = Executors.newFixedThreadPool(4);

	private final TimingWheel wheel = TimingWheel.builder(this.pool).build();

	private final DelayedTaskRegistry registry = new DelayedTaskRegistry(this.wheel,
			new TaskClock(TimeSource.system(), Clock.systemUTC()), new HandOverExecutors(), null, null,
			TaskPolicies.none());

	private final DelayedTaskOperations template = new DefaultDelayedTaskTemplate(this.registry,
			VirtualTasks.executors(this.pool), new SimpleAsyncUncaughtExceptionHandler(), null);

	private final List<String> ran = new CopyOnWriteArrayList<>();

	private Runnable stop = () -> {
	};

	@AfterEach
	void close() {
		this.wheel.close();
		this.pool.shutdownNow();
	}

	@Test
	void runsTasksThatFallDueWithinThePeriodNeverEarlyAndCancelsTheOthers() throws Exception {
		long start = System.nanoTime();
		this.template.schedule(Duration.ofMillis(300),
				() -> this.ran.add("" + (System.nanoTime() - start) / 1_000_000));
		DelayedTask<?> late = this.template.schedule(Duration.ofHours(1), () -> this.ran.add("late"));
		assertThat(this.registry.atShutdown().runDue(Duration.ofMinutes(10))).isTrue();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(300),
				Duration.ofMinutes(5));
		assertThat(this.ran).singleElement()
			.satisfies((millis) -> assertThat(Long.parseLong(millis)).isGreaterThanOrEqualTo(300));
		assertThat(late.isCancelled()).isTrue();
		assertThat(this.registry.pendingCount()).isZero();
	}

	@Test
	void waitsForTheBodiesThatRun() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		this.template.schedule(Duration.ZERO, () -> {
			begun.countDown();
			release.await(2, TimeUnit.MINUTES);
			return this.ran.add("done");
		});
		begun.await();
		assertThat(this.registry.atShutdown().awaitRunning(Duration.ofMillis(50))).isFalse();
		this.registry.atShutdown().stopAccepting();
		assertThat(this.registry.atShutdown().cancelPending()).isZero();
		new Thread(release::countDown).start();
		assertThat(this.registry.atShutdown().awaitRunning(Duration.ofMinutes(2))).isTrue();
		assertThat(this.ran).containsExactly("done");
	}

	@Test
	void refusesTasksAfterTheStop() {
		this.registry.atShutdown().stopAccepting();
		assertThatExceptionOfType(TaskRejectedException.class)
			.isThrownBy(() -> this.template.schedule(TaskId.of("n", 1), Duration.ZERO, () -> {
			}))
			.withMessage("The task \"n\" was not accepted: the application is shutting down");
		assertThat(this.registry.pendingCount()).isZero();
	}

	@ParameterizedTest
	@EnumSource(IfPending.class)
	void aCallThatIsOvertakenByTheStopLeavesThePendingTaskToRun(IfPending ifPending) throws Exception {
		TaskId id = TaskId.of("n", 1);
		DelayedTask<?> pending = this.template.schedule(id, Duration.ofMillis(50), () -> this.ran.add("pending"));
		TaskSubmission overtaken = new TaskSubmission(
				definition(id.name(), () -> this.registry.atShutdown().stopAccepting()), id.key(), ifPending, null,
				"late", true);
		assertThatExceptionOfType(TaskRejectedException.class)
			.isThrownBy(() -> overtaken.schedule(this.registry.clock().after(Duration.ofMillis(50))));
		assertThat(this.registry.atShutdown().runDue(Duration.ofMinutes(2))).isTrue();
		pending.get(2, TimeUnit.MINUTES);
		assertThat(this.ran).containsExactly("pending");
		assertThat(pending.status()).isEqualTo(DelayedTask.Status.SUCCEEDED);
	}

	@Test
	void aTaskThatTheShutdownHasNotSeenIsCancelledByItsOwnThread() {
		TimingWheel stopping = (TimingWheel) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { TimingWheel.class }, (proxy, method, arguments) -> {
					if (method.getName().startsWith("schedule")) {
						this.stop.run();
					}
					return method.invoke(this.wheel, arguments);
				});
		DelayedTaskRegistry registry = new DelayedTaskRegistry(stopping,
				new TaskClock(TimeSource.system(), Clock.systemUTC()), new HandOverExecutors(), null, null,
				TaskPolicies.none());
		this.stop = () -> {
			registry.atShutdown().stopAccepting();
			assertThat(registry.atShutdown().cancelPending()).isZero();
		};
		DelayedTask<?> task = new DefaultDelayedTaskTemplate(registry, VirtualTasks.executors(this.pool),
				new SimpleAsyncUncaughtExceptionHandler(), null)
			.schedule(TaskId.of("n", 1), Duration.ofHours(1), () -> {
			});
		assertThat(task.isCancelled()).isTrue();
		assertThat(registry.pendingCount()).isZero();
		assertThat(this.wheel.pending()).isZero();
	}

	/**
	 * Tasks whose executor is looked up after something else.
	 */
	private TaskDefinition<Object> definition(String name, Runnable beforeLookup) {
		return new TaskDefinition<>(this.registry, name, () -> {
			beforeLookup.run();
			return this.pool;
		}, null) {

			@Override
			protected Object run(Object payload) {
				return TaskShutdownTests.this.ran.add(payload.toString());
			}

		};
	}

	@Test
	void noFutureHangsThatRacesWithTheShutdown() throws Exception {
		List<DelayedTask<?>> accepted = new CopyOnWriteArrayList<>();
		CountDownLatch started = new CountDownLatch(2);
		List<Thread> threads = List.of(new Thread(() -> scheduleUntilRejected(accepted, started)),
				new Thread(() -> scheduleUntilRejected(accepted, started)));
		threads.forEach(Thread::start);
		started.await();
		this.registry.atShutdown().stopAccepting();
		this.registry.atShutdown().cancelPending();
		for (Thread thread : threads) {
			thread.join();
		}
		assertThat(accepted).isNotEmpty().allMatch(DelayedTask::isDone);
		assertThat(this.registry.pendingCount()).isZero();
		assertThat(this.wheel.pending()).isZero();
	}

	private void scheduleUntilRejected(List<DelayedTask<?>> accepted, CountDownLatch started) {
		try {
			while (true) {
				accepted.add(this.template.schedule(Duration.ofHours(1), () -> {
				}));
				started.countDown();
			}
		}
		catch (TaskRejectedException ex) {
			// The shutdown ends the loop.
		}
	}

	@Test
	void aRepeatingTaskThatRunsIsNotPendingAndItsHandleIsDoneAfterTheRun() {
		VirtualTasks tasks = new VirtualTasks();
		List<Object> duringTheRun = new ArrayList<>();
		AtomicReference<DelayedTask<?>> handle = new AtomicReference<>();
		handle.set(tasks.template.task(() -> {
			duringTheRun.add(tasks.registry.pendingCount());
			tasks.registry.atShutdown().stopAccepting();
			duringTheRun.add(tasks.registry.atShutdown().cancelPending());
			duringTheRun.add(handle.get().status());
		}).id(TaskId.of("repeating", 1)).every(Duration.ofSeconds(1)));
		assertThat(tasks.registry.pendingCount()).isOne();
		tasks.advanceSeconds(5);
		assertThat(duringTheRun).containsExactly(0L, 0L, Status.RUNNING);
		assertThat(handle.get().status()).isEqualTo(Status.CANCELLED);
		assertThat(tasks.registry.pendingCount()).isZero();
	}

}
