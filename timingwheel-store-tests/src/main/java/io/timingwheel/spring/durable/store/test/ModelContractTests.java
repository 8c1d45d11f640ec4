package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Moved;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Makes random calls to a store and to the {@link InMemoryTaskStore}, which is the
 * reference, and compares the results, with a fixed seed and with a new one. The system
 * properties {@code timingwheel.seed} and {@code timingwheel.steps} repeat a run, and
 * make a longer one.
 *
 * @since 0.1
 */
public abstract class ModelContractTests extends StoreContract {

	private static final int STEPS = Integer.getInteger("timingwheel.steps", 1000);

	/** A name whose starts are limited, by each claim in another way. */
	private static final String LIMITED = "limited";

	private static final List<String> NAMES = List.of(NAME, LIMITED);

	private static final Share ALL = new Share(1000, 1000);

	/** Without limits, and nothing that is due later. */
	private static final Share DUE = new Share(1000, 0);

	/** The only rate, since a store may learn late that another one holds. */
	private static final long INTERVAL = 20_000_000;

	private static final List<String> KEYS = List.of("a", "b", "c", DelayedTaskStore.DECLARED_KEY);

	private long seed;

	private SplittableRandom random = new SplittableRandom();

	private final InMemoryTaskStore reference = new InMemoryTaskStore();

	/** What the nodes have, or had. */
	private final List<Held> held = new ArrayList<>();

	/** The latest fence of each task. */
	private final Map<String, Long> fences = new HashMap<>();

	/** The ids of stored tasks, as the store has them. */
	private final List<String> ids = new ArrayList<>();

	/** The milliseconds within their seconds at which the latest tasks are due. */
	private final Set<Long> dueTimes = new HashSet<>();

	private String step = "";

	static Stream<Arguments> randomCallsHaveTheResultsOfTheReference() {
		// The first one has two pending tasks of a key at step 19, of a name with limits.
		return Stream.of(arguments(34427890367786L, Math.min(STEPS, 300)),
				arguments(Long.getLong("timingwheel.seed", System.nanoTime()), STEPS));
	}

	@ParameterizedTest
	@MethodSource
	void randomCallsHaveTheResultsOfTheReference(long seed, int steps) {
		this.seed = seed;
		this.random = new SplittableRandom(seed);
		// The calls depend on the millisecond within its second.
		later(Duration.ofMillis(1000 - now() % 1000));
		this.reference.testing().setClock(this.clock::get);
		for (int i = 0; i < steps; i++) {
			later(Duration.ofMillis(1));
			this.step = "seed %d, step %d".formatted(this.seed, i);
			step(this.random.nextInt(22));
			if (i % 50 == 0 || i == 20) {
				compareTasks();
			}
		}
		compareTasks();
	}

	private void step(int call) {
		switch (call) {
			case 0, 1, 2, 3 -> enqueue(1);
			case 4 -> enqueue(this.random.nextInt(2, 6));
			case 5, 6 -> recur();
			case 7 -> {
				Target target = target();
				compare("cancel " + target, (store) -> store.cancel(own(store, target)));
			}
			case 8 -> {
				Target target = target();
				DueTime due = due();
				compare("move " + target, (store) -> Optional.ofNullable(store.move(own(store, target), due))
					.map((moved) -> new Moved(given(moved.id()), moved.name(), moved.dueAt(), moved.now())));
			}
			case 9, 10, 11 -> claim();
			case 12 -> begin(currentAndLatest());
			case 13 ->
				compareReplies("renew", currentAndLatest(), (store, tasks) -> store.renew(tasks, StoreNode.LEASE));
			case 14, 15, 16 -> settle();
			case 17 -> {
				later(Duration.ofSeconds(this.random.nextInt(1, 400)));
				claimAll();
			}
			case 18 -> decideAboutDeadTasks();
			case 19, 20 -> claimSuspects();
			default -> loseNodesOrPauseNames();
		}
	}

	// Calls of applications

	private void enqueue(int count) {
		List<NewTask> tasks = IntStream.range(0, count).mapToObj((i) -> newTask()).toList();
		compare("enqueue " + tasks,
				(store) -> store.enqueue(tasks).stream().map((stored) -> given(store, stored)).toList());
	}

