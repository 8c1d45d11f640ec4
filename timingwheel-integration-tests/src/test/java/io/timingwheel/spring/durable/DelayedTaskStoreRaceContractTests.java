package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of a {@link DelayedTaskStore} for concurrent calls of nodes and callers.
 */
public abstract class DelayedTaskStoreRaceContractTests extends StoreTestSupport {

	private static final int THREADS = 8;

	private static final String HOURLY = "every(PT1H)";

	private final ExecutorService executor = Executors.newCachedThreadPool();

	/**
	 * How often two calls race. The property {@code timingwheel.rounds} sets more.
	 */
	protected int rounds() {
		return Integer.getInteger("timingwheel.rounds", 80);
	}

	@AfterEach
	void stop() throws InterruptedException {
		this.executor.shutdownNow();
		assertThat(this.executor.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
	}

	@Test
	void eachTaskIsClaimedOnce() throws Exception {
		int backlog = 800;
		this.store.enqueueAll(IntStream.range(0, backlog)
			.mapToObj((i) -> task(NAME, (i % 2 == 0) ? "k" + i : null, DueTime.at(Instant.EPOCH.plusMillis(i)),
					IfPending.REPLACE, null))
			.toList());
		Queue<LeasedTask> claimed = new ConcurrentLinkedQueue<>();
		inParallel(THREADS, (thread) -> {
			DelayedTaskStore node = (thread % 2 == 0) ? this.store : this.other;
			while (claimed.size() < backlog) {
				List<LeasedTask> tasks = claim(node, "node" + thread, 20).tasks();
				assertThat(tasks).extracting(LeasedTask::dueAt).isSorted();
				claimed.addAll(tasks);
			}
			return null;
		});
		assertThat(claimed).hasSize(backlog).allMatch(LeasedTask::begun);
		assertThat(claimed).extracting(LeasedTask::id).doesNotHaveDuplicates();
		assertThat(this.store.counts().get(NAME)).isEqualTo(new StoredCounts(0, 0, backlog, 0));
	}

	@Test
	void aTaskIsEitherCancelledByItsKeyOrBegun() throws Exception {
		raceWithBegin((task) -> this.other.cancel(key("k")));
	}

	@Test
	void aTaskIsEitherCancelledByItsIdOrBegun() throws Exception {
		raceWithBegin((task) -> this.other.cancel(task.id()));
	}

	@Test
	void aTaskIsEitherReplacedOrBegun() throws Exception {
		raceWithBegin((task) -> this.other.enqueue(task("k", HOUR)).outcome() == Outcome.REPLACED);
	}

	@Test
	void aTaskIsEitherMovedOrBegun() throws Exception {
		raceWithBegin((task) -> this.other.reschedule(key("k"), DueTime.after(HOUR), null) != null);
	}

	private void raceWithBegin(Attempt attempt) throws Exception {
		int begun = 0;
		for (int i = 0; i < rounds(); i++) {
			Enqueued task = this.store.enqueue(task(NAME, "k", DueTime.after(SOON), IfPending.REPLACE, OFFER));
			Future<Reply> begin = alongside(() -> patiently(() -> begin(this.store, ref(task))));
			boolean taken = attempt.apply(task);
			Reply reply = begin.get(1, TimeUnit.MINUTES);
			assertThat(reply).isEqualTo(taken ? Reply.REFUSED : Reply.DONE);
			if (reply == Reply.DONE) {
				begun++;
				assertThat(acknowledge(this.store, ref(task))).isEqualTo(Reply.DONE);
			}
			this.store.cancel(key("k"));
		}
		assertThat(this.store.counts()).isEmpty();
		System.out.printf("%s: %d of %d had begun%n", getClass().getSimpleName(), begun, rounds());
	}

	@Test
	void ofManyReplacementsOneIsPending() throws Exception {
		Queue<Enqueued> outcomes = new ConcurrentLinkedQueue<>();
		inParallel(THREADS, (thread) -> {
			for (int i = 0; i < rounds() / THREADS; i++) {
				outcomes.add(((thread % 2 == 0) ? this.store : this.other).enqueue(task("k", HOUR)));
			}
			return null;
		});
		assertThat(outcomes).filteredOn((enqueued) -> enqueued.outcome() == Outcome.INSERTED).hasSize(1);
		assertThat(outcomes).filteredOn((enqueued) -> enqueued.outcome() == Outcome.PENDING).isEmpty();
		List<StoredTask> pending = this.store.pending(NAME, 10);
		assertThat(pending).hasSize(1);
		assertThat(outcomes).extracting(Enqueued::id).contains(pending.get(0).id());
		assertThat(this.store.counts().get(NAME)).isEqualTo(new StoredCounts(1, 0, 0, 0));
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = { "REPLACE", "UPDATE" })
	void ofManyConcurrentTasksThatReplaceNothingOneIsStored(IfPending ifPending) throws Exception {
		for (int round = 0; round < rounds() / 20; round++) {
			String key = "k" + round;
			List<Enqueued> outcomes = inParallel(THREADS,
					(thread) -> ((thread % 2 == 0) ? this.store : this.other).enqueue(task(key, HOUR, ifPending)));
			assertThat(outcomes).filteredOn((enqueued) -> enqueued.outcome() == Outcome.INSERTED).hasSize(1);
			assertThat(outcomes).extracting(Enqueued::id).containsOnly(this.store.find(key(key)).orElseThrow().id());
		}
		assertThat(this.store.pending(NAME, rounds())).hasSize(rounds() / 20);
	}

	@ParameterizedTest
	@EnumSource(names = { "REPLACE", "UPDATE", "KEEP" })
	void aRetryAndANewTaskWithItsKeyDoNotBothStay(IfPending ifPending) throws Exception {
		Outcome second = (ifPending == IfPending.KEEP) ? Outcome.PENDING : Outcome.REPLACED;
		for (int i = 0; i < rounds(); i++) {
			LeasedTask running = begun("k");
			Future<Reply> retry = alongside(() -> patiently(() -> retry(this.store, running.ref(), 2, HOUR)));
			Enqueued enqueued = this.other.enqueue(task("k", HOUR, ifPending));
			Reply reply = retry.get(1, TimeUnit.MINUTES);
			assertThat(reply).isIn(Reply.DONE, Reply.SUPERSEDED);
			assertThat(enqueued.outcome()).isEqualTo((reply == Reply.DONE) ? second : Outcome.INSERTED);
			assertThat(this.store.pending(NAME, 10)).singleElement()
				.extracting(StoredTask::id)
				.isEqualTo(enqueued.id());
			assertThat(this.store.cancel(enqueued.id())).isTrue();
		}
		assertThat(this.store.counts()).isEmpty();
	}

	@Test
	void aTaskIsEitherAcknowledgedOrClaimedOnceMore() throws Exception {
		for (int i = 0; i < rounds(); i++) {
			LeasedTask running = begun(null);
			this.other.setClockOffset(LEASE.multipliedBy(2));
			Future<Reply> acknowledged = alongside(() -> patiently(() -> acknowledge(this.store, running.ref())));
			assertThat(claimByOther()).isEmpty();
			Reply reply = acknowledged.get(1, TimeUnit.MINUTES);
			List<LeasedTask> again = claimByOther();
			assertThat(reply).isEqualTo(again.isEmpty() ? Reply.DONE : Reply.REFUSED);
			again.forEach((task) -> assertThat(begin(this.other, task.ref())).isEqualTo(Reply.DONE));
			again.forEach((task) -> assertThat(acknowledge(this.other, task.ref())).isEqualTo(Reply.DONE));
			this.other.setClockOffset(Duration.ZERO);
		}
		assertThat(this.store.counts()).isEmpty();
	}

	@Test
	void ofManyConcurrentDefinitionsOfAScheduleOneIsStored() throws Exception {
		for (int round = 0; round < rounds() / 20; round++) {
			String key = "k" + round;
			List<Enqueued> outcomes = inParallel(THREADS,
					(thread) -> ((thread % 2 == 0) ? this.store : this.other).recur(schedule(key, HOUR)));
			assertThat(outcomes).filteredOn((enqueued) -> enqueued.outcome() == Outcome.INSERTED).hasSize(1);
			assertThat(outcomes).extracting(Enqueued::id).containsOnly(this.store.find(key(key)).orElseThrow().id());
		}
		assertThat(this.store.pending(NAME, rounds())).hasSize(rounds() / 20);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aScheduleThatIsCancelledWhileItsRunEndsHasNoNextRun(boolean byKey) throws Exception {
		for (int i = 0; i < rounds() / 2; i++) {
			this.store.recur(schedule("k", Duration.ZERO));
			TaskRef run = claim().get(0).ref();
			NextRun next = new NextRun(run, HOURLY, DueTime.after(HOUR), null);
			Future<Reply> end = alongside(() -> patiently(() -> this.store.repeat(List.of(next)).get(0)));
			assertThat(byKey ? this.other.cancel(key("k")) : this.other.cancel(run.id())).isTrue();
			assertThat(end.get(1, TimeUnit.MINUTES)).isEqualTo(Reply.DONE);
			assertThat(this.store.counts()).isEmpty();
		}
	}

	private static NewSchedule schedule(String key, Duration first) {
		return new NewSchedule(UUID.randomUUID().toString(), NAME, key, "payload", null, HOURLY, DueTime.after(first));
	}

	/**
	 * Threads make all calls on the same few tasks, in batches of any order. No call
	 * fails, each lease ends in one way, and the remaining tasks are consistent.
	 */
	@Test
	void anyMixtureOfCallsIsConsistent() throws Exception {
		ConcurrentMap<String, Integer> stored = new ConcurrentHashMap<>();
		Set<String> ended = ConcurrentHashMap.newKeySet();
		inParallel(THREADS, (thread) -> {
			DelayedTaskStore node = (thread % 2 == 0) ? this.store : this.other;
			Random random = new Random(thread);
			for (int i = 0; i < rounds() / 10; i++) {
				for (int j = 0; j < 10; j++) {
					Enqueued enqueued = node.enqueue(task((j % 2 == 0) ? "k" + random.nextInt(20) : null,
							Duration.ofMillis(random.nextInt(100)), IfPending.values()[random.nextInt(3)]));
					if (enqueued.outcome() != Outcome.PENDING) {
						stored.put(enqueued.id(), thread);
					}
				}
				if (random.nextBoolean()) {
					node.cancel(key("k" + random.nextInt(20)));
					node.reschedule(key("k" + random.nextInt(20)), DueTime.after(Duration.ZERO), null);
				}
				List<LeasedTask> claimed = new ArrayList<>(claim(node, "node" + thread, 20).tasks());
				Collections.shuffle(claimed, random);
				end(node, claimed, random.nextInt(4)).forEach((id) -> assertThat(ended.add(id)).isTrue());
			}
			return null;
		});
		Set<String> pendingKeys = new HashSet<>();
		for (StoredTask task : this.store.pending(NAME, Integer.MAX_VALUE)) {
			assertThat(stored).containsKey(task.id());
			assertThat(task.key() == null || pendingKeys.add(task.key())).isTrue();
		}
		assertThat(this.store.pending(NAME, Integer.MAX_VALUE)).noneMatch((task) -> ended.contains(task.id()));
		assertThat(this.store.counts().get(NAME).running()).isZero();
		assertThat(this.store.dead(NAME, Integer.MAX_VALUE)).allMatch((task) -> task.state() == State.DEAD);
	}

	/**
	 * Begins tasks and ends each of them in one of the four ways.
	 * @return the ids of those that are no longer to run
	 */
	private static List<String> end(DelayedTaskStore node, List<LeasedTask> claimed, int way) {
		List<TaskRef> begun = new ArrayList<>();
		List<TaskRef> refs = claimed.stream().map(LeasedTask::ref).toList();
		List<Reply> replies = node.begin(refs, LEASE);
		for (int i = 0; i < refs.size(); i++) {
			TaskRef task = refs.get(i);
			Reply reply = replies.get(i);
			if (reply == Reply.BUSY) {
				reply = patiently(() -> begin(node, task));
			}
			assertThat(claimed.get(i).begun() && reply != Reply.DONE).isFalse();
			if (reply == Reply.DONE) {
				begun.add(task);
			}
		}
		node.renew(begun, LEASE);
		List<String> ended = new ArrayList<>();
		for (TaskRef task : begun) {
			Reply reply = patiently(() -> switch (way) {
				case 0 -> acknowledge(node, task);
				case 1 -> retry(node, task, 2, Duration.ZERO);
				case 2 -> release(node, task);
				default -> bury(node, task);
			});
			assertThat(reply).isIn(Reply.DONE, Reply.SUPERSEDED);
			if (way == 0 || way == 3 || reply == Reply.SUPERSEDED) {
				ended.add(task.id());
			}
		}
		return ended;
	}

	/**
	 * Repeats the call until no lock on the task prevents it.
	 */
	private static Reply patiently(Supplier<Reply> question) {
		Reply reply = question.get();
		while (reply == Reply.BUSY) {
			Thread.onSpinWait();
			reply = question.get();
		}
		return reply;
	}

	/**
	 * Runs a call on another thread, and does not wait for it.
	 */
	private <T> Future<T> alongside(Callable<T> call) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(2);
		Future<T> future = this.executor.submit(() -> {
			barrier.await();
			return call.call();
		});
		barrier.await();
		return future;
	}

	private <T> List<T> inParallel(int threads, Task<T> task) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(threads);
		List<Future<T>> futures = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			int thread = i;
			futures.add(this.executor.submit(() -> {
				barrier.await();
				return task.run(thread);
			}));
		}
		List<T> results = new ArrayList<>();
		for (Future<T> future : futures) {
			results.add(future.get(5, TimeUnit.MINUTES));
		}
		return results;
	}

	private interface Attempt {

		boolean apply(Enqueued task);

	}

	private interface Task<T> {

		T run(int thread) throws Exception;

	}

}
