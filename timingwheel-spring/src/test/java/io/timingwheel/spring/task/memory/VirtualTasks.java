package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;

/**
 * Tasks on virtual time. Bodies run within {@link #advance}, unless the executor holds
 * them back in its queue.
 */
final class VirtualTasks {

	/** The name of most tasks, for which the policy of a test stands. */
	static final String NAME = "work";

	final ManualTimeSource time = new ManualTimeSource();

	final TimingWheel wheel;

	final HandOverExecutors handOvers;

	final DelayedTaskRegistry registry;

	final DelayedTaskOperations template;

	/** Known not to block, so the tasks call it on the thread of {@link #advance}. */
	final Executor executor = prompt(this::execute);

	/** The keys of the tasks of {@link #schedule} whose bodies have run. */
	final List<String> ran = new CopyOnWriteArrayList<>();

	/** The exceptions that nobody could see, and the methods that threw them. */
	final Map<Throwable, Method> uncaught = new ConcurrentHashMap<>();

	final Queue<Runnable> queue = new ArrayDeque<>();

	boolean holdBack;

	volatile boolean refuse;

	int refusals;

	VirtualTasks() {
		this(Map.of(), UnaryOperator.identity(), null, null);
	}

	VirtualTasks(PolicySettings policy) {
		this(Map.of(NAME, policy), UnaryOperator.identity(), null, null);
	}

	VirtualTasks(Map<String, PolicySettings> policies, UnaryOperator<TimingWheel.Builder> settings,
			@Nullable TaskDecorator decorator, TaskExecution.@Nullable Interceptor interceptor) {
		this(policies, settings, decorator, interceptor, new HandOverExecutors(false), (time) -> Clock.systemUTC());
	}

	VirtualTasks(PolicySettings policy, HandOverExecutors handOvers, Function<ManualTimeSource, Clock> wallClock) {
		this(Map.of(NAME, policy), UnaryOperator.identity(), null, null, handOvers, wallClock);
	}

	private VirtualTasks(Map<String, PolicySettings> policies, UnaryOperator<TimingWheel.Builder> settings,
			@Nullable TaskDecorator decorator, TaskExecution.@Nullable Interceptor interceptor,
			HandOverExecutors handOvers, Function<ManualTimeSource, Clock> wallClock) {
		this.handOvers = handOvers;
		this.wheel = settings.apply(TimingWheel.builder(Runnable::run).timeSource(this.time)).build();
		this.registry = new DelayedTaskRegistry(this.wheel, new TaskClock(this.time, wallClock.apply(this.time), null),
				this.handOvers, decorator, interceptor, policies(policies));
		this.template = new DefaultDelayedTaskTemplate(this.registry, executors(this.executor),
				(error, method, arguments) -> this.uncaught.put(error, method), null);
	}

	static VirtualTasks withMaxPending(int maxPending) {
		return new VirtualTasks(Map.of(), (builder) -> builder.maxPending(maxPending), null, null);
	}

	static PolicySettings limits(@Nullable Integer maxConcurrent, @Nullable Integer maxConcurrentPerKey,
			@Nullable String rate) {
		return new PolicySettings(null, BackoffSettings.NONE, maxConcurrent, maxConcurrentPerKey,
				(rate != null) ? StartRate.parse(rate) : null, null);
	}

	static PolicySettings paused(PolicySettings policy) {
		return policy.overriddenBy(new PolicySettings(null, BackoffSettings.NONE, null, null, null, true));
	}

	/** Policies by name whose backoffs do not vary. */
	static TaskPolicies policies(Map<String, PolicySettings> policies) {
		return new TaskPolicies((name) -> policies.getOrDefault(name, PolicySettings.NONE), true);
	}

	static TaskExecutors executors(Executor executor) {
		return new TaskExecutors(new StaticListableBeanFactory(Map.of("applicationTaskExecutor", executor)),
				() -> executor);
	}

	/** An executor whose type is known not to block. */
	static Executor prompt(Executor execute) {
		return new SimpleAsyncTaskExecutor((task) -> new Thread() {

			@Override
			public void start() {
				execute.execute(task);
			}

		});
	}

	private void execute(Runnable task) {
		if (this.refuse) {
			this.refusals++;
			throw new RejectedExecutionException("full");
		}
		if (this.holdBack) {
			this.queue.add(task);
		}
		else {
			task.run();
		}
	}

	static TaskId id(Object key) {
		return TaskId.of(NAME, key);
	}

	DelayedTask<?> schedule(String key, long millis) {
		return this.template.schedule(id(key), Duration.ofMillis(millis), () -> this.ran.add(key));
	}

	long waiting() {
		return this.registry.waiting(NAME);
	}

	void advance(Duration by) {
		this.time.advance(by);
	}

	void advanceSeconds(long seconds) {
		advance(Duration.ofSeconds(seconds));
	}

	/** Lets the wheel hand over what is due now. */
	void turn() {
		advance(Duration.ZERO);
	}

	void setPaused(boolean paused) {
		this.registry.setPaused(NAME, paused);
		turn();
	}

	/** Runs the tasks that the executor has held back. */
	void runQueue() {
		this.holdBack = false;
		while (!this.queue.isEmpty()) {
			runNext();
		}
	}

	void runNext() {
		this.queue.remove().run();
		turn();
	}

}