	private NewTask newTask() {
		NewTask task = task(any(NAMES), (this.random.nextInt(4) == 0) ? null : any(KEYS), due(),
				any(List.of(IfPending.values())));
		boolean mayWait = task.ifPending() == IfPending.REPLACE && this.random.nextInt(3) > 0;
		Duration maxWait = mayWait ? delay(840_000).plusMinutes(1) : null;
		return new NewTask(newId(), task.name(), task.key(), task.payload(), trace(), task.due(), task.ifPending(),
				maxWait);
	}

	private String newId() {
		return new UUID(this.random.nextLong(), this.random.nextLong()).toString();
	}

	private @Nullable String trace() {
		int trace = this.random.nextInt(3);
		return (trace == 0) ? null : "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333%d-01".formatted(trace);
	}

	private DueTime due() {
		return switch (this.random.nextInt(4)) {
			case 0 -> DueTime.after(delay(1));
			case 1 -> at(in(delay(60_000)));
			case 2 -> at(in(delay(1).minusSeconds(1 + this.random.nextInt(10))));
			default -> DueTime.after(delay(3_600_000));
		};
	}

	/**
	 * A delay up to a bound. No two tasks are due in the same millisecond, so that their
	 * order is certain.
	 */
	private Duration delay(int bound) {
		if (this.dueTimes.size() == 1000) {
			this.dueTimes.clear();
		}
		Duration delay = Duration.ofMillis(this.random.nextInt(bound));
		while (!this.dueTimes.add(in(delay) % 1000)) {
			delay = delay.plusMillis(1);
		}
		return delay;
	}

	private void recur() {
		NewSchedule schedule = new NewSchedule(newId(), any(NAMES), any(KEYS), any(List.of("one payload", "another")),
				any(List.of(HOURLY, "every(PT2H)")), due(), this.random.nextBoolean());
		boolean declared = schedule.key().equals(DelayedTaskStore.DECLARED_KEY);
		NewSchedule allowed = new NewSchedule(schedule.id(), schedule.name(), schedule.key(), schedule.payload(),
				schedule.schedule(), schedule.first(), declared && schedule.onlyIfLost());
		compare("recur " + allowed, (store) -> {
			Enqueued stored = store.recur(allowed);
			return stored.id().isEmpty() ? stored.outcome() : given(store, stored);
		});
	}

	private Target target() {
		int which = this.random.nextInt(3);
		if (which == 0 && !this.ids.isEmpty()) {
			return Target.of(this.ids.get(Math.max(0, this.ids.size() - 1 - this.random.nextInt(30))));
		}
		if (which == 1 && !this.held.isEmpty()) {
			return id(this.held.get(Math.max(0, this.held.size() - 1 - this.random.nextInt(30))).ofStore);
		}
		return Target.of(new TaskId(any(NAMES), any(KEYS)), any(List.of(Kind.values())));
	}

	// Nodes

	/**
	 * Claims all tasks of some names, or a few of the limited name. Tasks that are too
	 * late to start end at once, as on a node.
	 */
	private void claim() {
		if (this.random.nextInt(4) == 0) {
			int few = this.random.nextInt(1, 4);
			claim(Map.of(LIMITED, new Share(few, 0, limits(), null)), few, false);
			return;
		}
		Map<String, Share> shares = new HashMap<>();
		if (this.random.nextInt(4) > 0) {
			shares.put(NAME, ALL);
		}
		if (this.random.nextInt(8) > 0) {
			Duration expireAfter = (this.random.nextInt(4) == 0) ? Duration.ofMinutes(1) : null;
			shares.put(LIMITED, limited(expireAfter));
		}
		claim(shares, 1000, false);
		List<Held> expired = current(
				(task) -> !task.begun && !task.ofStore.suspect() && task.ofStore.name().equals(LIMITED));
		begin(expired);
		expired.forEach((task) -> settle(List.of(task)));
	}

	private void claimAll() {
		claim(Map.of(NAME, ALL, LIMITED, limited(null)), 1000, false);
	}

