package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The contract of names that are paused or whose starts are limited, over all nodes of a
 * store.
 */
public abstract class StartLimitContractTests extends StoreTestSupport {

	/** At most two tasks run at once. */
	protected static final StartLimits TWO = new StartLimits(2, 0, 0, 1);

	/** At most one task of a key runs at once. */
	private static final StartLimits ONE_PER_KEY = new StartLimits(0, 1, 0, 1);

	private static final String OTHER_NAME = "send-mail";

	private static final String HOURLY = "every(PT1H)";

	private static final String PAYLOAD = "{\"v\":1,\"handler\":\"" + TestNode.NAME + "\",\"args\":[0]}";

	/** Long enough that a node which waits for a poll fails the test. */
	private static final Duration LONG_POLL = Duration.ofMinutes(2);

	/** Much less than {@link #LONG_POLL}, and enough for a busy machine. */
	private static final Duration SOON_ENOUGH = Duration.ofMinutes(1);

	/** A database ends no transaction of a claim that is silent for a shorter time. */
	private static final Duration TOLERATED_SILENCE = Duration.ofSeconds(2);

	private final List<TestNode> nodes = new ArrayList<>();

	private final Queue<Integer> runs = new ConcurrentLinkedQueue<>();

	/**
	 * Whether the runs of a node that knows no limit count for the other nodes.
	 */
	protected boolean countsNodesWithoutTheLimit() {
		return true;
	}

	@AfterEach
	void closeNodes() throws Exception {
		TestNode.closeAll(this.nodes);
	}

	private TestNode node(TestNode node) {
		this.nodes.add(node);
		return node;
	}

	private TestNode start(DelayedTaskStore store) {
		return node(TestNode.start(store, (number, context) -> this.runs.add(number)));
	}

	@Test
	void allNodesReadTheNamesThatArePaused() {
		assertThat(this.store.pausedNames()).isEmpty();
		this.store.setPaused("bill", true);
		this.store.setPaused("mail", true);
		this.store.setPaused("mail", true);
		assertThat(this.other.pausedNames()).containsExactlyInAnyOrder("bill", "mail");
		this.other.setPaused("bill", false);
		this.other.setPaused("never paused", false);
		assertThat(this.store.pausedNames()).containsExactly("mail");
		assertThatIllegalArgumentException().isThrownBy(() -> this.store.setPaused("x".repeat(256), true));
	}

	@Test
	void aPausedNameIsNotStartedByAnyNodeAndItsTasksStayPending() {
		TestNode first = start(this.store);
		TestNode second = start(this.other);
		Duration delay = Duration.ofSeconds(1);
		enqueueAndPause(first, delay);
		while (this.store.find(TaskId.of(TestNode.NAME, "leased")).isEmpty()) {
			// The machine was so slow that the task has begun before the pause.
			await().until(() -> this.runs.size() == 1);
			this.runs.clear();
			first.durable().setPaused(TestNode.NAME, false);
			await().until(() -> !second.durable().isPaused(TestNode.NAME));
			delay = delay.multipliedBy(3);
			enqueueAndPause(first, delay);
		}
		assertThat(first.durable().isPaused(TestNode.NAME)).isTrue();
		await().until(() -> second.durable().isPaused(TestNode.NAME));
		first.enqueue("a", Duration.ofMillis(1), 2);
		second.enqueue("b", Duration.ZERO, 3);
		await().until(() -> this.store.counts().get(TestNode.NAME).overdue() == 3);
		await().until(() -> second.durable().storedTasks().counts().get(TestNode.NAME).waiting() == 3);
		assertThat(this.runs).isEmpty();
		assertThat(this.store.cancel(TaskId.of(TestNode.NAME, "b"))).isTrue();
		assertThat(this.store.find(TaskId.of(TestNode.NAME, "a"))).isPresent();
		second.durable().setPaused(TestNode.NAME, false);
		await().until(() -> this.runs.size() == 2);
		await().until(() -> !first.durable().isPaused(TestNode.NAME));
		assertThat(this.runs).containsExactlyInAnyOrder(1, 2);
	}

	@Test
	void aNodeWithoutRoomGivesBackTheTasksOfANameThatAnotherNodePauses() {
		CountDownLatch mayEnd = new CountDownLatch(1);
		try {
			TestNode node = node(TestNode.start(this.store,
					Map.of(TestNode.NAME, (number, context) -> this.runs.add(number), OTHER_NAME,
							(number, context) -> mayEnd.await()),
					new TestSettings().maxInFlight(2).lookAhead(Duration.ofMinutes(1))));
			node.enqueue("leased", Duration.ofSeconds(45), 1);
			node.durable().enqueue(new TaskId(OTHER_NAME, "k"), Duration.ZERO, 2);
			await().until(() -> node.durable().inFlight() == 2 && node.busyThreads() == 1);
			this.other.setPaused(TestNode.NAME, true);
			await().until(() -> node.durable().inFlight() == 1);
			assertThat(this.runs).isEmpty();
			assertThat(this.store.find(TaskId.of(TestNode.NAME, "leased"))).isPresent();
		}
		finally {
			mayEnd.countDown();
		}
	}

	/**
	 * Pauses the name of a task that the node has leased, and waits until the node has
	 * given the task back or has run it.
	 */
	private static void enqueueAndPause(TestNode node, Duration delay) {
		node.enqueue("leased", delay, 1);
		node.durable().setPaused(TestNode.NAME, true);
		await().until(() -> node.durable().inFlight() == 0);
	}

	private static Claimed claim(DelayedTaskStore store, StartLimits limits, boolean suspect, int limit) {
		return claim(store, new ClaimRequest("a", Map.of(NAME, new Limit(limit, 0)), limit, suspect, LOOK_AHEAD, LEASE,
				ANY_SIZE, Map.of(NAME, limits)));
	}

	/**
	 * Claims, and claims again if the database has ended the transaction of the claim. A
	 * database may do so when a node stalls for some seconds. The first claim then has no
	 * effect.
	 */
	private static Claimed claim(DelayedTaskStore store, ClaimRequest request) {
		long start = System.nanoTime();
		try {
			return store.claim(request);
		}
		catch (RuntimeException ex) {
			if (System.nanoTime() - start < TOLERATED_SILENCE.toNanos()) {
				throw ex;
			}
			return store.claim(request);
		}
	}

