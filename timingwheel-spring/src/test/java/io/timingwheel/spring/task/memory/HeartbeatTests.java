package io.timingwheel.spring.task.memory;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.junit.jupiter.api.Test;

import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which methods of the wheel a heartbeat calls: a task with an id that is scheduled again
 * while it is pending.
 */
class HeartbeatTests {

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	/** The methods of the wheel and of its handles that were called. */
	private final List<String> calls = new ArrayList<>();

	private final DelayedTaskOperations template = new DefaultDelayedTaskOperations(
			new DelayedTaskRegistry(recording(TimingWheel.class, this.wheel),
					new TaskClock(this.time, Clock.systemUTC()), new HandOverExecutors(), null, null,
					TaskPolicies.none()),
			VirtualTasks.executors(VirtualTasks.prompt(Runnable::run)), new SimpleAsyncUncaughtExceptionHandler(),
			null);

	/**
	 * The deadline comes from a reading of the clock, so the wheel needs no other one.
	 */
	@Test
	void aHeartbeatMovesTheTimerByDeadline() {
		AtomicInteger runs = new AtomicInteger();
		beat(runs);
		this.time.advance(Duration.ofSeconds(20));
		this.calls.clear();
		DelayedTask<?> last = beat(runs);
		assertThat(this.calls).filteredOn((call) -> call.contains("schedule")).containsExactly("rescheduleAt");
		this.time.advance(Duration.ofSeconds(29));
		assertThat(runs).hasValue(0);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(runs).hasValue(1);
		assertThat(last.status()).isEqualTo(DelayedTask.Status.SUCCEEDED);
		assertThat(this.wheel.snapshot().scheduled()).isOne();
	}

	private DelayedTask<?> beat(AtomicInteger runs) {
		return this.template.schedule(TaskId.of("expire", 1), Duration.ofSeconds(30), runs::incrementAndGet);
	}

	private <T> T recording(Class<T> type, T target) {
		return type.cast(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> {
					this.calls.add(method.getName());
					try {
						Object result = method.invoke(target, arguments);
						return (result instanceof TimerHandle handle) ? recording(TimerHandle.class, handle) : result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				}));
	}

}