	/** A node of another release may have other limits, or none. */
	private Share limited(@Nullable Duration expireAfter) {
		return (this.random.nextInt(8) == 0) ? DUE : new Share(1000, 0, limits(), expireAfter);
	}

	private StartLimits limits() {
		return new StartLimits(any(List.of(0, 0, 1, 3)), any(List.of(0, 1, 2)), any(List.of(0L, INTERVAL)), 4);
	}

	private boolean claim(Map<String, Share> shares, int limit, boolean suspect) {
		StoreNode node = anyNode();
		ClaimRequest request = node.request(shares, limit, suspect);
		Claimed ofStore = node.store().claim(request);
		Claimed ofReference = this.reference.claim(request);
		ClaimRequest nothing = node.request(
				shares.keySet().stream().collect(Collectors.toMap(Function.identity(), (name) -> new Share(0, 0))), 1,
				false);
		for (Claimed further = ofStore; further.newSuspects();) {
			// A claim may take away only some of the runs whose leases have ended.
			further = node.store().claim(nothing);
		}
		String claim = "claim of %s, %s".formatted(shares, this.step);
		hold(claim, ofStore.tasks(), ofReference.tasks());
		assertThat(ofStore.now()).as(claim).isEqualTo(now());
		assertThat(ofStore.pausedNames()).as(claim).isEqualTo(ofReference.pausedNames());
		if (!suspect) {
			assertThat(ofStore.newSuspects()).as("new suspects, %s", claim).isEqualTo(ofReference.newSuspects());
			boolean waits = ofReference.more() || ofReference.startAt() < Long.MAX_VALUE;
			boolean comesBack = ofStore.more() || ofStore.startAt() < Long.MAX_VALUE;
			assertThat(comesBack || !waits || shares.containsValue(DUE)).as("more, %s", claim).isTrue();
		}
		return ofStore.hasSuspect();
	}

	private void hold(String claim, List<LeasedTask> ofStore, List<LeasedTask> ofReference) {
		Map<String, LeasedTask> expected = ofReference.stream()
			.collect(Collectors.toMap(LeasedTask::id, Function.identity()));
		assertThat(ofStore.stream().map((task) -> given(task.id()))).as("%s gives %s", claim, expected)
			.containsExactlyInAnyOrderElementsOf(expected.keySet());
		assertThat(ofStore).as(claim).isSortedAccordingTo(Comparator.comparingLong(LeasedTask::dueAt));
		for (LeasedTask task : ofStore) {
			// A server that loses its latest fences does not give them again.
			assertThat(task.fence()).as("fence, %s", claim)
				.isGreaterThan(this.fences.getOrDefault(task.id(), 0L))
				.isGreaterThanOrEqualTo(now() * 1000);
			this.fences.put(task.id(), task.fence());
			LeasedTask other = Objects.requireNonNull(expected.get(given(task.id())));
			assertThat(task).as(claim).usingRecursiveComparison().ignoringFields("id", "fence").isEqualTo(other);
			this.held.add(new Held(task, other));
		}
	}

	/**
	 * Claims some suspects of a name. Which one comes first of those of several names is
	 * up to the store if their starts are limited.
	 */
	private void claimSuspects() {
		boolean limited = this.random.nextInt(3) > 0;
		boolean taken = true;
		while (taken && this.random.nextInt(8) > 0) {
			// The ends of two leases differ.
			later(Duration.ofMillis(1));
			claimAll();
			enqueue(2);
			taken = claim(limited ? Map.of(LIMITED, new Share(0, 0, limits(), null))
					: Map.of(NAME, this.random.nextBoolean() ? ALL : new Share(0, 0)), 1000, true);
		}
	}

	private void begin(List<Held> tasks) {
		List<Reply> replies = compareReplies("begin", tasks, (store, refs) -> store.begin(refs, StoreNode.LEASE));
		for (int i = 0; i < tasks.size(); i++) {
			tasks.get(i).begun |= replies.get(i) == Reply.DONE;
		}
	}

