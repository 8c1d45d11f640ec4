package io.timingwheel.spring.task.memory;

import java.time.Clock;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;

import io.timingwheel.TimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;

import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;

/** Tasks in real time, whose bodies run on a pool. */
final class RealTasks implements AutoCloseable {

	final ExecutorService pool;

	final TimingWheel wheel;

	final DelayedTaskRegistry registry;

	final DelayedTaskOperations template;

	RealTasks(int threads, Map<String, PolicySettings> policies) {
		this(threads, policies, UnaryOperator.identity());
	}

	RealTasks(int threads, Map<String, PolicySettings> policies, UnaryOperator<TimingWheel.Builder> settings) {
		this.pool = Executors.newFixedThreadPool(threads);
		this.wheel = settings.apply(TimingWheel.builder(this.pool)).build();
		this.registry = new DelayedTaskRegistry(this.wheel, new TaskClock(TimeSource.system(), Clock.systemUTC(), null),
				new HandOverExecutors(false), null, null, VirtualTasks.policies(policies));
		this.template = new DefaultDelayedTaskTemplate(this.registry, VirtualTasks.executors(this.pool),
				new SimpleAsyncUncaughtExceptionHandler(), null);
	}

	@Override
	public void close() {
		this.wheel.close();
		this.pool.shutdownNow();
	}

}
