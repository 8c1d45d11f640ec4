package io.timingwheel.spring.durable;

import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.admin.DeadTasks;
import io.timingwheel.spring.durable.call.CallParts;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.node.DurableNode.Services;
import io.timingwheel.spring.durable.node.NodeLoop;
import io.timingwheel.spring.durable.node.NodeSettings;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.memory.TaskClock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A node as the auto-configuration creates it, with handlers that take a number.
 */
public final class TestNode implements AutoCloseable {

	public static final String NAME = "count";

	private final ThreadPoolExecutor executor;

	private final TimingWheel wheel;

	private final DelayedTaskRegistry tasks;

	private final HandOverExecutors handOvers = new HandOverExecutors();

	private final PayloadCodec codec;

	private final DurableHandlers handlers = new DurableHandlers();

	private final DelayedTaskStore store;

	private final DurableNode node;

	private final DurableTasks durable;

	private final Map<String, Throwable> finalErrors = new ConcurrentHashMap<>();

	private TestNode(DelayedTaskStore store, NodeSettings settings, Map<String, NumberBody> bodies, int threads,
			long maxPending, PolicySettings policy) {
		this(store, settings, bodies, threads, maxPending, policy, null);
	}

	private TestNode(DelayedTaskStore store, NodeSettings settings, Map<String, NumberBody> bodies, int threads,
			long maxPending, PolicySettings policy, @Nullable Duration expireAfter) {
		this.executor = new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
		this.wheel = TimingWheel.builder(this.executor).maxPending(maxPending).build();
		this.codec = new PayloadCodec(JsonMapper.builder().build(), settings.maxPayloadBytes(), List::of);
		TaskPolicies policies = new TaskPolicies(overrides(policy), false);
		this.tasks = new DelayedTaskRegistry(this.wheel, new TaskClock(this.wheel.timeSource(), Clock.systemUTC()),
				this.handOvers, null, null, policies);
		bodies.forEach(
				(name, body) -> this.handlers.register(handler(name, body, name.equals(NAME) ? expireAfter : null)));
		this.store = store;
		this.node = new DurableNode(store, settings, this.handlers, this.wheel, new Services(this.tasks::recorder,
				policies, this.tasks.runningBodies(), this.handOvers, null, () -> true), NodeLoop.Factory.onThreads());
		this.durable = new DurableTasks(
				new CallParts(store, this.handlers, this.tasks::recorder, this.wheel::nanoTime, this.node::expect),
				this.codec, null);
	}

	private DurableHandler handler(String name, @Nullable NumberBody body, @Nullable Duration expireAfter) {
		return new NumberHandler(name, List.of(), Missed.ONCE, body, () -> this.executor,
				(error) -> this.finalErrors.put(name, error), expireAfter, this.codec);
	}

	public static TestNode start(DelayedTaskStore store, NumberBody body) {
		return start(store, body, new TestSettings());
	}

	public static TestNode start(DelayedTaskStore store, NumberBody body, TestSettings settings) {
		return start(store, Map.of(NAME, body), settings);
	}

	/**
	 * Starts a node that has a handler for each of these names.
	 */
	static TestNode start(DelayedTaskStore store, Map<String, NumberBody> bodies, TestSettings settings) {
		return start(store, bodies, settings, Long.MAX_VALUE);
	}

	/**
	 * Starts a node.
	 * @param maxPending how many tasks its wheel takes
	 */
	static TestNode start(DelayedTaskStore store, Map<String, NumberBody> bodies, TestSettings settings,
			long maxPending) {
		TestNode node = new TestNode(store, settings.build(), bodies, 4, maxPending, PolicySettings.NONE);
		node.node.start();
		return node;
	}

	/**
	 * Starts a node on which the tasks of a name have a policy.
	 * @param policy the policy of {@link #NAME}
	 */
	static TestNode start(DelayedTaskStore store, Map<String, NumberBody> bodies, PolicySettings policy, int threads,
			Duration pollInterval) {
		TestNode node = new TestNode(store, new TestSettings().pollInterval(pollInterval).build(), bodies, threads,
				Long.MAX_VALUE, policy);
		node.node.start();
		return node;
	}

	/**
	 * Starts a node on which the tasks of {@link #NAME} expire.
	 */
	static TestNode start(DelayedTaskStore store, NumberBody body, PolicySettings policy, Duration expireAfter) {
		TestNode node = new TestNode(store, new TestSettings().build(), Map.of(NAME, body), 4, Long.MAX_VALUE, policy,
				expireAfter);
		node.node.start();
		return node;
	}

	private static TaskPolicies.Overrides overrides(PolicySettings policy) {
		return new TaskPolicies.Overrides() {

			@Override
			public PolicySettings of(String name) {
				return name.equals(NAME) ? policy : PolicySettings.NONE;
			}

			@Override
			public void checkNames(Set<String> names) {
			}

		};
	}

	/**
	 * Returns a node that has no handler, and so only stores tasks.
	 */
	public static TestNode withoutHandler(DelayedTaskStore store) {
		return new TestNode(store, new TestSettings().build(), Map.of(), 1, Long.MAX_VALUE, PolicySettings.NONE);
	}

	/**
	 * Adds a handler to this node.
	 */
	void register(String name, List<String> aliases, Missed missed, @Nullable NumberBody body,
			Supplier<? extends Executor> executor) {
		this.handlers.register(new NumberHandler(name, aliases, missed, body, executor, (error) -> {
		}, null, this.codec));
		this.node.wake();
	}

	public DurableTasks durable() {
		return this.durable;
	}

	public DurableNode node() {
		return this.node;
	}

	DeadTasks deadTasks() {
		return new DeadTasks(this.store, this.node.pages(), this.node::requeueDead);
	}

	/**
	 * The dead tasks of a name, at most 10.
	 */
	List<StoredTask> dead() {
		return this.node.findDead(NAME, 10);
	}

	public TaskCounts counts() {
		return counts(NAME);
	}

	TaskCounts counts(String name) {
		return this.tasks.counts(name);
	}

	public int busyThreads() {
		return this.executor.getActiveCount();
	}

	public DelayedTask<?> enqueue(@Nullable String key, Duration delay, int argument) {
		return (key != null) ? this.durable.enqueue(new TaskId(NAME, key), delay, argument)
				: this.durable.enqueueAll(List.of(DurableCall.of(NAME, delay, argument))).get(0);
	}

	@Nullable Throwable finalError() {
		return this.finalErrors.get(NAME);
	}

	public void shutdown(Duration period) throws InterruptedException {
		this.durable.stopAccepting();
		this.node.shutdown(period);
	}

	/**
	 * Closes nodes, also if one of them cannot be closed.
	 */
	public static void closeAll(List<TestNode> nodes) throws Exception {
		Exception failure = null;
		for (TestNode node : nodes) {
			try {
				node.close();
			}
			catch (Exception ex) {
				failure = ex;
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	@Override
	public void close() throws InterruptedException {
		shutdown(Duration.ZERO);
		this.wheel.close();
		this.executor.shutdownNow();
		this.handOvers.close();
	}

}