	/**
	 * Settles up to ten tasks, those with keys with different ones, or repeats the
	 * settlement of a task.
	 */
	private void settle() {
		List<Held> tasks = new ArrayList<>();
		Set<String> keys = new HashSet<>();
		for (Held task : this.held) {
			boolean chosen = (task.last == null) ? this.random.nextInt(3) > 0 : this.random.nextInt(20) == 0;
			boolean unkeyed = task.ofStore.key() == null;
			if (chosen && tasks.size() < 10 && (unkeyed || keys.add(task.ofStore.name() + " " + task.ofStore.key()))) {
				tasks.add(task);
			}
		}
		settle(tasks);
	}

	private void settle(List<Held> tasks) {
		tasks.stream().filter((task) -> task.last == null).forEach((task) -> task.last = settlement(task));
		compareReplies("settle " + tasks, tasks,
				(store, refs) -> store.settle(IntStream.range(0, refs.size())
					.mapToObj((i) -> Objects.requireNonNull(tasks.get(i).last).apply(refs.get(i)))
					.toList()));
	}

	/**
	 * How a node ends what it does with a task, whose reference depends on the store. A
	 * node repeats a run of a schedule in place of an acknowledgement and a burial.
	 */
	private Function<TaskRef, Settlement> settlement(Held task) {
		int kind = this.random.nextInt(5);
		boolean possible = task.begun || this.random.nextInt(4) == 0;
		if (kind == 0 || (kind < 3 && !possible)) {
			boolean started = this.random.nextBoolean();
			return (ref) -> new Settlement.Release(ref, started);
		}
		if (kind == 1) {
			Duration delay = delay(100_000);
			return (ref) -> new Settlement.Retry(ref, task.ofStore.attempt() + 1, delay, StoreNode.ERROR);
		}
		StoredSchedule schedule = task.ofStore.schedule();
		if (schedule != null) {
			DueTime next = (this.random.nextInt(5) > 0) ? due() : null;
			String error = this.random.nextBoolean() ? "gave up" : null;
			return (ref) -> new Settlement.Repeat(ref, schedule.text(), next, error);
		}
		return (kind == 2) ? Settlement.Acknowledge::new : (ref) -> new Settlement.Bury(ref, StoreNode.REASON);
	}

	/** Nodes end with the tasks that they have, or an operator pauses a name. */
	private void loseNodesOrPauseNames() {
		for (String name : NAMES) {
			boolean paused = this.random.nextInt(4) == 0;
			this.a.store().setPaused(name, paused);
			this.reference.setPaused(name, paused);
		}
		if (this.random.nextBoolean()) {
			return;
		}
		for (String name : NAMES) {
			this.a.store().setPaused(name, false);
			this.reference.setPaused(name, false);
		}
		later(LEASES_OVER.plus(HOUR));
		claimAll();
		this.held.removeIf((task) -> this.random.nextBoolean());
	}

	/**
	 * Messages about tasks that another node has got are refused. Of the tasks whose
	 * leases are over, only those that a claim has found are in these tests.
	 */
	private List<Held> current(Predicate<Held> which) {
		return this.held.stream().filter((task) -> task.last == null && which.test(task)).toList();
	}

	/**
	 * Also the latest that the nodes have had, about which they send messages too late.
	 */
	private List<Held> currentAndLatest() {
		List<Held> latest = this.held.subList(Math.max(0, this.held.size() - 10), this.held.size());
		return this.held.stream().filter((task) -> task.last == null || latest.contains(task)).toList();
	}

	// Operators

	/**
	 * Requeues or discards some of the dead tasks, and a task that may have another
	 * state.
	 */
	private void decideAboutDeadTasks() {
		List<String> tasks = this.a.store()
			.list(new ListQuery(any(NAMES), Order.DEAD_LATEST_FIRST, null, 3))
			.tasks()
			.stream()
			.map(StoredTask::id)
			.collect(Collectors.toCollection(ArrayList::new));
		if (!this.ids.isEmpty() && this.random.nextInt(4) == 0) {
			tasks.add(0, any(this.ids));
		}
		if (tasks.isEmpty()) {
			return;
		}
		if (this.random.nextBoolean()) {
			later(delay(1));
			compare("requeue", (store) -> store.requeue(own(store, tasks.subList(0, 1))));
		}
		else if (this.random.nextBoolean()) {
			compare("discard", (store) -> store.discard(own(store, tasks)));
		}
		else {
			compare("discard older", ModelContractTests::discardOld);
		}
	}

