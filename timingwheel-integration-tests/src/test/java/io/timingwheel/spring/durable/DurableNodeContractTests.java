package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadSelection;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadStep;
import io.timingwheel.spring.durable.node.DurableNode.Figure;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.NodeState.Reported;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.TaskRef;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The contract of nodes on any store. Tasks run at their time, failed tasks are tried
 * again, other nodes take over the tasks of a node, and a node that has lost a lease no
 * longer changes the task.
 */
public abstract class DurableNodeContractTests extends StoreTestSupport {

	private static final Duration LATE = Duration.ofMinutes(10);

	private final List<TestNode> nodes = new ArrayList<>();

	private final Map<Integer, AtomicInteger> runs = new ConcurrentHashMap<>();

	protected DurableNodeContractTests(Function<Class<?>, ? extends TestStores> stores) {
		super(stores);
	}

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(this.nodes);
	}

	private TestNode node(TestNode node) {
		this.nodes.add(node);
		return node;
	}

	private void count(int argument) {
		this.runs.computeIfAbsent(argument, (key) -> new AtomicInteger()).incrementAndGet();
	}

	@Test
	void aTaskRunsAtItsTimeAndIsGone() {
		Queue<Instant> times = new ConcurrentLinkedQueue<>();
		TestNode node = node(TestNode.start(this.store, (argument, context) -> {
			times.add(Instant.now());
			assertThat(context.attempt()).isEqualTo(1);
			assertThat(context.deliveries()).isEqualTo(1);
			assertThat(context.taskId()).isEqualTo(new TaskId(TestNode.NAME, "k"));
		}));
		Instant before = Instant.now();
		DelayedTask<?> task = node.enqueue("k", Duration.ofMillis(300), 1);
		await().until(() -> node.counts().completed() == 1);
		assertThat(times).singleElement().matches((time) -> !time.isBefore(before.plusMillis(299)));
		assertThat(this.store.find(Target.of(task.id()))).isEmpty();
		await().until(() -> node.node().inFlight() == 0);
		assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
		assertThat(node.enqueue("later", LATE, 2).status()).isEqualTo(Status.SCHEDULED);
	}

	@Test
	void aTaskThatAnotherNodeStoresIsFoundAndRuns() {
		Queue<Duration> lateness = new ConcurrentLinkedQueue<>();
		TestNode node = node(TestNode.start(this.store, (argument, context) -> lateness.add(context.lateness())));
		TestNode storing = node(TestNode.withoutHandler(this.other));
		storing.durable().enqueue(new TaskId(TestNode.NAME, "k"), Duration.ofSeconds(1), 7);
		await().until(() -> node.counts().completed() == 1);
		assertThat(lateness).singleElement().matches((late) -> late.compareTo(Duration.ofMinutes(1)) < 0);
	}

	@Test
	void aBacklogIsSharedAndEachTaskRunsOnce() {
		int tasks = 3000;
		TestNode storing = node(TestNode.withoutHandler(this.store));
		storing.durable()
			.enqueueAll(IntStream.range(0, tasks)
				.mapToObj((i) -> DurableCall.of(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO, i))
				.toList());
		CountDownLatch bothRun = new CountDownLatch(1);
		TestNode first = node(TestNode.start(this.store, (argument, context) -> {
			bothRun.await();
			count(argument);
		}));
		TestNode second = node(TestNode.start(this.other, (argument, context) -> {
			bothRun.countDown();
			count(argument);
		}));
		await().until(() -> first.counts().completed() + second.counts().completed() == tasks);
		assertThat(this.runs).hasSize(tasks).allSatisfy((key, runs) -> assertThat(runs).hasValue(1));
		assertThat(first.counts().completed()).isPositive();
		assertThat(second.counts().completed()).isPositive();
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void tasksThatManyThreadsStoreAtTheSameTimeRunOnceEach() throws Exception {
		int each = 40;
		TestNode node = node(TestNode.start(this.store, (argument, context) -> count(argument)));
		List<Thread> threads = IntStream.range(0, 8).mapToObj((number) -> new Thread(() -> {
			for (int i = number * each; i < (number + 1) * each; i++) {
				node.enqueue((i % 2 == 0) ? null : "k" + i, Duration.ZERO, i);
			}
		})).toList();
		threads.forEach(Thread::start);
		for (Thread thread : threads) {
			thread.join();
		}
		await().until(() -> node.counts().completed() == 8 * each);
		assertThat(this.runs).hasSize(8 * each).allSatisfy((argument, runs) -> assertThat(runs).hasValue(1));
		await().until(() -> this.store.counts(List.of()).isEmpty());
	}

	@Test
	void tasksThatAreStoredAtOnceRunOnceEachAtTheirTimesWithoutAPoll() {
		TestNode node = node(TestNode.start(this.store, (argument, context) -> count(argument),
				new TestSettings().pollInterval(LATE)));
		List<DurableCall> calls = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			calls.add(DurableCall.of(new TaskId(TestNode.NAME, "k" + i), Duration.ofMillis(300 + i), i));
			calls.add(DurableCall.of(TestNode.NAME, Instant.now().plusMillis(500), 100 + i));
		}
		calls.add(DurableCall.of(new TaskId(TestNode.NAME, "k0"), Duration.ofMillis(200), 200));
		List<DelayedTask<Void>> tasks = node.durable().enqueueAll(calls);
		assertThat(tasks).hasSize(101).extracting(DelayedTask::id).doesNotHaveDuplicates();
		assertThat(tasks.get(2).taskId()).isEqualTo(new TaskId(TestNode.NAME, "k1"));
		// Long before the second poll.
		await().until(() -> node.counts().completed() == 100);
		assertThat(this.runs).hasSize(100)
			.doesNotContainKey(0)
			.containsKey(200)
			.allSatisfy((argument, runs) -> assertThat(runs).hasValue(1));
		assertThat(node.counts().replaced()).isEqualTo(1);
		await().until(() -> node.node().inFlight() == 0);
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void noTaskIsStoredIfOneOfManyCannotBeStored() {
		TestNode node = node(TestNode.start(this.store, (argument, context) -> count(argument)));
		TaskId id = new TaskId(TestNode.NAME, "k");
		for (DurableCall bad : List.of(DurableCall.of(new TaskId(TestNode.NAME, "k".repeat(513)), Duration.ZERO, 1),
				DurableCall.of("n".repeat(256), Duration.ZERO, 1))) {
			List<DurableCall> calls = List.of(DurableCall.of(id, Duration.ZERO, 1), bad);
			assertThatIllegalArgumentException().isThrownBy(() -> node.durable().enqueueAll(calls));
		}
		assertThat(this.store.counts(List.of())).isEmpty();
		assertThat(node.durable().enqueueAll(List.of())).isEmpty();
		await().until(() -> node.node().inFlight() == 0);
	}

	@Test
	void theNodesAreListedWithTheirClaimsUntilTheyEnd() throws InterruptedException {
		TestNode first = node(
				TestNode.start(this.store, (argument, context) -> count(argument), new TestSettings().nodeId("first")));
		TestNode second = node(TestNode.start(this.other, (argument, context) -> count(argument),
				new TestSettings().nodeId("second")));
		await().untilAsserted(() -> assertThat(this.store.nodes()).extracting(Reported::state)
			.containsExactlyInAnyOrder(new NodeState("first", Activity.CLAIMING, 0),
					new NodeState("second", Activity.CLAIMING, 0)));
		second.node().pause();
		await().until(() -> this.store.nodes()
			.stream()
			.anyMatch((node) -> node.state().equals(new NodeState("second", Activity.PAUSED, 0))));
		second.shutdown(Duration.ofSeconds(1));
		await().untilAsserted(() -> assertThat(this.store.nodes()).extracting((node) -> node.state().nodeId())
			.containsExactly("first"));
	}

	@Test
	void aRetryIsDroppedIfANewerTaskHasItsKey() {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch replaced = new CountDownLatch(1);
		TestNode node = node(TestNode.start(this.store, (argument, context) -> {
			count(argument);
			if (argument == 1) {
				begun.countDown();
				replaced.await();
				throw new IllegalStateException("broken");
			}
		}));
		node.enqueue("k", Duration.ZERO, 1);
		await().until(() -> begun.getCount() == 0);
		node.enqueue("k", LATE, 2);
		replaced.countDown();
		await().until(() -> node.counts().superseded() == 1);
		assertThat(node.durable().reschedule(new TaskId(TestNode.NAME, "k"), Duration.ZERO)).isTrue();
		await().until(() -> node.counts().completed() == 1);
		assertThat(this.runs.get(1)).hasValue(1);
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void aWaitingTaskIsCancelledReplacedAndMovedByOthers() throws Exception {
		TestNode other = node(TestNode.withoutHandler(this.other));
		Duration delay = Duration.ofSeconds(3);
		TestNode node = cancelReplaceAndMove(other, delay);
		while (node == null) {
			// The machine was so slow that the tasks were due before they were changed.
			closeNodes();
			this.nodes.clear();
			this.runs.clear();
			nodes();
			other = node(TestNode.withoutHandler(this.other));
			delay = delay.multipliedBy(3);
			assertThat(delay).isLessThan(SOON);
			node = cancelReplaceAndMove(other, delay);
		}
		TestNode changed = node;
		await().until(() -> changed.counts().completed() == 1 && changed.node().inFlight() == 0);
		assertThat(this.runs).containsOnlyKeys("kept".length());
		assertThat(node.node().figure(Figure.REFUSED_BEGINS)).isEqualTo(3);
		assertThat(this.store.counts(List.of()).get(TestNode.NAME).pending()).isEqualTo(2);
	}

	/**
	 * Stores four tasks on a new node, of which another node changes three.
	 * @return the node; {@code null} if a task may have been due before its change
	 */
	private @Nullable TestNode cancelReplaceAndMove(TestNode other, Duration delay) {
		TestNode node = node(TestNode.start(this.store, (argument, context) -> count(argument),
				new TestSettings().lookAhead(LOOK_AHEAD)));
		long start = System.nanoTime();
		for (String key : List.of("cancelled", "replaced", "moved", "kept")) {
			node.enqueue(key, delay, key.length());
		}
		// While a claim is in progress, the node has less room.
		await().until(() -> node.node().inFlight() == 4 || System.nanoTime() - start > delay.toNanos());
		boolean cancelled = other.durable().cancel(new TaskId(TestNode.NAME, "cancelled"));
		other.durable().enqueue(new TaskId(TestNode.NAME, "replaced"), LATE, 100);
		boolean moved = other.durable().reschedule(new TaskId(TestNode.NAME, "moved"), LATE);
		if (System.nanoTime() - start > delay.toNanos()) {
			return null;
		}
		assertThat(cancelled).isTrue();
		assertThat(moved).isTrue();
		return node;
	}

	@Test
	void theNeighboursOfATaskThatKillsItsNodesRun() {
		TestNode storing = node(TestNode.withoutHandler(this.store));
		for (int i = 0; i < 10; i++) {
			storing.durable().enqueue(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO, i);
		}
		// Nodes that die when they run the first task.
		ClaimRequest dying = new ClaimRequest("dying", Map.of(TestNode.NAME, new Share(10, 0)), 10, true, Duration.ZERO,
				LEASE, ANY_SIZE);
		Set<String> ran = new HashSet<>();
		String poison = "";
		for (int deaths = 0, claims = 0; deaths < 3 && claims < 100; claims++) {
			clockAhead(LATE.multipliedBy(deaths));
			List<LeasedTask> tasks = this.store.claim(dying).tasks();
			poison = (claims == 0) ? tasks.get(0).id() : poison;
			for (LeasedTask task : tasks) {
				if (!task.begun()) {
					assertThat(begin(task.ref())).isEqualTo(Reply.DONE);
				}
				if (task.id().equals(poison)) {
					deaths++;
					break;
				}
				assertThat(this.store.settle(List.of(new Settlement.Acknowledge(task.ref()))))
					.containsExactly(Reply.DONE);
				ran.add(task.id());
			}
		}
		clockAhead(LATE.multipliedBy(4));
		TestNode node = node(TestNode.start(this.other, (argument, context) -> count(argument)));
		int before = ran.size();
		await().until(() -> before + this.runs.size() == 9 && node.dead().size() == 1);
		assertThat(node.dead()).extracting(StoredTask::id).containsExactly(poison);
		assertThat(ran).doesNotContain(poison);
	}

	@Test
	void tasksWhoseNodesWereNeverHeardOfRunOnceThereIsANode() {
		TestNode storing = node(TestNode.withoutHandler(this.store));
		for (int i = 0; i < 20; i++) {
			storing.durable().enqueue(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO, i);
		}
		// The replies to these claims are lost.
		ClaimRequest lost = new ClaimRequest("lost", Map.of(TestNode.NAME, new Share(20, 0)), 20, true, Duration.ZERO,
				LEASE, ANY_SIZE);
		for (int i = 0; i < 10; i++) {
			clockAhead(LATE.multipliedBy(i));
			this.store.claim(lost);
		}
		clockAhead(LATE.multipliedBy(11));
		TestNode node = node(TestNode.start(this.other, (argument, context) -> count(argument)));
		await().until(() -> node.counts().completed() == 20);
		assertThat(this.runs).hasSize(20).allSatisfy((argument, runs) -> assertThat(runs).hasValue(1));
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void aNodeRunsOneSuspectAtATimeBesideOtherTasks() {
		TestNode storing = node(TestNode.withoutHandler(this.store));
		for (int i = 0; i < 5; i++) {
			storing.durable().enqueue(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO, i);
		}
		ClaimRequest dead = new ClaimRequest("dead", Map.of(TestNode.NAME, new Share(10, 0)), 10, true, Duration.ZERO,
				LEASE, ANY_SIZE);
		assertThat(this.store.claim(dead).tasks()).hasSize(5);
		clockAhead(LATE);
		CountDownLatch end = new CountDownLatch(1);
		AtomicInteger suspects = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		TestNode node = node(TestNode.start(this.other, (argument, context) -> {
			if (context.deliveries() > 1) {
				most.accumulateAndGet(suspects.incrementAndGet(), Math::max);
				end.await();
				suspects.decrementAndGet();
			}
			count(argument);
		}));
		await().until(() -> suspects.get() == 1);
		for (int i = 100; i < 120; i++) {
			storing.durable().enqueue(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO, i);
		}
		await().until(() -> node.counts().completed() == 20);
		assertThat(this.runs).hasSize(20).doesNotContainKeys(0, 1, 2, 3, 4);
		end.countDown();
		await().until(() -> node.counts().completed() == 25);
		assertThat(most).hasValue(1);
	}

	@Test
	void aClosingNodeGivesBackTasksThatHaveNotBegunAndWaitsForTheOthers() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		TestNode node = node(TestNode.start(this.store, (argument, context) -> {
			count(argument);
			begun.countDown();
			end.await();
		}, new TestSettings().lookAhead(LOOK_AHEAD)));
		node.enqueue(null, Duration.ZERO, 1);
		await().until(() -> begun.getCount() == 0);
		for (int i = 2; i < 12; i++) {
			node.enqueue("k" + i, SOON, i);
		}
		await().until(() -> node.node().inFlight() == 11);
		Thread closing = new Thread(() -> {
			try {
				node.shutdown(Duration.ofMinutes(3));
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
		closing.start();
		TestNode second = node(TestNode.start(this.other, (argument, context) -> {
			count(argument);
			assertThat(context.attempt()).isEqualTo(1);
		}, new TestSettings().lookAhead(LOOK_AHEAD)));
		// The second node can claim only what was given back, because the leases last
		// longer than this test.
		await().until(() -> second.node().inFlight() == 10);
		for (int i = 2; i < 12; i++) {
			assertThat(second.durable().reschedule(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO)).isTrue();
		}
		await().until(() -> second.counts().completed() == 10);
		end.countDown();
		closing.join();
		assertThat(node.counts().completed()).isEqualTo(1);
		assertThat(this.runs).hasSize(11).allSatisfy((key, runs) -> assertThat(runs).hasValue(1));
	}

	@Test
	void aNodeWhoseWheelIsFullPausesItsClaims() {
		TestNode storing = node(TestNode.withoutHandler(this.store));
		for (int i = 0; i < 20; i++) {
			storing.durable().enqueue(new TaskId(TestNode.NAME, "k" + i), Duration.ofSeconds(6), i);
		}
		TestNode node = node(TestNode.start(this.other, Map.of(TestNode.NAME, (argument, context) -> count(argument)),
				new TestSettings().lookAhead(LOOK_AHEAD), 2));
		await().until(() -> node.node().figure(Figure.RELEASED) > 0 || this.runs.size() == 20);
		long start = System.nanoTime();
		long claims = node.node().figure(Figure.CLAIMS);
		await().until(() -> node.node().figure(Figure.CLAIMS) >= claims + 3 || !this.runs.isEmpty());
		Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
		// On a slow machine the tasks may be due before the node has claimed that often.
		assertThat(!this.runs.isEmpty() || elapsed.compareTo(Duration.ofSeconds(1)) > 0).isTrue();
		await().until(() -> node.counts().completed() == 20);
		assertThat(this.runs).hasSize(20).allSatisfy((argument, runs) -> assertThat(runs).hasValue(1));
	}

	@Test
	void aTaskThatCannotBeReadFailsItsAttemptsAndATaskWithAnUnknownNameWaits() {
		String broken = "{\"v\":1,\"handler\":\"count\",\"args\":[";
		String tagged = "{\"v\":1,\"handler\":\"count\",\"args\":[{\"@class\":\"java.io.File\"}]}";
		store(TestNode.NAME, broken);
		store(TestNode.NAME, tagged);
		store(TestNode.NAME, "{\"v\":1,\"handler\":\"count\",\"args\":[\"" + "x".repeat(1_000_000) + "\"]}");
		store("unknown", "{\"v\":1,\"handler\":\"unknown\",\"args\":[1]}");
		store(TestNode.NAME, "{\"v\":1,\"handler\":\"count\",\"args\":[5]}");
		TestNode node = node(TestNode.start(this.store, (argument, context) -> count(argument)));
		await().until(() -> node.counts().completed() == 1);
		await().until(() -> node.dead().size() == 3);
		assertThat(node.dead()).allMatch((task) -> task.error() != null).allMatch((task) -> task.attempt() == 3);
		// The node counts a failure after the store knows of it.
		await().until(() -> node.counts().failed() == 9);
		assertThat(this.runs).containsOnlyKeys(5);
		assertThat(this.store.counts(List.of("unknown")).get("unknown").pending()).isEqualTo(1);
	}

	@Test
	void afterAnOutageTheDeadAreRequeuedInStepsAndRun() {
		int tasks = 700;
		AtomicBoolean outage = new AtomicBoolean(true);
		TestNode node = node(TestNode.start(this.store, (argument, context) -> {
			if (outage.get()) {
				throw new IllegalStateException((argument % 7 == 0) ? "bad argument" : "connection refused");
			}
			count(argument);
		}, new TestSettings().maxAttempts(1)));
		node.durable()
			.enqueueAll(IntStream.range(0, tasks)
				.mapToObj((i) -> DurableCall.of(new TaskId(TestNode.NAME, "k" + i), Duration.ZERO, i))
				.toList());
		await().until(() -> dead(TestNode.NAME) == tasks);
		DeadGroups groups = node.deadTasks().byError(TestNode.NAME, null);
		assertThat(groups.groups()).extracting(DeadGroups.Group::error)
			.containsExactlyInAnyOrder("java.lang.IllegalStateException: bad argument",
					"java.lang.IllegalStateException: connection refused");
		outage.set(false);
		TestNode operator = node(TestNode.withoutHandler(this.other));
		int requeued = 0;
		DeadStep step = operator.deadTasks().requeueAll(TestNode.NAME, new DeadSelection("refused", null), null);
		while (step.remaining()) {
			assertThat(step.affected()).isLessThanOrEqualTo(500);
			requeued += step.affected();
			step = operator.deadTasks().requeueAll(TestNode.NAME, new DeadSelection("refused", null), step.cursor());
		}
		assertThat(requeued + step.affected()).isEqualTo(600);
		await().until(() -> node.counts().completed() == 600);
		assertThat(this.runs).hasSize(600).allSatisfy((key, runs) -> assertThat(runs).hasValue(1));
		assertThat(operator.deadTasks().deleteAll(TestNode.NAME, new DeadSelection(null, null), null))
			.isEqualTo(new DeadStep(100, 0, false, null));
		await().until(() -> this.store.counts(List.of()).isEmpty());
	}

	@Test
	void aGroupOfTheDeadIsActedOnExactly() {
		TestNode node = node(TestNode.start(this.store, (argument, context) -> {
			throw new IllegalStateException((argument < 3) ? "HTTP 50" : "HTTP 503");
		}, new TestSettings().maxAttempts(1)));
		IntStream.range(0, 10).forEach((i) -> node.enqueue("k" + i, Duration.ZERO, i));
		await().until(() -> dead(TestNode.NAME) == 10);
		DeadGroups.Group group = node.deadTasks()
			.byError(TestNode.NAME, null)
			.groups()
			.stream()
			.filter((one) -> one.count() == 3)
			.findFirst()
			.orElseThrow();
		TestNode operator = node(TestNode.withoutHandler(this.other));
		assertThat(operator.deadTasks().deleteAll(TestNode.NAME, new DeadSelection(null, group.group()), null))
			.isEqualTo(new DeadStep(3, 0, false, null));
		assertThat(operator.dead()).hasSize(7).allMatch((task) -> task.error().endsWith("HTTP 503"));
	}

	private long dead(String name) {
		return this.store.counts(List.of()).getOrDefault(name, StoredCounts.NONE).dead();
	}

	private Reply begin(TaskRef task) {
		return this.store.begin(List.of(task), LEASE).get(0);
	}

	private void store(String name, String payload) {
		this.store.enqueue(List.of(new NewTask(UUID.randomUUID().toString(), name, null, payload, null,
				DueTime.after(Duration.ZERO), IfPending.REPLACE, null)));
	}

	@Test
	void whatCannotBeStoredIsRefused() {
		TestNode node = node(TestNode.start(this.store, (argument, context) -> count(argument)));
		assertThatIllegalArgumentException().isThrownBy(
				() -> node.durable().enqueue(new TaskId(TestNode.NAME, "k"), Duration.ZERO, "x".repeat(100_000)));
		assertThatIllegalArgumentException().isThrownBy(() -> node.enqueue("x".repeat(513), Duration.ZERO, 1))
			.withMessageContaining("512");
		assertThatIllegalArgumentException().isThrownBy(() -> node.enqueue("\0", Duration.ZERO, 1))
			.withMessageContaining("NUL");
		assertThat(this.store.counts(List.of())).isEmpty();
	}

}
