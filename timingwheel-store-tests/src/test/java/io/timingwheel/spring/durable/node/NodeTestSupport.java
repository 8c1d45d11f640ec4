package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.node.DurableNode.Services;
import io.timingwheel.spring.durable.node.DurableNode.Settings;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import static org.assertj.core.api.Assertions.assertThat;

/** A node on a store in memory, and a time that goes on only when the test moves it. */
abstract class NodeTestSupport {

	static final String NAME = "count";

	static final Duration LEASE = Duration.ofSeconds(30);

	static final Duration POLL = Duration.ofSeconds(1);

	BackoffSettings backoff = new BackoffSettings(Duration.ofSeconds(5), 2.0, Duration.ofMinutes(1), 0.0);

	final ManualTimeSource time = new ManualTimeSource();

	final DurableHandlers handlers = new DurableHandlers();

	final Map<String, TaskRecorder> recorders = new ConcurrentHashMap<>();

	final TaskPolicies policies = new TaskPolicies((name) -> PolicySettings.NONE, false);

	final RunningBodies bodies = new RunningBodies();

	final List<Integer> runs = new ArrayList<>();

	BooleanSupplier schedules = () -> true;

	Duration lease = LEASE;

	int maxInFlight = 1000;

	int maxLostDeliveries = 2;

	long maxPending = Long.MAX_VALUE;

	Duration lookAhead = Duration.ofSeconds(2);

	Duration deadRetention;

	HandOverExecutors handOvers = new HandOverExecutors(true);

	DelayedTaskStore store;

	private final Map<DurableNode, TimingWheel> wheels = new HashMap<>();

	private final List<DurableNode> nodesOnThreads = new ArrayList<>();

	@BeforeEach
	void openStore() {
		use(new InMemoryTaskStore());
	}

	/** Takes a store whose methods the test overrides. */
	void use(InMemoryTaskStore other) {
		this.store = other;
		other.testing().setClock(this::storeNow);
	}

	@AfterEach
	void shutDown() throws InterruptedException {
		this.wheels.values().forEach(TimingWheel::close);
		for (DurableNode node : this.nodesOnThreads) {
			node.shutdown(Duration.ZERO);
		}
		this.handOvers.close();
	}

	long storeNow() {
		return 1_700_000_000_000L + this.time.nanoTime() / 1_000_000;
	}

	void handle(DurableHandler handler) {
		this.handlers.register(handler);
	}

	void handle(String name, NumberHandler.Body body) {
		handle(NumberHandler.of(name, body));
	}

	DurableNode node() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).shards(1).build();
		DurableNode node = node(wheel, new WheelLoops(wheel));
		this.wheels.put(node, wheel);
		return node;
	}

	/**
	 * Ends a node at once. It gives nothing back, and the store hears nothing more of it.
	 */
	void kill(DurableNode node) {
		Objects.requireNonNull(this.wheels.remove(node)).close();
	}

	/** A node whose time goes on. */
	DurableNode nodeOnThreads() {
		this.store.testing().setClock(null);
		TimingWheel wheel = TimingWheel.builder(Runnable::run).maxPending(this.maxPending).build();
		DurableNode node = node(wheel, NodeLoop.Factory.onThreads());
		this.nodesOnThreads.add(node);
		return node;
	}

	private DurableNode node(TimingWheel wheel, NodeLoop.Factory loops) {
		DurableNode node = new DurableNode(this.store, settings(), this.handlers, wheel, services(), loops);
		node.start();
		return node;
	}

	private Settings settings() {
		return new Settings("node", this.lease, this.lookAhead, POLL, 100, this.maxInFlight, 3, this.maxLostDeliveries,
				this.backoff, 1000, this.deadRetention);
	}

	private Services services() {
		return new Services(this::recorder, this.policies, this.bodies, this.handOvers, null, this.schedules);
	}

	/**
	 * A task that has begun and has no thread yet. It was due when the clock showed 0.
	 */
	Run begun(LeasedTask task, DurableHandler handler, LongSupplier clock, long trustedUntil) {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).shards(1).build();
		NodeParts parts = new NodeParts(this.store, settings(), this.handlers, wheel, services(),
				new WheelLoops(wheel));
		Run run = new Run(task, handler, new Names(parts).window(NAME), clock, 0);
		run.window.enter(true);
		assertThat(run.begin(trustedUntil, 0)).isTrue();
		return run;
	}

	private TaskRecorder recorder(String name) {
		return this.recorders.computeIfAbsent(name, (key) -> new TaskRecorder());
	}

	TaskCounts counts() {
		return recorder(NAME).counts(0);
	}

	void advance(Duration by) {
		this.time.advance(by);
	}

	void advanceMillis(long millis) {
		advance(Duration.ofMillis(millis));
	}

	String enqueue(String name, String payload, Duration delay) {
		String id = UUID.randomUUID().toString();
		this.store.enqueue(List
			.of(new NewTask(id, name, null, "[" + payload + "]", null, DueTime.after(delay), IfPending.REPLACE, null)));
		return id;
	}

	String enqueue(int number, Duration delay) {
		return enqueue(NAME, String.valueOf(number), delay);
	}

	void recur(String schedule, Duration first) {
		this.store.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, "key", "[1]", schedule,
				DueTime.after(first), false));
	}

	StoredTask find(String id) {
		return this.store.find(Target.of(id)).orElseThrow();
	}

	List<StoredTask> list(ListQuery.Order order) {
		return this.store.list(new ListQuery(NAME, order, null, 1000)).tasks();
	}

	StoredTask onlyPending() {
		return Objects.requireNonNull(list(ListQuery.Order.PENDING).get(0));
	}

}
