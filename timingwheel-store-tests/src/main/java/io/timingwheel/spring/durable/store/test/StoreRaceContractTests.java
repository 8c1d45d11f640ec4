package io.timingwheel.spring.durable.store.test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store promises if nodes and applications make calls about the same tasks at the
 * same time. The property {@code timingwheel.rounds} sets how often two calls race.
 *
 * @since 0.1
 */
public abstract class StoreRaceContractTests extends StoreContract {

	private static final int THREADS = 8;

	private static final int ROUNDS = Integer.getInteger("timingwheel.rounds", 80);

	private final ExecutorService executor = Executors.newCachedThreadPool();

	@AfterEach
	void stop() throws InterruptedException {
		this.executor.shutdownNow();
		assertThat(this.executor.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
	}

	// Claims

	@Test
	void eachTaskIsClaimedOnce() throws Exception {
		int backlog = 800;
		this.a.store()
			.enqueue(IntStream.range(0, backlog).mapToObj((i) -> task((i % 2 == 0) ? "k" + i : null, at(i))).toList());
		Set<String> claimed = ConcurrentHashMap.newKeySet();
		inParallel((node) -> {
			while (claimed.size() < backlog) {
				List<LeasedTask> tasks = node.claim(Map.of(NAME, new Share(20, 20)), 20).tasks();
				assertThat(tasks).extracting(LeasedTask::dueAt).isSorted();
				tasks.forEach((task) -> assertThat(task.begun() && claimed.add(task.id())).isTrue());
			}
			return claimed;
		});
		assertThat(this.a.counts()).isEqualTo(new StoredCounts(0, 0, backlog, 0));
	}

	/** The clock of the second node is so far ahead that all leases are over for it. */
	private void letLeasesBeOverForTheSecondNode() {
		this.b.store().testing().setClock(() -> now() + LEASES_OVER.toMillis());
	}

	@Test
	void aTaskBeginsOnItsNodeOrOnTheNextOne() throws Exception {
		letLeasesBeOverForTheSecondNode();
		for (int i = 0; i < ROUNDS; i++) {
			LeasedTask leased = leased(null);
			// The new lease is not over for the second node.
			Future<Reply> begin = alongside(
					() -> patiently(() -> this.a.store().begin(List.of(leased.ref()), HOUR).get(0)));
			List<LeasedTask> claimed = this.b.claim();
			assertThat(get(begin)).isEqualTo(claimed.isEmpty() ? Reply.DONE : Reply.REFUSED);
			LeasedTask held = claimed.isEmpty() ? leased : claimed.get(0);
			assertThat(patiently(() -> this.b.acknowledge(held))).isEqualTo(Reply.DONE);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aRunIsEitherLostOrRenewedOrAcknowledged(boolean acknowledge) throws Exception {
		letLeasesBeOverForTheSecondNode();
		for (int i = 0; i < ROUNDS; i++) {
			LeasedTask running = running(null);
			// For the second node, this lease is over at once.
			Future<Reply> message = alongside(
					() -> patiently(() -> acknowledge ? this.a.acknowledge(running) : this.a.renew(running)));
			boolean found = this.b.store().claim(this.b.request(NAME)).newSuspects();
			Reply reply = get(message);
			if (acknowledge) {
				assertThat(reply).isEqualTo(found ? Reply.REFUSED : Reply.DONE);
			}
			LeasedTask suspect = (found || !acknowledge) ? claimLost() : null;
			assertThat(suspect == null).isEqualTo(acknowledge && !found);
			if (suspect != null) {
				assertThat(suspect.lost()).isEqualTo(1);
				assertThat(this.a.renew(running)).isEqualTo(Reply.REFUSED);
				this.b.begin(suspect);
				assertThat(this.b.acknowledge(suspect)).isEqualTo(Reply.DONE);
			}
		}
		assertThat(this.a.store().counts(List.of())).isEmpty();
	}

	private @Nullable LeasedTask claimLost() {
		this.b.claim();
		return this.b.claimSuspect();
	}

	@Test
	void aDeliveryIsLostOnceAndOneNodeGetsTheSuspect() throws Exception {
		for (int i = 0; i < ROUNDS / 8; i++) {
			LeasedTask running = running("k");
			later(LEASES_OVER);
			List<Claimed> found = inParallel((node) -> node.store().claim(node.request(NAME)));
			assertThat(found).filteredOn(Claimed::newSuspects).hasSize(1);
			List<LeasedTask> suspects = inParallel((node) -> Optional.ofNullable(node.claimSuspect())).stream()
				.flatMap(Optional::stream)
				.toList();
			assertThat(suspects).singleElement()
				.matches((suspect) -> suspect.id().equals(running.id()) && suspect.lost() == 1);
			this.a.begin(suspects.get(0));
			this.a.acknowledge(suspects.get(0));
		}
	}

	// Begin

	/** A call about a leased task. */
	private enum Call {

		CANCEL_BY_KEY, CANCEL_BY_ID, REPLACE, MOVE

	}

	@ParameterizedTest
	@EnumSource
	void aTaskEitherBeginsOrIsTakenAway(Call call) throws Exception {
		for (int i = 0; i < ROUNDS; i++) {
			LeasedTask task = leased("k");
			Future<Reply> begin = alongside(() -> patiently(() -> this.a.begin(task)));
			boolean taken = switch (call) {
				case CANCEL_BY_KEY -> this.b.cancel(key("k"));
				case CANCEL_BY_ID -> this.b.cancel(id(task));
				case REPLACE -> this.b.enqueue(task("k", HOUR)).outcome() == Outcome.REPLACED;
				case MOVE -> this.b.move(key("k"), HOUR) != null;
			};
			Reply reply = get(begin);
			assertThat(reply).isEqualTo(taken ? Reply.REFUSED : Reply.DONE);
			if (!taken) {
				assertThat(this.a.acknowledge(task)).isEqualTo(Reply.DONE);
			}
			this.a.cancel(key("k"));
		}
		assertThat(this.a.store().counts(List.of())).isEmpty();
	}

	// Keys

	@ParameterizedTest
	@EnumSource
	void ofManyTasksWithAKeyOneIsPending(IfPending ifPending) throws Exception {
		for (int i = 0; i < ROUNDS / 20; i++) {
			String key = "k" + i;
			List<Enqueued> stored = inParallel((node) -> node.enqueue(task(key, HOUR, ifPending)));
			assertThat(stored).filteredOn((enqueued) -> enqueued.outcome() == Outcome.INSERTED).hasSize(1);
			String pending = this.a.find(key(key)).id();
			if (task(key, HOUR, ifPending).replaces()) {
				assertThat(stored).extracting(Enqueued::outcome).doesNotContain(Outcome.PENDING);
				assertThat(stored).extracting(Enqueued::id).contains(pending);
			}
			else {
				assertThat(stored).extracting(Enqueued::id).containsOnly(pending);
			}
		}
	}

	@Test
	void callsThatStoreTheSameKeysInAnyOrderAllSucceed() throws Exception {
		List<List<Enqueued>> stored = inParallel((node) -> {
			List<String> keys = new ArrayList<>(IntStream.range(0, 20).mapToObj((i) -> "k" + i).toList());
			List<Enqueued> all = new ArrayList<>();
			for (int i = 0; i < ROUNDS / 10; i++) {
				Collections.shuffle(keys);
				all.addAll(node.store().enqueue(keys.stream().map((key) -> task(key, HOUR)).toList()));
			}
			return all;
		});
		assertThat(stored.stream().flatMap(List::stream)).filteredOn((one) -> one.outcome() == Outcome.INSERTED)
			.hasSize(20);
		assertThat(this.a.pending()).extracting(StoredTask::key).hasSize(20).doesNotHaveDuplicates();
	}

	@ParameterizedTest
	@EnumSource(names = { "REPLACE", "UPDATE", "KEEP" })
	void aRetryAndANewTaskWithItsKeyDoNotBothStay(IfPending ifPending) throws Exception {
		Outcome second = (ifPending == IfPending.KEEP) ? Outcome.PENDING : Outcome.REPLACED;
		for (int i = 0; i < ROUNDS; i++) {
			LeasedTask running = running("k");
			Future<Reply> retry = alongside(() -> patiently(() -> this.a.retry(running, HOUR)));
			Enqueued stored = this.b.enqueue(task("k", HOUR, ifPending));
			Reply reply = get(retry);
			assertThat(reply).isIn(Reply.DONE, Reply.SUPERSEDED);
			assertThat(stored.outcome()).isEqualTo((reply == Reply.DONE) ? second : Outcome.INSERTED);
			assertThat(this.a.pending()).extracting(StoredTask::id).containsExactly(stored.id());
			assertThat(this.a.cancel(id(stored.id()))).isTrue();
		}
		assertThat(this.a.store().counts(List.of())).isEmpty();
	}

	@Test
	void aRequeuedTaskAndANewTaskWithItsKeyDoNotBothStay() throws Exception {
		for (int i = 0; i < ROUNDS / 2; i++) {
			LeasedTask dead = running("k");
			this.a.bury(dead);
			Future<Requeue> requeue = alongside(() -> this.a.requeue(dead.id()));
			Enqueued stored = this.b.enqueue(task("k", HOUR));
			Requeue result = get(requeue);
			assertThat(result).isIn(Requeue.REQUEUED, Requeue.KEY_PENDING);
			assertThat(stored.outcome()).isEqualTo((result == Requeue.REQUEUED) ? Outcome.REPLACED : Outcome.INSERTED);
			assertThat(this.a.pending()).extracting(StoredTask::id).containsExactly(stored.id());
			this.a.cancel(key("k"));
			this.a.store().discard(List.of(dead.id()));
		}
	}

	@Test
	void aDeadTaskIsEitherRequeuedOrDiscarded() throws Exception {
		for (int i = 0; i < ROUNDS / 2; i++) {
			LeasedTask dead = running(null);
			this.a.bury(dead);
			Future<Requeue> requeue = alongside(() -> this.a.requeue(dead.id()));
			int discarded = this.b.store().discard(List.of(dead.id()));
			assertThat(get(requeue)).isEqualTo((discarded == 1) ? Requeue.NOT_DEAD : Requeue.REQUEUED);
			assertThat(this.a.cancel(id(dead))).isEqualTo(discarded == 0);
		}
	}

	// Schedules

	@Test
	void ofManyDefinitionsOfAScheduleOneIsStored() throws Exception {
		for (int i = 0; i < ROUNDS / 20; i++) {
			String key = "k" + i;
			List<Enqueued> stored = inParallel((node) -> node.store().recur(newSchedule(key, HOURLY, HOUR)));
			assertThat(stored).filteredOn((enqueued) -> enqueued.outcome() == Outcome.INSERTED).hasSize(1);
			assertThat(stored).extracting(Enqueued::id).containsOnly(this.a.find(schedule(key)).id());
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aScheduleThatIsCancelledWhileItsRunEndsHasNoNextRun(boolean byKey) throws Exception {
		for (int i = 0; i < ROUNDS / 2; i++) {
			LeasedTask run = runningSchedule("k");
			Future<Reply> end = alongside(() -> patiently(() -> this.a.repeat(run, DueTime.after(HOUR))));
			assertThat(this.b.cancel(byKey ? schedule("k") : id(run))).isTrue();
			assertThat(get(end)).isEqualTo(Reply.DONE);
			assertThat(this.a.store().counts(List.of())).isEmpty();
		}
	}

	@Test
	void aScheduleThatChangesWhileItsRunEndsIsTheOneThatFollows() throws Exception {
		for (int i = 0; i < ROUNDS / 2; i++) {
			LeasedTask run = runningSchedule("k");
			Future<Reply> end = alongside(() -> patiently(() -> this.a.repeat(run, DueTime.after(HOUR))));
			assertThat(this.b.store().recur(newSchedule("k", "every(PT2H)", HOUR.multipliedBy(2))).outcome())
				.isEqualTo(Outcome.REPLACED);
			assertThat(get(end)).isEqualTo(Reply.DONE);
			assertThat(this.a.find(schedule("k"))).matches((task) -> task.schedule() != null
					&& task.schedule().text().equals("every(PT2H)") && task.dueAt() == in(HOUR.multipliedBy(2)));
			assertThat(this.a.cancel(schedule("k"))).isTrue();
		}
	}

	// All together

	/**
	 * Threads make all calls about the same few tasks. No call fails, each lease ends in
	 * one way, and the remaining tasks are consistent.
	 */
	@Test
	void anyMixtureOfCallsIsConsistent() throws Exception {
		Set<String> stored = ConcurrentHashMap.newKeySet();
		Set<String> ended = ConcurrentHashMap.newKeySet();
		inParallel((node) -> {
			Random random = new Random(Thread.currentThread().getId());
			for (int i = 0; i < ROUNDS / 10; i++) {
				List<NewTask> tasks = IntStream.range(0, 10)
					.mapToObj((j) -> task((j % 2 == 0) ? "k" + random.nextInt(20) : null, NOW,
							IfPending.values()[random.nextInt(IfPending.values().length)]))
					.toList();
				List<Enqueued> enqueued = random.nextBoolean() ? node.store().enqueue(tasks)
						: tasks.stream().map(node::enqueue).toList();
				enqueued.stream()
					.filter((one) -> one.outcome() != Outcome.PENDING)
					.forEach((one) -> stored.add(one.id()));
				node.cancel(key("k" + random.nextInt(20)));
				node.move(key("k" + random.nextInt(20)), random.nextBoolean() ? NOW : SOON);
				List<LeasedTask> claimed = new ArrayList<>(node.claim(Map.of(NAME, new Share(20, 20)), 20).tasks());
				Collections.shuffle(claimed, random);
				claimed.forEach((task) -> {
					if (end(node, task, random.nextInt(4))) {
						assertThat(ended.add(task.id())).as("ended once").isTrue();
					}
				});
			}
			return ended;
		});
		List<StoredTask> pending = this.a.pending();
		assertThat(stored).containsAll(pending.stream().map(StoredTask::id).toList());
		assertThat(pending).extracting(StoredTask::id).doesNotContainAnyElementsOf(ended);
		assertThat(pending.stream().map(StoredTask::key).filter((key) -> key != null)).doesNotHaveDuplicates();
		StoredCounts counts = this.a.counts();
		assertThat(counts.pending()).isEqualTo(pending.size());
		assertThat(counts.running()).isZero();
		assertThat(counts.dead()).isEqualTo(this.a.list(Order.DEAD_LATEST_FIRST).size());
	}

	/**
	 * Begins a claimed task, and ends it in one of four ways.
	 * @return whether it will not run again
	 */
	private static boolean end(StoreNode node, LeasedTask task, int way) {
		Reply begun = patiently(() -> node.begin(task));
		assertThat(begun == Reply.DONE || !task.begun()).as("a running task is not taken away").isTrue();
		if (begun != Reply.DONE) {
			return false;
		}
		assertThat(patiently(() -> node.renew(task))).isEqualTo(Reply.DONE);
		Reply reply = patiently(() -> switch (way) {
			case 0 -> node.acknowledge(task);
			case 1 -> node.retry(task, NOW);
			case 2 -> node.release(task);
			default -> node.bury(task);
		});
		assertThat(reply).isIn(Reply.DONE, Reply.SUPERSEDED);
		return way == 0 || way == 3 || reply == Reply.SUPERSEDED;
	}

	private static <T> T get(Future<T> future) throws Exception {
		return future.get(1, TimeUnit.MINUTES);
	}

	/** Begins a call on another thread, and does not wait for its end. */
	private <T> Future<T> alongside(Callable<T> call) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(2);
		Future<T> future = this.executor.submit(() -> {
			barrier.await();
			return call.call();
		});
		barrier.await();
		return future;
	}

	/** Makes calls at the same time, half of them by each of the two nodes. */
	private <T> List<T> inParallel(NodeCall<T> call) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(THREADS);
		List<Future<T>> futures = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			StoreNode node = (i % 2 == 0) ? this.a : this.b;
			futures.add(this.executor.submit(() -> {
				barrier.await();
				return call.by(node);
			}));
		}
		List<T> results = new ArrayList<>();
		for (Future<T> future : futures) {
			results.add(future.get(5, TimeUnit.MINUTES));
		}
		return results;
	}

	private interface NodeCall<T> {

		T by(StoreNode node) throws Exception;

	}

}
