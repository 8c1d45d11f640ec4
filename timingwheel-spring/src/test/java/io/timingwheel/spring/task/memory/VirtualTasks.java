package io.timingwheel.spring.task.memory;

import java.lang.reflect.Method;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
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

	final ManualTimeSource time = new ManualTimeSource();

	final TimingWheel wheel;

	final HandOverExecutors handOvers;

	final DelayedTaskRegistry registry;

	final DelayedTaskOperations template;

	final Executor executor = executor();

	/** The exceptions that nobody could see, and the methods that threw them. */
	final Map<Throwable, Method> uncaught = new ConcurrentHashMap<>();

	final Queue<Runnable> queue = new ArrayDeque<>();

	boolean holdBack;

	volatile boolean refuse;

	/** How often {@link #executor} has refused a task. */
	int refusals;

	VirtualTasks() {
		this(UnaryOperator.identity(), null, null);
	}

	/**
	 * Tasks with policies by name.
	 */
	VirtualTasks(Map<String, PolicySettings> policies) {
		this(policies, new HandOverExecutors());
	}

	/**
	 * Tasks with policies by name.
	 * @param handOvers hands the tasks over
	 */
	VirtualTasks(Map<String, PolicySettings> policies, HandOverExecutors handOvers) {
		this(UnaryOperator.identity(), null, null, policies(policies), handOvers, (time) -> Clock.systemUTC());
	}

	VirtualTasks(UnaryOperator<TimingWheel.Builder> settings, @Nullable TaskDecorator decorator,
			@Nullable TaskExecutionInterceptor interceptor) {
		this(settings, decorator, interceptor, TaskPolicies.none(), new HandOverExecutors(),
				(time) -> Clock.systemUTC());
	}

	/**
	 * Tasks with a wall clock of the test.
	 * @param wallClock gives the clock, which may go by the virtual time
	 */
	VirtualTasks(Function<ManualTimeSource, Clock> wallClock) {
		this(UnaryOperator.identity(), null, null, TaskPolicies.none(), new HandOverExecutors(), wallClock);
	}

	/**
	 * Tasks with policies by name and a wall clock of the test.
	 * @param wallClock gives the clock, which may go by the virtual time
	 */
	VirtualTasks(Map<String, PolicySettings> policies, Function<ManualTimeSource, Clock> wallClock) {
		this(UnaryOperator.identity(), null, null, policies(policies), new HandOverExecutors(), wallClock);
	}

	private VirtualTasks(UnaryOperator<TimingWheel.Builder> settings, @Nullable TaskDecorator decorator,
			@Nullable TaskExecutionInterceptor interceptor, TaskPolicies policies, HandOverExecutors handOvers,
			Function<ManualTimeSource, Clock> wallClock) {
		this.handOvers = handOvers;
		this.wheel = settings.apply(TimingWheel.builder(Runnable::run).timeSource(this.time)).build();
		this.registry = new DelayedTaskRegistry(this.wheel, new TaskClock(this.time, wallClock.apply(this.time)),
				this.handOvers, decorator, interceptor, policies);
		this.template = new DefaultDelayedTaskTemplate(this.registry, executors(this.executor),
				(error, method, arguments) -> this.uncaught.put(error, method), null);
	}

	/**
	 * Policies whose backoffs do not vary.
	 */
	static TaskPolicies policies(Map<String, PolicySettings> policies) {
		return new TaskPolicies(new TaskPolicies.Overrides() {

			@Override
			public PolicySettings of(String name) {
				return policies.getOrDefault(name, PolicySettings.NONE);
			}

			@Override
			public void checkNames(Set<String> names) {
			}

		}, true);
	}

	/**
	 * Executors of which one is the default.
	 */
	static TaskExecutors executors(Executor executor) {
		return new TaskExecutors(new StaticListableBeanFactory(Map.of("applicationTaskExecutor", executor)),
				() -> executor);
	}

	/**
	 * An executor that the tasks call on the thread of {@link #advance}, since its type
	 * is known not to block.
	 */
	private Executor executor() {
		return prompt(this::execute);
	}

	/**
	 * An executor whose type is known not to block.
	 * @param execute takes the tasks
	 */
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

	void advance(Duration by) {
		this.time.advance(by);
	}

	void advanceSeconds(long seconds) {
		advance(Duration.ofSeconds(seconds));
	}

	/**
	 * Lets the wheel hand over what is due now.
	 */
	void turn() {
		advance(Duration.ZERO);
	}

	boolean setPaused(String name, boolean paused) {
		boolean known = this.registry.setPaused(name, paused);
		turn();
		return known;
	}

	/**
	 * Runs the tasks that the executor has held back.
	 */
	void runQueue() {
		this.holdBack = false;
		while (!this.queue.isEmpty()) {
			runNext();
		}
	}

	/**
	 * Runs one task that the executor has held back.
	 */
	void runNext() {
		this.queue.remove().run();
		turn();
	}

}