	private static int discardOld(DelayedTaskStore store) {
		int all = 0;
		int some;
		do {
			some = store.discardOlder(HOUR, 500);
			all += some;
		}
		while (some > 0);
		return all;
	}

	// Comparison

	private <T> T compare(String call, Function<DelayedTaskStore, T> calls) {
		T ofStore = calls.apply(anyNode().store());
		assertThat(ofStore).as("%s, %s", call, this.step).isEqualTo(calls.apply(this.reference));
		return ofStore;
	}

	private List<Reply> compareReplies(String call, List<Held> tasks,
			BiFunction<DelayedTaskStore, List<TaskRef>, List<Reply>> calls) {
		return tasks.isEmpty() ? List.of()
				: compare(call,
						(store) -> calls.apply(store, tasks.stream()
							.map((task) -> (store == this.reference) ? task.ofReference.ref() : task.ofStore.ref())
							.toList()));
	}

	private void compareTasks() {
		compare("counts", (store) -> store.counts(List.of()));
		for (String name : NAMES) {
			for (Order order : Order.values()) {
				int page = this.random.nextInt(3, 30);
				List<StoredTask> tasks = pages(this.b.store(), new ListQuery(name, order, null, page));
				assertThat(given(tasks)).as("%s, %s", order, this.step)
					.containsExactlyInAnyOrderElementsOf(pages(this.reference, new ListQuery(name, order, null, 1000)));
				Comparator<StoredTask> byTime = Comparator.comparingLong((task) -> task.position().time());
				assertThat(tasks).as("%s, %s", order, this.step)
					.isSortedAccordingTo((order == Order.DEAD_LATEST_FIRST) ? byTime.reversed() : byTime);
			}
			for (String key : KEYS) {
				Stream.of(Kind.values()).forEach((kind) -> compareTask(Target.of(new TaskId(name, key), kind)));
			}
		}
		current((task) -> true).forEach((task) -> compareTask(id(task.ofStore)));
	}

	private void compareTask(Target target) {
		compare("find " + target, (store) -> given(store.find(own(store, target)).stream().toList()));
	}

	private static List<StoredTask> given(List<StoredTask> tasks) {
		return tasks.stream()
			.map((task) -> new StoredTask(given(task.id()), task.name(), task.key(), task.dueAt(), task.state(),
					task.attempt(), task.deliveries(), task.error(), task.schedule(), task.diedAt()))
			.toList();
	}

	private Enqueued given(DelayedTaskStore store, Enqueued stored) {
		if (store != this.reference) {
			this.ids.add(stored.id());
		}
		return new Enqueued(stored.outcome(), given(stored.id()), stored.dueAt(), stored.now());
	}

	/** The id that the test has given. A store may have made it longer. */
	private static String given(String id) {
		return id.substring(0, 36);
	}

	private List<String> own(DelayedTaskStore store, List<String> tasks) {
		return (store == this.reference) ? tasks.stream().map(ModelContractTests::given).toList() : tasks;
	}

	private Target own(DelayedTaskStore store, Target target) {
		return (target instanceof Target.ById byId && store == this.reference) ? Target.of(given(byId.id())) : target;
	}

	private StoreNode anyNode() {
		return this.random.nextBoolean() ? this.a : this.b;
	}

	private <T> T any(List<T> values) {
		return values.get(this.random.nextInt(values.size()));
	}

	/** A task that a node has claimed from both stores. */
	private static final class Held {

		private final LeasedTask ofStore;

		private final LeasedTask ofReference;

		private boolean begun;

		/** How the node has settled the task, {@code null} if it has not. */
		private @Nullable Function<TaskRef, Settlement> last;

		Held(LeasedTask ofStore, LeasedTask ofReference) {
			this.ofStore = ofStore;
			this.ofReference = ofReference;
			this.begun = ofStore.begun();
		}

		@Override
		public String toString() {
			return this.ofStore.name() + "/" + this.ofStore.key()
					+ ((this.last != null) ? " " + this.last.apply(this.ofStore.ref()) : "");
		}

	}

}
