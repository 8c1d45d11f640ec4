package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store promises for names whose starts are limited over all nodes.
 *
 * @since 0.1
 */
public abstract class StartLimitContractTests extends StoreContract {

	/** At most two tasks run at once. */
	private static final StartLimits TWO = new StartLimits(2, 0, 0, 1);

	/** At most one task of a key runs at once. */
	private static final StartLimits ONE_PER_KEY = new StartLimits(0, 1, 0, 1);

	private static final StartLimits LARGE = new StartLimits(1000, 0, 0, 1);

	/**
	 * Stores tasks that are due, one after another.
	 * @return their ids, in the order of their due times
	 */
	private List<String> enqueueDue(int count) {
		return ids(this.a.store()
			.enqueue(IntStream.range(0, count).mapToObj((i) -> task("k" + i, at(now() - 1000 + i))).toList()));
	}

	private static List<String> ids(List<Enqueued> stored) {
		return stored.stream().map(Enqueued::id).toList();
	}

	private static List<String> ids(Claimed claimed) {
		return claimed.tasks().stream().map(LeasedTask::id).toList();
	}

	private static @Nullable LeasedTask claimSuspect(StoreNode node, StartLimits limits) {
		return node.claimSuspect(new Share(100, 100, limits, null));
	}

	private static LeasedTask suspect(StoreNode node, StartLimits limits) {
		LeasedTask task = claimSuspect(node, limits);
		if (task == null) {
			throw new AssertionError("There is no suspect that may start");
		}
		return task;
	}

	// Tasks that run at once

	@Test
	void aLimitedNameLeasesNoTaskBeforeItIsDue() {
		List<String> ids = enqueueDue(3);
		long later = enqueue("later", SOON).dueAt();
		assertThat(ids(this.a.claim(TWO, 1))).as("the share of the node").containsExactly(ids.get(0));
		assertThat(ids(this.a.claim(LARGE))).containsExactlyElementsOf(ids.subList(1, 3));
		Claimed none = this.b.claim(LARGE);
		assertThat(none.tasks()).isEmpty();
		assertThat(none.more()).isFalse();
		assertThat(none.startAt()).as("when to come again").isEqualTo(later);
		assertThat(none.nextAt()).as("the times of a limited name do not count").isEqualTo(Long.MAX_VALUE);
		assertThat(this.b.find(key("later")).state()).isEqualTo(State.SCHEDULED);
	}

