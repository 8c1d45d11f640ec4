package io.timingwheel.spring.durable;

import java.lang.reflect.Method;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.aop.internal.delayed.DurableMethod;
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
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.memory.TaskClock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.util.ReflectionUtils;

/**
 * A node as the auto-configuration creates it, with handlers that take a number.
 */
public final class TestNode implements AutoCloseable {

	public static final String NAME = "count";

	private static final int MAX_PAYLOAD_BYTES = 64 * 1024;

	private static final Method METHOD = Objects
		.requireNonNull(ReflectionUtils.findMethod(NumberBody.class, "run", int.class, DelayedTaskContext.class));

	private final ThreadPoolExecutor executor;

	private final TimingWheel wheel;

	private final DelayedTaskRegistry tasks;

	private final HandOverExecutors handOvers = new HandOverExecutors();

	private final DurableHandlers handlers = new DurableHandlers();

	private final PayloadCodec codec = new PayloadCodec(JsonMapper.builder().build(), MAX_PAYLOAD_BYTES, List::of);

	private final DurableNode node;

	private final DurableTasks durable;

	private TestNode(DelayedTaskStore store, Setup setup) {
		this.executor = new ThreadPoolExecutor(setup.threads, setup.threads, 0, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>());
		this.wheel = TimingWheel.builder(this.executor).build();
		TaskPolicies policies = new TaskPolicies(setup, false);
		this.tasks = new DelayedTaskRegistry(this.wheel, new TaskClock(this.wheel.timeSource(), Clock.systemUTC()),
				this.handOvers, null, null, policies);
		NodeSettings settings = new NodeSettings("node", setup.lease, Duration.ofSeconds(2), setup.pollInterval, 100,
				1000, 3, 2, new BackoffSettings(Duration.ofMillis(50), 2.0, Duration.ofSeconds(1), 0.0),
				MAX_PAYLOAD_BYTES, null);
		this.node = new DurableNode(
				store, settings, this.handlers, this.wheel, new Services(this.tasks::recorder, policies,
						this.tasks.atShutdown().bodies(), this.handOvers, null, () -> true),
				NodeLoop.Factory.onThreads());
		this.durable = new DurableTasks(
				new CallParts(store, this.handlers, this.tasks::recorder, this.wheel::nanoTime, this.node::expect),
				this.codec, null, store, new DefaultListableBeanFactory());
		if (setup.body != null) {
			register(NAME, List.of(), setup.body);
		}
	}

	/**
	 * A node to be set up whose tasks of {@link #NAME} have this body.
	 */
	public static Setup with(NumberBody body) {
		Setup setup = new Setup();
		setup.body = body;
		return setup;
	}

	public static TestNode start(DelayedTaskStore store, NumberBody body) {
		return with(body).start(store);
	}

	public static TestNode withoutHandler(DelayedTaskStore store) {
		return new TestNode(store, new Setup());
	}

	void register(String name, List<String> aliases, NumberBody body) {
		DurableMethod method = new DurableMethod(name, aliases, METHOD, List.of(int.class), () -> this.executor, null,
				false, null, (arguments) -> {
					body.run((Integer) arguments[0], DelayedTaskContext.current().orElseThrow());
					return null;
				}, (error, arguments) -> {
				});
		List<String> names = Stream.concat(Stream.of(name), aliases.stream()).toList();
		this.handlers.register(new DurableHandler(names, method, this.codec.payloads(names, METHOD, List.of(int.class)),
				Missed.ONCE, null));
		this.node.wake();
	}

	public DurableTasks durable() {
		return this.durable;
	}

	public DurableNode node() {
		return this.node;
	}

	public TaskCounts counts() {
		return this.tasks.counts(NAME);
	}

	public DelayedTask<?> enqueue(@Nullable String key, Duration delay, int argument) {
		return this.durable.enqueueAll(List.of((key != null) ? DurableCall.of(new TaskId(NAME, key), delay, argument)
				: DurableCall.of(NAME, delay, argument)))
			.get(0);
	}

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
		this.durable.stopAccepting();
		this.node.shutdown(Duration.ZERO);
		this.wheel.close();
		this.executor.shutdownNow();
		this.handOvers.close();
	}

	/**
	 * What a test may set of a node. The policy is that of {@link #NAME}.
	 */
	public static final class Setup implements TaskPolicies.Overrides {

		private @Nullable NumberBody body;

		/** A node that stalls for some time does not lose this lease. */
		private Duration lease = Duration.ofMinutes(1);

		private Duration pollInterval = Duration.ofMillis(200);

		private PolicySettings policy = PolicySettings.NONE;

		private int threads = 4;

		public Setup lease(Duration lease) {
			this.lease = lease;
			return this;
		}

		Setup pollInterval(Duration pollInterval) {
			this.pollInterval = pollInterval;
			return this;
		}

		Setup policy(PolicySettings policy) {
			this.policy = policy;
			return this;
		}

		Setup threads(int threads) {
			this.threads = threads;
			return this;
		}

		public TestNode start(DelayedTaskStore store) {
			TestNode node = new TestNode(store, this);
			node.node.start();
			return node;
		}

		@Override
		public PolicySettings of(String name) {
			return name.equals(NAME) ? this.policy : PolicySettings.NONE;
		}

		@Override
		public void checkNames(Set<String> names) {
		}

	}

}