	protected static List<LeasedTask> claim(DelayedTaskStore store, StartLimits limits) {
		return claim(store, limits, false, 100).tasks();
	}

	private static @Nullable LeasedTask claimSuspect(DelayedTaskStore store, StartLimits limits) {
		List<LeasedTask> tasks = claim(store, limits, true, 100).tasks();
		return (tasks.size() == 1 && tasks.get(0).suspect()) ? tasks.get(0) : null;
	}

	/**
	 * Stores tasks that are due, one after another.
	 * @return their ids, in the order of their due times
	 */
	private List<String> enqueueDue(int count) {
		long now = this.store.now();
		return IntStream.range(0, count)
			.mapToObj((i) -> this.store
				.enqueue(task(NAME, "k" + i, new DueTime(now - 1000 + i, true), IfPending.REPLACE, null))
				.id())
			.toList();
	}

	private static List<String> ids(List<LeasedTask> tasks) {
		return tasks.stream().map(LeasedTask::id).toList();
	}

	@Test
	void noMoreTasksRunAtOnceOnAllNodesThanTheLimit() {
		List<String> ids = enqueueDue(5);
		Claimed first = claim(this.store, TWO, false, 100);
		assertThat(ids(first.tasks())).containsExactlyElementsOf(ids.subList(0, 2));
		assertThat(first.tasks()).allMatch(LeasedTask::begun);
		assertThat(first.heldBack()).containsExactly(NAME);
		Claimed none = claim(this.other, TWO, false, 100);
		assertThat(none.tasks()).isEmpty();
		assertThat(none.heldBack()).containsExactly(NAME);
		assertThat(none.nextAt()).isGreaterThan(none.now());
		assertThat(acknowledge(this.store, first.tasks().get(1).ref())).isEqualTo(Reply.DONE);
		assertThat(acknowledge(this.store, first.tasks().get(1).ref())).isEqualTo(Reply.DONE);
		assertThat(ids(claim(this.other, TWO))).containsExactly(ids.get(2));
		assertThat(claim(this.store, TWO)).isEmpty();
		assertThat(acknowledge(this.store, first.tasks().get(0).ref())).isEqualTo(Reply.DONE);
		assertThat(ids(claim(this.store, TWO))).containsExactly(ids.get(3));
		assertThat(claim(this.other, TWO)).isEmpty();
	}

