package io.timingwheel.spring.task.memory;

import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.TimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;
import org.springframework.core.task.TaskRejectedException;

import static io.timingwheel.spring.task.memory.VirtualTasks.NAME;
import static io.timingwheel.spring.task.memory.VirtualTasks.id;
import static io.timingwheel.spring.task.memory.VirtualTasks.limits;
import static io.timingwheel.spring.task.memory.VirtualTasks.paused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class TaskShutdownTests {

	private final RealTasks tasks = new RealTasks(4,
			Map.of("limited", limits(1, null, null), "paused", paused(PolicySettings.NONE)));

	private final DelayedTaskRegistry registry = this.tasks.registry;

	private final DelayedTaskOperations template = this.tasks.template;

	private final List<String> ran = new CopyOnWriteArrayList<>();

	@AfterEach
	void close() {
		this.tasks.close();
	}

	@Test
	void runsTheTasksThatWaitForALimitAndCancelsThoseOfAPausedName() throws Exception {
		CountDownLatch go = new CountDownLatch(1);
		for (int i = 0; i < 20; i++) {
			this.template.task(() -> {
				go.await();
				return this.ran.add("limited");
			}).name("limited").after(Duration.ZERO);
		}
		DelayedTask<?> paused = this.template.task(() -> this.ran.add("paused")).name("paused").after(Duration.ZERO);
		await().until(() -> this.registry.waiting("limited") == 19 && this.registry.waiting("paused") == 1);
		go.countDown();
		assertThat(this.registry.atShutdown().runDue(Duration.ofSeconds(30))).isTrue();
		assertThat(this.ran).hasSize(20).containsOnly("limited");
		assertThat(paused.isCancelled()).isTrue();
	}

	@Test
	void refusesTasksAfterTheStop() {
		this.registry.atShutdown().stopAccepting();
		assertThatExceptionOfType(TaskRejectedException.class)
			.isThrownBy(() -> this.template.schedule(id(1), Duration.ZERO, () -> {
			}))
			.withMessage("The task \"work\" was not accepted: the application is shutting down");
		assertThat(this.registry.pendingCount()).isZero();
	}

	@ParameterizedTest
	@EnumSource(IfPending.class)
	void aCallThatIsOvertakenByTheStopLeavesThePendingTaskToRun(IfPending ifPending) throws Exception {
		DelayedTask<?> pending = this.template.schedule(id(1), Duration.ofMillis(50), () -> this.ran.add("pending"));
		TaskDefinition stopping = new TaskDefinition(this.registry, NAME, () -> {
			this.registry.atShutdown().stopAccepting();
			return this.tasks.pool;
		}, null) {

			@Override
			protected Object run(Object payload) {
				return TaskShutdownTests.this.ran.add("overtaken");
			}

		};
		TaskSubmission overtaken = new TaskSubmission(stopping, "1", ifPending, null, "", true);
		assertThatExceptionOfType(TaskRejectedException.class)
			.isThrownBy(() -> overtaken.schedule(this.registry.clock().after(Duration.ofMillis(50))));
		assertThat(this.registry.atShutdown().runDue(Duration.ofMinutes(2))).isTrue();
		pending.get(2, TimeUnit.MINUTES);
		assertThat(this.ran).containsExactly("pending");
	}

	@Test
	void aTaskThatTheShutdownHasNotSeenIsCancelledByItsOwnThread() {
		AtomicReference<TaskShutdown> shutdown = new AtomicReference<>();
		TimingWheel stopping = (TimingWheel) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { TimingWheel.class }, (proxy, method, arguments) -> {
					if (method.getName().startsWith("schedule")) {
						shutdown.get().stopAccepting();
						assertThat(shutdown.get().cancelPending()).isZero();
					}
					return method.invoke(this.tasks.wheel, arguments);
				});
		DelayedTaskRegistry registry = new DelayedTaskRegistry(stopping,
				new TaskClock(TimeSource.system(), Clock.systemUTC(), null), new HandOverExecutors(false), null, null,
				VirtualTasks.policies(Map.of()));
		shutdown.set(registry.atShutdown());
		DelayedTask<?> task = new DefaultDelayedTaskTemplate(registry, VirtualTasks.executors(this.tasks.pool),
				new SimpleAsyncUncaughtExceptionHandler(), null)
			.schedule(id(1), Duration.ofHours(1), () -> {
			});
		assertThat(task.isCancelled()).isTrue();
		assertThat(registry.pendingCount()).isZero();
		assertThat(this.tasks.wheel.pending()).isZero();
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
		}).id(id("repeating")).every(Duration.ofSeconds(1)));
		assertThat(tasks.registry.pendingCount()).isOne();
		tasks.advanceSeconds(5);
		assertThat(duringTheRun).containsExactly(0L, 0L, Status.RUNNING);
		assertThat(handle.get().status()).isEqualTo(Status.CANCELLED);
		assertThat(tasks.registry.pendingCount()).isZero();
	}

	@Test
	void aTaskThatIsMovedBeyondTheEndOfTheShutdownIsCancelled() {
		VirtualTasks tasks = new VirtualTasks();
		DelayedTask<?> task = tasks.schedule("moved", 1000);
		tasks.registry.atShutdown().stopAccepting();
		tasks.registry.atShutdown().setLastDue(tasks.time.nanoTime() + Duration.ofSeconds(5).toNanos());
		assertThat(task.reschedule(Duration.ofSeconds(2))).isTrue();
		assertThat(task.isDone()).isFalse();
		task.reschedule(Duration.ofSeconds(10));
		assertThat(task.isCancelled()).isTrue();
		assertThat(tasks.wheel.pending()).isZero();
	}

}