	/** Some claims may prefer the limited names, and others the names without limits. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aLimitedNameThatMayStartNothingLeavesItsRoomToOthers(boolean busy) {
		if (busy) {
			enqueueDue(8);
			assertThat(this.b.claim(TWO).tasks()).hasSize(2);
		}
		Map<String, Share> shares = Map.of(NAME, new Share(4, 4, TWO, null), "other", new Share(4, 4));
		for (int limit : List.of(1, 1, 1, 3, 3)) {
			this.a.enqueue(taskOf("other", NOW));
			assertThat(this.a.claim(shares, limit).tasks()).extracting(LeasedTask::name).containsExactly("other");
		}
	}

	@Test
	void suspectsWhoseLeasesAreOverDoNotBeginBesideWhatHasTakenTheirPlaces() {
		enqueueDue(3);
		assertThat(this.a.claim(TWO).tasks()).hasSize(2);
		later(LEASES_OVER);
		assertThat(this.b.claim(new StartLimits(1, 0, 0, 1)).newSuspects()).isTrue();
		List<LeasedTask> suspects = List.of(suspect(this.b, TWO), suspect(this.b, TWO));
		assertThat(ids(this.b.claim(TWO))).as("suspects have places from their claims on").isEmpty();
		later(LEASES_OVER);
		assertThat(this.a.claim(TWO).tasks()).as("beside a place for a suspect").hasSize(1);
		suspects.forEach((suspect) -> assertThat(this.b.begin(suspect)).isEqualTo(Reply.REFUSED));
		assertThat(this.a.begin(suspect(this.a, TWO))).isEqualTo(Reply.DONE);
		assertThat(claimSuspect(this.a, TWO)).as("all places are taken").isNull();
	}

	@ParameterizedTest
	@ValueSource(ints = { 4, 100 })
	void whatHasExpiredIsLeasedWithoutAPlaceAndWithoutAStart(int limit) {
		StartLimits one = new StartLimits(1, 0, HOUR.toMillis() * 1000, 1);
		this.a.store().enqueue(Stream.generate(() -> task(null, at(now() - 120_000))).limit(5).toList());
		long due = now() - 1000;
		this.a.store().enqueue(List.of(task("fresh", at(due)), task("second", at(due + 1))));
		Share share = new Share(limit, 0, one, Duration.ofMinutes(1));
		List<LeasedTask> tasks = new ArrayList<>();
		for (StoreNode node : List.of(this.a, this.b, this.a, this.b)) {
			tasks.addAll(node.claim(Map.of(NAME, share), limit).tasks());
		}
		assertThat(tasks).hasSize(6);
		assertThat(tasks).filteredOn(LeasedTask::begun).extracting(LeasedTask::key).containsExactly("fresh");
		assertThat(tasks).filteredOn((task) -> !task.begun())
			.allSatisfy((task) -> assertThat(this.a.find(id(task)).state()).isEqualTo(State.LEASED));
	}

	/**
	 * Four nodes, two on each store object, claim until all tasks have run. Each keeps
	 * its tasks for a while, so that the claims of the others find many, few or no free
	 * places. Their limits differ in another point, so that a store may use different
	 * requests.
	 */
	@ParameterizedTest
	@CsvSource({ "120, 1, 3", "600, 20, 40" })
	void nodesThatClaimAtTheSameTimeKeepTheLimitTogether(int tasks, int kept, int limit) throws Exception {
		this.a.store().enqueue(IntStream.range(0, tasks).mapToObj((i) -> task("k" + i, at(now() - 1000 + i))).toList());
		AtomicInteger running = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		Set<String> ended = ConcurrentHashMap.newKeySet();
		List<Callable<Boolean>> nodes = IntStream.range(0, 4).<Callable<Boolean>>mapToObj((i) -> () -> {
			StoreNode node = (i < 2) ? this.a : this.b;
			StartLimits limits = new StartLimits(limit, (i % 2 == 0) ? 0 : limit, 0, 1);
			List<LeasedTask> held = new ArrayList<>();
			while (ended.size() < tasks && !Thread.currentThread().isInterrupted()) {
				List<LeasedTask> claimed = node.claim(limits, 10).tasks();
				most.accumulateAndGet(running.addAndGet(claimed.size()), Math::max);
				held.addAll(claimed);
				if (claimed.isEmpty() || held.size() >= kept) {
					for (LeasedTask task : held) {
						running.decrementAndGet();
						assertThat(patiently(() -> node.acknowledge(task))).isEqualTo(Reply.DONE);
						assertThat(ended.add(task.id())).as("the only run of %s", task).isTrue();
					}
					held.clear();
				}
			}
			return true;
		}).toList();
		ExecutorService threads = Executors.newFixedThreadPool(nodes.size());
		try {
			for (Future<Boolean> node : threads.invokeAll(nodes, 3, TimeUnit.MINUTES)) {
				assertThat(node.get()).isTrue();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(ended).hasSize(tasks);
		assertThat(most.get()).isBetween(limit / 4, limit);
	}

	// Tasks of a key that run at once

	@Test
	void tasksThatWaitForManyKeysHoldUpNoTaskOfAnotherKey() {
		enqueueKeys("busy", 300, now() - 3000);
		assertThat(this.a.claim(ONE_PER_KEY).tasks()).hasSize(300);
		enqueueKeys("busy", 300, now() - 2000);
		enqueueKeys("free", 30, now() - 1000);
		for (int first = 0; first < 30; first += 10) {
			assertThat(this.b.claim(ONE_PER_KEY, 10).tasks()).extracting(LeasedTask::key)
				.containsExactlyElementsOf(IntStream.range(first, first + 10).mapToObj((i) -> "free " + i).toList());
		}
		assertThat(ids(this.b.claim(ONE_PER_KEY))).isEmpty();
	}

	private void enqueueKeys(String prefix, int count, long due) {
		this.a.store().enqueue(IntStream.range(0, count).mapToObj((i) -> task(prefix + " " + i, at(due + i))).toList());
	}

	@Test
	void theEarliestLostRunComesFirstAndAloneWhetherItsNameIsLimitedOrNot() {
		Map<String, Share> shares = Map.of(NAME, new Share(100, 100, TWO, null), "other", new Share(100, 100));
		List<String> lost = new ArrayList<>();
		for (String name : List.of(NAME, "other", NAME)) {
			lost.add(this.a.enqueue(taskOf(name, NOW)).id());
			assertThat(this.a.claim(shares, 1000).tasks()).hasSize(1);
			later(Duration.ofMillis(1));
		}
		later(LEASES_OVER);
		assertThat(this.b.claim(shares, 1000).tasks()).isEmpty();
		String due = this.a.enqueue(taskOf("other", NOW)).id();
		for (String id : lost) {
			assertThat(ids(this.b.store().claim(this.b.request(shares, 1000, true)))).containsExactly(id);
		}
		assertThat(ids(this.b.store().claim(this.b.request(shares, 1000, true)))).containsExactly(due);
	}

	@Test
	void lostRunsThatWaitForTheirKeyHoldUpNoOtherLostRun() {
		// More tasks of a key run at once on a node that knows no limit.
		for (String key : List.of("k", "k", "k", "a")) {
			running(key);
			later(Duration.ofMillis(1));
		}
		later(LEASES_OVER);
		this.b.claim();
		assertThat(suspect(this.b, ONE_PER_KEY).key()).isEqualTo("k");
		assertThat(suspect(this.a, ONE_PER_KEY).key()).isEqualTo("a");
		assertThat(claimSuspect(this.a, ONE_PER_KEY)).isNull();
	}

	// Rates

	@Test
	void startsAreSpreadOverTheTimeOnAllNodesTogether() {
		StartLimits rate = new StartLimits(0, 0, 10_000, 4);
		enqueueDue(60);
		assertThat(this.a.claim(rate).tasks()).as("a burst").hasSize(4);
		Claimed none = this.b.claim(rate);
		assertThat(none.tasks()).isEmpty();
		assertThat(none.startAt()).as("when half a burst may start").isEqualTo(now() + 20);
		int starts = 0;
		for (int millis = 0; millis < 300; millis += 5) {
			later(Duration.ofMillis(5));
			starts += ((millis % 2 == 0) ? this.a : this.b).claim(rate).tasks().size();
		}
		assertThat(starts).isEqualTo(30);
		later(HOUR);
		assertThat(this.a.claim(rate).tasks()).as("no more than a burst after a pause").hasSize(4);
	}

	@Test
	void anotherRateOrAnotherTimeHoldsUpTheNameForItsOwnBurstOnly() {
		enqueueDue(5);
		StartLimits hourly = new StartLimits(0, 0, HOUR.toMillis() * 1000, 1);
		StartLimits fast = new StartLimits(0, 0, 10_000, 1);
		assertThat(this.a.claim(hourly).tasks()).hasSize(1);
		Claimed none = this.a.claim(fast);
		assertThat(none.tasks()).isEmpty();
		assertThat(none.startAt()).isEqualTo(now() + 10);
		later(Duration.ofMillis(10));
		assertThat(this.b.claim(fast).tasks()).as("the rate was raised").hasSize(1);
		later(Duration.ofMillis(-500));
		assertThat(this.b.claim(fast).tasks()).isEmpty();
		later(Duration.ofMillis(10));
		assertThat(this.b.claim(fast).tasks()).as("the clock was set back").hasSize(1);
	}

	/**
	 * Two nodes stall within their claims, at one reading of the clock after another, and
	 * then the starts of a second follow.
	 */
	@Test
	void claimsThatStallAddNoMoreThanABurstToASecond() {
		int burst = 6;
		StartLimits rate = new StartLimits(0, 0, 10_000, burst);
		boolean stalled = true;
		for (int reading = 0; stalled; reading += 1 + reading / 2) {
			this.a.store().testing().deleteAll();
			this.a.store().enqueue(Stream.generate(() -> task(null, at(1000))).limit(150).toList());
			List<Long> starts = new ArrayList<>();
			AtomicBoolean stall = new AtomicBoolean();
			this.b.store().testing().setClock(stalling(reading, () -> {
			}));
			this.a.store().testing().setClock(stalling(reading, () -> {
				stall.set(true);
				// Another thread, since transactions belong to threads
				CompletableFuture.runAsync(() -> start(this.b, rate, starts)).join();
			}));
			start(this.a, rate, starts);
			stalled = stall.get();
			this.a.store().testing().setClock(this.clock::get);
			this.b.store().testing().setClock(this.clock::get);
			long afterwards = now();
			for (int i = 0; i < 17; i++) {
				start((i % 2 == 0) ? this.a : this.b, rate, starts);
				later(Duration.ofMillis(60));
			}
			assertThat(mostInASecond(starts)).as("reading %d", reading).isLessThanOrEqualTo(100 + 2 * burst);
			assertThat(starts).as("reading %d", reading)
				.filteredOn((start) -> start >= afterwards)
				.hasSizeGreaterThanOrEqualTo(95);
		}
	}

	/**
	 * A clock that advances by 60 ms at one of its readings, as for a node that stalls.
	 */
	private LongSupplier stalling(int reading, Runnable meanwhile) {
		AtomicInteger readings = new AtomicInteger(reading);
		return () -> {
			if (readings.getAndDecrement() == 0) {
				later(Duration.ofMillis(60));
				meanwhile.run();
			}
			return now();
		};
	}

	private void start(StoreNode node, StartLimits limits, List<Long> starts) {
		int tasks = node.claim(limits).tasks().size();
		starts.addAll(Collections.nCopies(tasks, now()));
	}

	private static long mostInASecond(List<Long> starts) {
		return starts.stream()
			.mapToLong((first) -> starts.stream().filter((start) -> start >= first && start < first + 1000).count())
			.max()
			.orElse(0);
	}

	// Failures

	/**
	 * The clock of a node fails at one reading after another, which ends a claim at each
	 * of its steps.
	 */
	@Test
	void aClaimThatFailsHalfwayReturnsTheTasksThatHaveBegun() {
		AtomicInteger readings = new AtomicInteger();
		Share any = new Share(20, 20);
		Share limited = new Share(20, 20, LARGE, null);
		boolean failed = true;
		for (int step = 0; failed; step++) {
			this.a.store().testing().setClock(this.clock::get);
			this.a.store().testing().deleteAll();
			this.a.store().enqueue(Stream.of(NAME, "other", "third").map((name) -> taskOf(name, NOW)).toList());
			readings.set(step);
			this.a.store().testing().setClock(() -> {
				if (readings.getAndDecrement() == 0) {
					throw new IllegalStateException("The test ends this claim");
				}
				return now();
			});
			int claimed = 0;
			try {
				claimed = this.a.claim(Map.of(NAME, limited, "other", any, "third", limited), 100).tasks().size();
			}
			catch (RuntimeException ex) {
				assertThat(ex).hasMessageContaining("The test ends this claim");
			}
			failed = readings.get() < 0;
			long running = this.b.store().counts(List.of()).values().stream().mapToLong(StoredCounts::running).sum();
			assertThat(claimed).as("reading %d", step).isEqualTo((int) running);
		}
	}

}