	@Test
	void tasksThatWaitForPlacesStartInTheOrderOfTheirDueTimes() {
		List<String> ids = new ArrayList<>();
		long now = this.store.now();
		for (int i = 0; i < 20; i++) {
			DueTime due = new DueTime(now - HOUR.toMillis() - i, true);
			ids.add(0, this.store.enqueue(task(NAME, null, due, IfPending.REPLACE, null)).id());
		}
		List<String> started = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			DelayedTaskStore node = (i % 4 < 2) ? this.store : this.other;
			List<LeasedTask> tasks = claim(node, TWO);
			started.addAll(ids(tasks));
			tasks.forEach((task) -> assertThat(acknowledge(node, task.ref())).isEqualTo(Reply.DONE));
		}
		assertThat(started).containsExactlyElementsOf(ids);
		Enqueued later = enqueue("later", SOON);
		Claimed none = claim(this.store, TWO, false, 100);
		assertThat(none.tasks()).isEmpty();
		assertThat(none.now()).isGreaterThanOrEqualTo(now);
		assertThat(claim(this.store, TWO, false, 100).startAt()).isEqualTo(later.dueAt());
	}

	/**
	 * The limits of two nodes differ in another point, so that they may use different
	 * requests.
	 */
	@Test
	void nodesThatClaimAtTheSameTimeKeepTheLimitTogether() throws Exception {
		enqueueDue(120);
		assertThat(mostThatRunAtOnce(120, 1, (node) -> new StartLimits(3, (node % 2 == 0) ? 0 : 3, 0, 1))).isBetween(1,
				3);
	}

	/**
	 * Each node keeps its tasks for a while, so that the claims of the others find the
	 * name locked, and many, few or no free places.
	 */
	@Test
	void nodesThatClaimAtTheSameTimeKeepALargeLimitTogether() throws Exception {
		this.store.enqueueAll(Stream.generate(() -> task(NAME, null, new DueTime(1000, true), IfPending.REPLACE, null))
			.limit(800)
			.toList());
		assertThat(mostThatRunAtOnce(800, 20, (node) -> new StartLimits(40, 0, 0, 1))).isBetween(10, 40);
	}

	/**
	 * Lets four nodes, two on each store, claim at the same time until all tasks have
	 * run.
	 * @param tasks how many tasks are due
	 * @param kept a node that has so many tasks, or finds no more, acknowledges them
	 * @param limits the limits of each node
	 */
	private int mostThatRunAtOnce(int tasks, int kept, IntFunction<StartLimits> limits) throws Exception {
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		Set<String> ended = ConcurrentHashMap.newKeySet();
		List<Callable<Void>> nodes = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			DelayedTaskStore node = (i < 2) ? this.store : this.other;
			StartLimits own = limits.apply(i);
			nodes.add(() -> {
				List<LeasedTask> tasksOfNode = new ArrayList<>();
				while (ended.size() < tasks && !Thread.currentThread().isInterrupted()) {
					List<LeasedTask> claimed = claim(node, own, false, 10).tasks();
					most.accumulateAndGet(running.addAndGet(claimed.size()), Math::max);
					tasksOfNode.addAll(claimed);
					if (claimed.isEmpty() || tasksOfNode.size() >= kept) {
						for (LeasedTask task : tasksOfNode) {
							running.decrementAndGet();
							acknowledge(node, task.ref());
							assertThat(ended.add(task.id())).as("the only run of %s", task).isTrue();
						}
						tasksOfNode.clear();
					}
				}
				return null;
			});
		}
		ExecutorService threads = Executors.newFixedThreadPool(nodes.size());
		try {
			for (Future<Void> node : threads.invokeAll(nodes, 3, TimeUnit.MINUTES)) {
				node.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(ended).hasSize(tasks);
		return most.get();
	}

	@Test
	void aTaskThatIsRetriedGivenBackOrDeadGivesItsPlaceBack() {
		List<String> ids = enqueueDue(6);
		List<LeasedTask> tasks = claim(this.store, TWO);
		assertThat(retry(this.store, tasks.get(0).ref(), 2, HOUR)).isEqualTo(Reply.DONE);
		assertThat(bury(this.store, tasks.get(1).ref())).isEqualTo(Reply.DONE);
		tasks = claim(this.other, TWO);
		assertThat(ids(tasks)).containsExactlyElementsOf(ids.subList(2, 4));
		assertThat(release(this.other, tasks.get(0).ref())).isEqualTo(Reply.DONE);
		assertThat(ids(claim(this.store, TWO))).containsExactly(ids.get(2));
		assertThat(claim(this.other, TWO)).isEmpty();
	}

	@Test
	void aClaimTakesNoMoreThanItsOwnLimitAndNothingThatIsDueLater() {
		List<String> ids = enqueueDue(3);
		Enqueued later = enqueue("later", SOON);
		Claimed one = claim(this.store, TWO, false, 1);
		assertThat(ids(one.tasks())).containsExactly(ids.get(0));
		assertThat(one.heldBack()).isEmpty();
		assertThat(ids(claim(this.store, new StartLimits(100, 0, 0, 1)))).containsExactlyElementsOf(ids.subList(1, 3));
		Claimed none = claim(this.store, new StartLimits(100, 0, 0, 1), false, 100);
		assertThat(none.tasks()).isEmpty();
		assertThat(none.heldBack()).isEmpty();
		assertThat(none.startAt()).isEqualTo(later.dueAt());
	}

	@Test
	void aClaimWithoutTasksTellsWhatMayStartWhenTheNodeClaimsAgain() {
		AtomicLong clock = new AtomicLong(this.store.now());
		this.store.setClock(clock::get);
		Duration pause = Duration.ofSeconds(1);
		Enqueued next = enqueue("next", pause);
		Claimed claimed = this.store.claim(new ClaimRequest("a", Map.of(NAME, new Limit(10, 0)), 10, true, LOOK_AHEAD,
				LEASE, ANY_SIZE, Map.of(NAME, TWO), pause));
		assertThat(claimed.tasks()).isEmpty();
		assertThat(claimed.startAt()).isEqualTo(next.dueAt());
	}

	@Test
	void aRunWhoseLeaseHasEndedHasNoPlaceAndItsNodeCannotRenewIt() {
		enqueueDue(4);
		List<LeasedTask> stopped = claim(this.store, TWO);
		clockAhead(LEASE.plusSeconds(1));
		List<LeasedTask> next = claim(this.other, TWO);
		assertThat(next).as("one of the two places is for a suspect").hasSize(1);
		assertThat(this.store.renew(stopped.stream().map(LeasedTask::ref).toList(), LEASE)).containsOnly(Reply.REFUSED);
		LeasedTask suspect = claimSuspect(this.other, TWO);
		assertThat(suspect).isNotNull();
		assertThat(begin(this.other, suspect.ref())).isEqualTo(Reply.DONE);
		assertThat(this.other.renew(refs(suspect), LEASE)).containsExactly(Reply.DONE);
		assertThat(claimSuspect(this.store, TWO)).isNull();
		assertThat(claim(this.other, TWO)).isEmpty();
		assertThat(acknowledge(this.store, stopped.get(0).ref())).isEqualTo(Reply.REFUSED);
		assertThat(claim(this.other, TWO)).as("a reply to a node without the task frees nothing").isEmpty();
		assertThat(acknowledge(this.other, suspect.ref())).isEqualTo(Reply.DONE);
		assertThat(claim(this.other, TWO)).isEmpty();
		LeasedTask second = claimSuspect(this.store, TWO);
		assertThat(second).isNotNull();
		assertThat(claim(this.other, TWO)).as("a suspect has its place before it begins").isEmpty();
		assertThat(acknowledge(this.other, next.get(0).ref())).isEqualTo(Reply.DONE);
		assertThat(claim(this.other, TWO)).hasSize(1);
	}

	@Test
	void aRenewedRunKeepsItsPlace() {
		enqueueDue(3);
		List<LeasedTask> tasks = claim(this.store, TWO);
		clockAhead(LEASE.dividedBy(2));
		assertThat(this.store.renew(tasks.stream().map(LeasedTask::ref).toList(), LEASE)).containsOnly(Reply.DONE);
		clockAhead(LEASE.plusSeconds(5));
		assertThat(claim(this.other, TWO)).isEmpty();
		assertThat(acknowledge(this.store, tasks.get(0).ref())).isEqualTo(Reply.DONE);
		assertThat(claim(this.other, TWO)).hasSize(1);
	}

	@Test
	void theTasksOfAKeyFollowOneAnother() {
		String first = this.store.enqueue(task("k", Duration.ZERO)).id();
		LeasedTask running = claim(this.store, ONE_PER_KEY).get(0);
		assertThat(running.id()).isEqualTo(first);
		String second = this.store.enqueue(task("k", Duration.ZERO)).id();
		String third = this.store.enqueue(task("other key", Duration.ZERO)).id();
		String unkeyed = this.store.enqueue(task(null, Duration.ZERO)).id();
		Claimed others = claim(this.other, ONE_PER_KEY, false, 100);
		assertThat(ids(others.tasks())).containsExactlyInAnyOrder(third, unkeyed);
		assertThat(others.heldBack()).containsExactly(NAME);
		assertThat(acknowledge(this.store, running.ref())).isEqualTo(Reply.DONE);
		assertThat(ids(claim(this.other, ONE_PER_KEY))).containsExactly(second);
	}

	@Test
	void tasksThatWaitForManyKeysHoldUpNoTaskOfAnotherKey() {
		long now = this.store.now();
		enqueueKeys("busy", 300, now - 3000);
		assertThat(claim(this.store, ONE_PER_KEY, false, 300).tasks()).hasSize(300);
		enqueueKeys("busy", 300, now - 2000);
		enqueueKeys("free", 30, now - 1000);
		for (int first = 0; first < 30; first += 10) {
			assertThat(claim(this.other, ONE_PER_KEY, false, 10).tasks()).extracting(LeasedTask::key)
				.containsExactlyElementsOf(IntStream.range(first, first + 10).mapToObj((i) -> "free " + i).toList());
		}
		assertThat(claim(this.other, ONE_PER_KEY)).isEmpty();
	}

	private void enqueueKeys(String prefix, int count, long due) {
		this.store.enqueueAll(IntStream.range(0, count)
			.mapToObj((i) -> task(NAME, prefix + " " + i, new DueTime(due + i, true), IfPending.REPLACE, null))
			.toList());
	}

	@Test
	void aTaskWaitsForTheRunOfItsKeyThatWasLost() {
		String first = this.store.enqueue(task("k", Duration.ZERO)).id();
		assertThat(ids(claim(this.store, ONE_PER_KEY))).containsExactly(first);
		String second = this.store.enqueue(task("k", Duration.ZERO)).id();
		clockAhead(LEASE.plusSeconds(1));
		assertThat(claim(this.other, ONE_PER_KEY)).isEmpty();
		assertThat(claim(this.other, ONE_PER_KEY)).isEmpty();
		LeasedTask suspect = claimSuspect(this.other, ONE_PER_KEY);
		assertThat(suspect).isNotNull();
		assertThat(suspect.id()).isEqualTo(first);
		assertThat(claim(this.store, ONE_PER_KEY)).isEmpty();
		assertThat(begin(this.other, suspect.ref())).isEqualTo(Reply.DONE);
		assertThat(claim(this.store, ONE_PER_KEY)).isEmpty();
		assertThat(acknowledge(this.other, suspect.ref())).isEqualTo(Reply.DONE);
		assertThat(ids(claim(this.store, ONE_PER_KEY))).containsExactly(second);
	}

	/**
	 * Tasks of these keys whose runs were lost with their node, the first one first. More
	 * tasks of a key run at once on a node that knows no limit.
	 */
	private List<String> enqueueLost(String... keys) {
		List<String> ids = new ArrayList<>();
		for (String key : keys) {
			// No two leases end in the same millisecond.
			clockAhead(Duration.ofMillis(ids.size()));
			ids.add(this.store.enqueue(task(key, Duration.ZERO)).id());
			assertThat(claim()).hasSize(1);
		}
		clockAhead(LEASE.plusSeconds(1));
		return ids;
	}

	@Test
	void lostRunsOfAKeyRunOneAfterTheOther() {
		lostRunsOfAKeyRunOneAfterTheOther(ONE_PER_KEY);
	}

	@Test
	void lostRunsOfAKeyRunOneAfterTheOtherIfOneTaskOfTheNameRunsAtOnce() {
		lostRunsOfAKeyRunOneAfterTheOther(new StartLimits(1, 1, 0, 1));
	}

	private void lostRunsOfAKeyRunOneAfterTheOther(StartLimits limits) {
		List<String> lost = enqueueLost("k", "k");
		String next = this.store.enqueue(task("k", Duration.ZERO)).id();
		Claimed first = claim(this.other, limits, false, 100);
		assertThat(first.tasks()).isEmpty();
		assertThat(first.nextAt()).as("it has found suspects").isLessThanOrEqualTo(first.now());
		for (String id : lost) {
			LeasedTask suspect = claimSuspect(this.other, limits);
			assertThat(suspect).isNotNull();
			assertThat(suspect.id()).isEqualTo(id);
			assertThat(claimSuspect(this.store, limits)).as("leased, not begun").isNull();
			assertThat(begin(this.other, suspect.ref())).isEqualTo(Reply.DONE);
			assertThat(claimSuspect(this.store, limits)).isNull();
			Claimed none = claim(this.store, limits, false, 100);
			assertThat(none.tasks()).isEmpty();
			assertThat(none.nextAt()).as("no reason to ask at once").isGreaterThan(none.now());
			assertThat(acknowledge(this.other, suspect.ref())).isEqualTo(Reply.DONE);
		}
		assertThat(ids(claim(this.store, limits))).containsExactly(next);
	}

	@Test
	void aLostRunWhoseKeyIsBusyHoldsUpNoOtherLostRun() {
		List<String> lost = enqueueLost("k", "k", "a", "b", "c", "d", "e", "f");
		assertThat(claim(this.other, ONE_PER_KEY)).isEmpty();
		LeasedTask first = claimSuspect(this.other, ONE_PER_KEY);
		assertThat(first).isNotNull();
		assertThat(begin(this.other, first.ref())).isEqualTo(Reply.DONE);
		List<String> others = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			LeasedTask suspect = claimSuspect(this.store, ONE_PER_KEY);
			assertThat(suspect).isNotNull();
			assertThat(begin(this.store, suspect.ref())).isEqualTo(Reply.DONE);
			others.add(suspect.id());
		}
		List<String> all = new ArrayList<>(others);
		all.add(first.id());
		assertThat(all).doesNotHaveDuplicates();
		assertThat(lost).containsAll(all);
		assertThat(claimSuspect(this.store, ONE_PER_KEY)).isNull();
		assertThat(acknowledge(this.other, first.ref())).isEqualTo(Reply.DONE);
		assertThat(claimSuspect(this.store, ONE_PER_KEY)).isNotNull();
	}

	@Test
	void aLostRunWhoseNodeIsLostBeforeItBeginsHoldsUpNoOtherRunOfItsKey() {
		List<String> lost = enqueueLost("k", "k");
		assertThat(claim(this.other, ONE_PER_KEY)).isEmpty();
		LeasedTask first = claimSuspect(this.other, ONE_PER_KEY);
		assertThat(first).isNotNull();
		clockAhead(LEASE.plusSeconds(1).multipliedBy(2));
		LeasedTask again = claimSuspect(this.store, ONE_PER_KEY);
		assertThat(again).isNotNull();
		assertThat(begin(this.other, first.ref())).isEqualTo(Reply.REFUSED);
		assertThat(begin(this.store, again.ref())).isEqualTo(Reply.DONE);
		assertThat(acknowledge(this.store, again.ref())).isEqualTo(Reply.DONE);
		LeasedTask last = claimSuspect(this.store, ONE_PER_KEY);
		assertThat(last).isNotNull();
		assertThat(lost).containsExactlyInAnyOrder(again.id(), last.id());
	}

	@Test
	void theRunsOfAScheduleAndTheTasksOfItsKeyFollowOneAnother() {
		long now = this.store.now();
		Enqueued schedule = recur("k", now - 2000, HOURLY);
		String once = this.store.enqueue(task(NAME, "k", new DueTime(now - 1000, true), IfPending.REPLACE, null)).id();
		List<LeasedTask> run = claim(this.store, ONE_PER_KEY);
		assertThat(ids(run)).containsExactly(schedule.id());
		assertThat(claim(this.other, ONE_PER_KEY)).isEmpty();
		NextRun end = new NextRun(run.get(0).ref(), HOURLY, DueTime.after(HOUR), null);
		assertThat(this.store.repeat(List.of(end))).containsExactly(Reply.DONE);
		List<LeasedTask> task = claim(this.other, ONE_PER_KEY);
		assertThat(ids(task)).containsExactly(once);
		Enqueued second = recur("k", now - 2000, "every(PT2H)");
		assertThat(claim(this.store, ONE_PER_KEY)).isEmpty();
		assertThat(acknowledge(this.other, task.get(0).ref())).isEqualTo(Reply.DONE);
		List<LeasedTask> cancelled = claim(this.store, ONE_PER_KEY);
		assertThat(ids(cancelled)).containsExactly(second.id());
		assertThat(this.store.cancel(key("k"))).isTrue();
		String last = this.store.enqueue(task("k", Duration.ZERO)).id();
		assertThat(claim(this.store, ONE_PER_KEY)).as("the run of the cancelled schedule goes on").isEmpty();
		assertThat(acknowledge(this.store, cancelled.get(0).ref())).isEqualTo(Reply.DONE);
		assertThat(ids(claim(this.store, ONE_PER_KEY))).containsExactly(last);
	}

	private Enqueued recur(String key, long first, String schedule) {
		return this.store.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, key, "payload", null, schedule,
				new DueTime(first, true)));
	}

	@Test
	void anotherRateOrAnotherTimeHoldsUpTheNameForItsOwnBurstOnly() {
		AtomicLong clock = new AtomicLong(this.store.now());
		this.store.setClock(clock::get);
		this.other.setClock(clock::get);
		for (int i = 0; i < 5; i++) {
			this.store.enqueue(task(NAME, null, new DueTime(1000 + i, true), IfPending.REPLACE, null));
		}
		StartLimits hourly = new StartLimits(0, 0, HOUR.toMillis() * 1000, 1);
		StartLimits fast = new StartLimits(0, 0, 10_000, 1);
		assertThat(claim(this.store, hourly)).hasSize(1);
		Claimed none = claim(this.store, fast, false, 100);
		assertThat(none.tasks()).isEmpty();
		assertThat(none.startAt()).isEqualTo(clock.get() + 10);
		clock.addAndGet(10);
		assertThat(claim(this.other, fast)).as("the rate was raised").hasSize(1);
		clock.addAndGet(-HOUR.toMillis());
		assertThat(claim(this.other, fast)).isEmpty();
		clock.addAndGet(10);
		assertThat(claim(this.other, fast)).as("the clock was set back").hasSize(1);
	}

	/**
	 * The clock of a node fails at one reading after another, which ends a claim at each
	 * of its steps.
	 */
	@Test
	void aClaimThatFailsHalfwayReturnsTheTasksThatHaveBegun() {
		AtomicLong clock = new AtomicLong(this.store.now());
		AtomicInteger readings = new AtomicInteger(Integer.MAX_VALUE);
		this.store.setClock(() -> {
			if (readings.getAndDecrement() == 0) {
				throw new IllegalStateException("The test ends this claim");
			}
			return clock.get();
		});
		this.other.setClock(clock::get);
		StartLimits limits = new StartLimits(1000, 0, 0, 1);
		int halfway = 0;
		boolean failed = true;
		for (int step = 0; failed; step++) {
			failed = false;
			for (int turn = 0; turn < 2; turn++) {
				for (String name : List.of(NAME, OTHER_NAME, "third")) {
					this.other
						.enqueue(task(name, null, new DueTime(clock.get() - 1000, true), IfPending.REPLACE, null));
				}
				readings.set(step);
				Claimed claimed = null;
				try {
					Limit any = new Limit(20, 20);
					claimed = this.store.claim(new ClaimRequest("a", Map.of(NAME, any, OTHER_NAME, any, "third", any),
							100, false, LOOK_AHEAD, LEASE, ANY_SIZE, Map.of(NAME, limits, "third", limits)));
				}
				catch (RuntimeException ex) {
					assertThat(ex).hasMessageContaining("The test ends this claim");
				}
				failed |= readings.getAndSet(Integer.MAX_VALUE) < 0;
				long running = this.other.counts().values().stream().mapToLong(StoredCounts::running).sum();
				assertThat((claimed != null) ? claimed.tasks().size() : 0).as("step %d", step).isEqualTo((int) running);
				if (claimed != null && running < 3) {
					halfway++;
					assertThat(claimed.tasks()).isNotEmpty();
					assertThat(claimed.nextAt()).as("asks again at once").isLessThanOrEqualTo(claimed.now());
				}
				this.other.deleteAll();
			}
		}
		assertThat(halfway).isPositive();
	}

	@Test
	void startsAreSpreadOverTheTimeOnAllNodesTogether() {
		StartLimits rate = new StartLimits(0, 0, 10_000, 4);
		AtomicLong clock = new AtomicLong(this.store.now());
		this.store.setClock(clock::get);
		this.other.setClock(clock::get);
		enqueueDue(60);
		assertThat(claim(this.store, rate)).hasSize(4);
		Claimed none = claim(this.other, rate, false, 100);
		assertThat(none.tasks()).isEmpty();
		assertThat(none.startAt()).isEqualTo(clock.get() + 20);
		assertThat(none.heldBack()).isEmpty();
		clock.addAndGet(9);
		assertThat(claim(this.other, rate)).isEmpty();
		clock.addAndGet(1);
		assertThat(claim(this.other, rate)).hasSize(1);
		clock.addAndGet(25);
		assertThat(claim(this.store, rate, false, 1).tasks()).hasSize(1);
		assertThat(claim(this.other, rate)).hasSize(1);
		assertThat(claim(this.store, rate)).isEmpty();
		int starts = 0;
		for (int millis = 0; millis < 300; millis++) {
			clock.addAndGet(1);
			starts += claim((millis % 2 == 0) ? this.store : this.other, rate).size();
		}
		assertThat(starts).isEqualTo(30);
		clock.addAndGet(HOUR.toMillis());
		assertThat(claim(this.store, rate)).as("no more than a burst after a pause").hasSize(4);
	}

	/**
	 * Two nodes stall within their claims, at one reading of the clock after another, and
	 * then the starts of a second follow.
	 */
	@Test
	void claimsThatStallAddNoStartsToTheNextSecond() {
		StartLimits rate = new StartLimits(0, 0, 10_000, 6);
		AtomicLong clock = new AtomicLong(this.store.now());
		boolean stalled = true;
		for (int step = 0; stalled; step += 1 + step / 2) {
			this.store.deleteAll();
			this.store
				.enqueueAll(Stream.generate(() -> task(NAME, null, new DueTime(1000, true), IfPending.REPLACE, null))
					.limit(150)
					.toList());
			List<Long> starts = new ArrayList<>();
			AtomicBoolean stall = new AtomicBoolean();
			this.other.setClock(stalling(step, clock, () -> {
			}));
			this.store.setClock(stalling(step, clock, () -> {
				stall.set(true);
				// Another thread, since transactions belong to threads
				CompletableFuture.runAsync(() -> start(this.other, rate, clock, starts)).join();
			}));
			start(this.store, rate, clock, starts);
			stalled = stall.get();
			this.store.setClock(clock::get);
			this.other.setClock(clock::get);
			long afterwards = clock.get();
			for (int i = 0; i < 17; i++, clock.addAndGet(60)) {
				start((i % 2 == 0) ? this.store : this.other, rate, clock, starts);
			}
			assertThat(mostInASecond(starts)).as("reading %d", step).isLessThanOrEqualTo(110);
			assertThat(starts).as("reading %d", step)
				.filteredOn((start) -> start >= afterwards)
				.hasSizeGreaterThanOrEqualTo(95);
		}
	}

	/**
	 * A clock that advances by 60 ms at one of its readings, as for a node that stalls.
	 */
	private static LongSupplier stalling(int reading, AtomicLong clock, Runnable meanwhile) {
		AtomicInteger readings = new AtomicInteger(reading);
		return () -> {
			if (readings.getAndDecrement() == 0) {
				clock.addAndGet(60);
				meanwhile.run();
			}
			return clock.get();
		};
	}

	private static void start(DelayedTaskStore store, StartLimits limits, AtomicLong clock, List<Long> starts) {
		int tasks = claim(store, limits).size();
		starts.addAll(Collections.nCopies(tasks, clock.get()));
	}

	private static long mostInASecond(List<Long> starts) {
		return starts.stream()
			.mapToLong((first) -> starts.stream().filter((start) -> start >= first && start < first + 1000).count())
			.max()
			.orElse(0);
	}

	/**
	 * The backlog of an outage: more tasks than a claim takes, and a schedule whose run
	 * has expired.
	 */
	@Test
	void whatHasExpiredCountsForNoRateAndHoldsUpNoFreshTask() throws Exception {
		enqueueExpired(150);
		this.store.recur(new NewSchedule(UUID.randomUUID().toString(), TestNode.NAME, "s", PAYLOAD, null, HOURLY,
				new DueTime(this.store.now() - 120_000, true)));
		TestNode node = node(TestNode.start(this.store, (number, context) -> this.runs.add(number), limits(null, "1/h"),
				Duration.ofMinutes(1)));
		await().until(() -> node.counts().expired() == 151);
		node.enqueue("fresh", Duration.ZERO, 1);
		await().until(() -> this.runs.size() == 1);
		node.enqueue("second of the hour", Duration.ZERO, 2);
		await().until(() -> this.store.counts().get(TestNode.NAME).overdue() == 1);
		assertThat(this.store.find(TaskId.of(TestNode.NAME, "s")))
			.hasValueSatisfying((schedule) -> assertThat(schedule.dueAt()).isGreaterThan(this.store.now()));
		assertThat(this.runs).containsExactly(1);
	}

	@Test
	void whatHasExpiredTakesNoPlace() throws Exception {
		CountDownLatch mayEnd = new CountDownLatch(1);
		try {
			TestNode node = node(TestNode.start(this.store, (number, context) -> {
				this.runs.add(number);
				mayEnd.await();
			}, limits(1, null), Duration.ofMinutes(1)));
			node.enqueue("blocker", Duration.ZERO, 1);
			await().until(() -> this.runs.size() == 1);
			enqueueExpired(150);
			await().until(() -> node.counts().expired() == 150);
			node.enqueue("fresh", Duration.ZERO, 2);
			mayEnd.countDown();
			await().until(() -> this.runs.size() == 2);
		}
		finally {
			mayEnd.countDown();
		}
	}

	/**
	 * The order of tasks in memory.
	 */
	@Test
	void aWaitingTaskThatShallRunNowKeepsItsPlaceAndDueTime() throws Exception {
		CountDownLatch mayEnd = new CountDownLatch(1);
		try {
			TestNode node = node(TestNode.start(this.store, Map.of(TestNode.NAME, (number, context) -> {
				this.runs.add(number);
				mayEnd.await();
			}), limits(1, null), 4, Duration.ofMillis(200)));
			node.enqueue("blocker", Duration.ZERO, -1);
			await().until(() -> this.runs.size() == 1);
			List<DelayedTask<?>> waiting = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				waiting.add(node.enqueue("t" + i, Duration.ZERO, i));
				long dueAt = waiting.get(i).dueAt().toEpochMilli();
				await().until(() -> this.store.now() > dueAt);
			}
			Instant due = waiting.get(1).dueAt();
			assertThat(waiting.get(1).reschedule(Duration.ZERO)).isTrue();
			assertThat(waiting.get(1).dueAt()).isEqualTo(due);
			assertThat(waiting.get(2).reschedule(Duration.ofHours(-1))).isTrue();
			mayEnd.countDown();
			await().until(() -> this.runs.size() == 5);
			assertThat(this.runs).containsExactly(-1, 0, 1, 2, 3);
		}
		finally {
			mayEnd.countDown();
		}
	}

	private static PolicySettings limits(@Nullable Integer concurrent, @Nullable String rate) {
		return new PolicySettings(null, BackoffSettings.NONE, concurrent, null,
				(rate != null) ? StartRate.parse(rate) : null, null);
	}

	private void enqueueExpired(int count) {
		long now = this.store.now();
		this.store.enqueueAll(IntStream.range(0, count)
			.mapToObj((i) -> new NewTask(UUID.randomUUID().toString(), TestNode.NAME, null, PAYLOAD,
					new DueTime(now - 120_000 - i, true), IfPending.REPLACE, null))
			.toList());
	}

	@Test
	void whatWaitsCanBeCancelledReplacedMovedAndFound() {
		enqueueDue(5);
		assertThat(claim(this.store, TWO)).hasSize(2);
		assertThat(this.store.find(key("k2"))).isPresent();
		assertThat(this.other.cancel(key("k2"))).isTrue();
		assertThat(this.store.reschedule(key("k3"), DueTime.after(HOUR), null)).isNotNull();
		assertThat(this.store.enqueue(task("k4", HOUR)).outcome()).isEqualTo(Enqueued.Outcome.REPLACED);
		assertThat(this.store.pending(NAME, 10)).hasSize(2).allMatch((task) -> task.state() == State.PENDING);
	}

	@Test
	void theRunsOfSchedulesTakePlacesAndGiveThemBack() {
		long now = this.store.now();
		for (int i = 0; i < 3; i++) {
			recur("s" + i, now - 1000 + i, HOURLY);
		}
		List<LeasedTask> runs = claim(this.store, TWO);
		assertThat(runs).extracting(LeasedTask::key).containsExactly("s0", "s1");
		assertThat(claim(this.other, TWO)).isEmpty();
		NextRun next = new NextRun(runs.get(0).ref(), HOURLY, DueTime.after(HOUR), null);
		assertThat(this.store.repeat(List.of(next))).containsExactly(Reply.DONE);
		assertThat(this.store.repeat(List.of(next))).containsExactly(Reply.DONE);
		assertThat(claim(this.other, TWO)).extracting(LeasedTask::key).containsExactly("s2");
		assertThat(claim(this.store, TWO)).isEmpty();
	}

	@Test
	void aLimitedNameHoldsUpNoOtherName() {
		enqueueDue(5);
		NewTask other = task(OTHER_NAME, null, DueTime.after(Duration.ZERO), IfPending.REPLACE, null);
		NewTask soon = task(OTHER_NAME, null, DueTime.after(SOON), IfPending.REPLACE, null);
		List<String> others = Stream.of(other, soon).map((task) -> this.store.enqueue(task).id()).toList();
		List<String> claimed = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			Claimed both = claim(this.store,
					new ClaimRequest("a", Map.of(NAME, new Limit(10, 0), OTHER_NAME, new Limit(10, 10)), 100, i == 0,
							LOOK_AHEAD, LEASE, ANY_SIZE, Map.of(NAME, TWO)));
			claimed.addAll(ids(both.tasks()));
			assertThat(both.heldBack()).containsExactly(NAME);
		}
		assertThat(claimed).hasSize(4).containsAll(others);
	}

	@Test
	void nodesWithDifferentLimitsKeepTheirOwn() {
		List<String> ids = enqueueDue(6);
		StartLimits four = new StartLimits(4, 0, 0, 1);
		assertThat(claim(this.store, four)).hasSize(4);
		assertThat(claim(this.other, TWO)).isEmpty();
		assertThat(claim(this.other, new StartLimits(5, 0, 0, 1))).extracting(LeasedTask::id)
			.containsExactly(ids.get(4));
	}

	@Test
	void whatANodeWithoutTheLimitRunsCountsWhereTheStoreCanSeeIt() {
		enqueueDue(3);
		List<LeasedTask> tasks = claimByOther();
		assertThat(tasks).hasSize(3);
		enqueueDue(3);
		assertThat(claim(this.store, TWO)).hasSize(countsNodesWithoutTheLimit() ? 0 : 2);
		tasks.forEach((task) -> acknowledge(this.other, task.ref()));
		assertThat(claim(this.store, TWO)).hasSize(countsNodesWithoutTheLimit() ? 2 : 0);
	}

	private List<TestNode> startFour(PolicySettings policy, NumberBody body) throws Exception {
		return startFour(policy, LONG_POLL, body);
	}

	private List<TestNode> startFour(PolicySettings policy, Duration pollInterval, NumberBody body) throws Exception {
		List<TestNode> four = new ArrayList<>();
		for (DelayedTaskStore store : List.of(this.store, this.other, node(), node())) {
			four.add(node(TestNode.start(store, Map.of(TestNode.NAME, body), policy, 12, pollInterval)));
		}
		return four;
	}

	private static PolicySettings policy(@Nullable Integer concurrent, @Nullable Integer perKey,
			@Nullable String rate) {
		return new PolicySettings(null, BackoffSettings.NONE, concurrent, perKey,
				(rate != null) ? StartRate.parse(rate) : null, null);
	}

	@Test
	void fourNodesRunTenBodiesAtOnceNeitherMoreNorLess() throws Exception {
		int tasks = 300;
		int limit = 10;
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicInteger started = new AtomicInteger();
		CountDownLatch all = new CountDownLatch(limit);
		AtomicLong shortSince = new AtomicLong(Long.MAX_VALUE);
		AtomicLong longestShortage = new AtomicLong();
		TestNode storing = node(TestNode.withoutHandler(this.store));
		storing.durable()
			.enqueueAll(IntStream.range(0, tasks)
				.mapToObj((i) -> DurableCall.of(TaskId.of(TestNode.NAME, i), Duration.ZERO, i))
				.toList());
		List<TestNode> four = startFour(policy(limit, null, null), (number, context) -> {
			int now = running.incrementAndGet();
			most.accumulateAndGet(now, Math::max);
			if (now >= limit || started.incrementAndGet() > tasks - 2 * limit) {
				long since = shortSince.getAndSet(Long.MAX_VALUE);
				longestShortage.accumulateAndGet((since != Long.MAX_VALUE) ? System.nanoTime() - since : 0, Math::max);
			}
			all.countDown();
			all.await();
			Thread.sleep(ThreadLocalRandom.current().nextInt(20));
			shortSince.accumulateAndGet(System.nanoTime(), Math::min);
			running.decrementAndGet();
		});
		await().until(() -> four.stream().mapToLong((node) -> node.counts().completed()).sum() == tasks);
		assertThat(most).hasValue(limit);
		assertThat(Duration.ofNanos(longestShortage.get())).isLessThan(SOON_ENOUGH);
		assertThat(this.store.counts()).isEmpty();
	}

	@Test
	void theBodiesOfAKeyNeverOverlapAndKeepTheirOrder() throws Exception {
		int keys = 6;
		int runs = 8;
		Map<String, List<Integer>> order = new ConcurrentHashMap<>();
		Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
		Queue<String> overlaps = new ConcurrentLinkedQueue<>();
		TestNode storing = node(TestNode.withoutHandler(this.store));
		// Nodes find the tasks of the storing node when they poll.
		startFour(policy(null, 1, null), Duration.ofSeconds(1), (number, context) -> {
			String key = context.taskId().key();
			if (running.computeIfAbsent(key, (any) -> new AtomicInteger()).incrementAndGet() > 1) {
				overlaps.add(key);
			}
			order.computeIfAbsent(key, (any) -> new CopyOnWriteArrayList<>()).add(number);
			if (number + 1 < runs) {
				// The next task of the key is pending while this one runs.
				storing.durable().enqueue(TaskId.of(TestNode.NAME, key), Duration.ZERO, number + 1);
			}
			Thread.sleep(ThreadLocalRandom.current().nextInt(10));
			running.get(key).decrementAndGet();
		});
		for (int key = 0; key < keys; key++) {
			this.nodes.get(1).enqueue("key " + key, Duration.ZERO, 0);
		}
		await().until(() -> order.size() == keys && order.values().stream().allMatch((list) -> list.size() == runs));
		List<Integer> expected = IntStream.range(0, runs).boxed().toList();
		assertThat(order.values()).allSatisfy((list) -> assertThat(list).isEqualTo(expected));
		assertThat(overlaps).isEmpty();
	}

	@Test
	void nodesComeBackWhenTheRateAllowsTheNextStart() throws Exception {
		int tasks = 60;
		Queue<Long> starts = new ConcurrentLinkedQueue<>();
		TestNode storing = node(TestNode.withoutHandler(this.store));
		storing.durable()
			.enqueueAll(IntStream.range(0, tasks)
				.mapToObj((i) -> DurableCall.of(TaskId.of(TestNode.NAME, i), Duration.ZERO, i))
				.toList());
		long start = System.nanoTime();
		startFour(policy(null, null, "60/s"), (number, context) -> starts.add(System.nanoTime()));
		await().until(() -> starts.size() == tasks);
		// Bodies that the store has begun may start late.
		long nanos = Collections.max(starts) - start;
		assertThat(Duration.ofNanos(nanos)).isBetween(Duration.ofMillis(600), SOON_ENOUGH);
	}

	@Test
	void aTaskThatALimitedNodeStoresStartsAtItsTimeWithoutAPoll() throws Exception {
		List<TestNode> four = startFour(policy(2, null, null), (number, context) -> this.runs.add(number));
		Instant start = Instant.now();
		four.get(0).enqueue("moved", HOUR, 1);
		four.get(0).enqueue("soon", Duration.ofMillis(100), 2);
		four.get(0).enqueue("now", Duration.ZERO, 3);
		four.get(0).durable().reschedule(TaskId.of(TestNode.NAME, "moved"), Duration.ofMillis(200));
		await().until(() -> this.runs.size() == 3);
		assertThat(this.runs).containsExactlyInAnyOrder(1, 2, 3);
		assertThat(Duration.between(start, Instant.now())).isLessThan(SOON_ENOUGH);
	}

	@Test
	void aNameThatThePolicyPausesIsNotStartedByThisNode() {
		PolicySettings paused = new PolicySettings(null, BackoffSettings.NONE, null, null, null, true);
		TestNode first = node(
				TestNode.start(this.store, Map.of(TestNode.NAME, (number, context) -> this.runs.add(-number), "go on",
						(number, context) -> this.runs.add(number)), paused, 4, Duration.ofMillis(200)));
		first.enqueue("k", Duration.ZERO, 1);
		first.durable().enqueue(TaskId.of("go on", "k"), Duration.ofMillis(500), 2);
		await().until(() -> this.runs.size() == 1);
		assertThat(this.runs).containsExactly(2);
		start(this.other);
		await().until(() -> this.runs.size() == 2);
		assertThat(this.runs).containsExactly(2, 1);
	}

	@Test
	void aBodyThatRunsWhenItsNameIsPausedGoesOn() {
		LeasedTask task = begun("k");
		this.store.setPaused(NAME, true);
		assertThat(this.store.renew(refs(task), LEASE)).containsExactly(Reply.DONE);
		assertThat(acknowledge(this.store, task.ref())).isEqualTo(Reply.DONE);
	}

}
