package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.assertj.core.data.Offset;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.entry;

/**
 * The contract of a {@link DelayedTaskStore}: one test for each of its promises.
 */
public abstract class DelayedTaskStoreContractTests extends StoreTestSupport {

	private static final Duration NOW = Duration.ZERO;

	private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

	private static final String OTHER_TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

	/**
	 * Partitions read the clock one after another, and servers have clocks of their own.
	 */
	private static final Offset<Long> CLOCKS_APART = Offset.offset(60_000L);

	private static final Duration AFTER_LEASE = SOON.plus(LEASE).plusSeconds(5);

	/**
	 * Whether callers that store tasks at the same time share requests.
	 */
	protected boolean sharesRequests() {
		return true;
	}

	@Test
	void tasksThatShareARequestAreStoredAsIfEachHadARequestOfItsOwn() {
		assertThat(sharedRequests().isEmpty()).isNotEqualTo(sharesRequests());
		int inserted = 0;
		for (Outcome ofKeyed : List.of(Outcome.INSERTED, Outcome.REPLACED)) {
			for (List<NewTask> request : sharedRequests()) {
				List<Enqueued> enqueued = this.store.enqueueShared(request);
				assertThat(enqueued).hasSameSizeAs(request);
				for (int i = 0; i < request.size(); i++) {
					NewTask task = request.get(i);
					StoredTask stored = stored(enqueued.get(i).id());
					assertThat(enqueued.get(i).id()).startsWith(task.id());
					assertThat(enqueued.get(i).dueAt()).isEqualTo(stored.dueAt());
					assertThat(stored.key()).isEqualTo(task.key());
					Outcome expected = (task.key() != null) ? ofKeyed : Outcome.INSERTED;
					assertThat(enqueued.get(i).outcome()).isEqualTo(expected);
					inserted += (expected == Outcome.INSERTED) ? 1 : 0;
				}
			}
		}
		assertThat(claim()).hasSize(inserted);
	}

	/**
	 * New tasks, half of them with the same keys each time, by the request that they
	 * share.
	 */
	private Collection<List<NewTask>> sharedRequests() {
		return IntStream.range(0, 40)
			.mapToObj((i) -> task((i % 2 == 0) ? null : "k" + i, SOON))
			.filter((task) -> this.store.sharedRequest(task) != null)
			.collect(Collectors.groupingBy(this.store::sharedRequest))
			.values();
	}

	@Test
	void aTaskWithoutAKeyIsStoredLikeOneWithAKey() {
		List<Enqueued> plain = new ArrayList<>();
		List<Enqueued> keyed = new ArrayList<>();
		for (DueTime due : List.of(DueTime.after(Duration.ZERO), DueTime.after(SOON), DueTime.after(HOUR),
				DueTime.at(Instant.EPOCH), new DueTime(DelayedTaskStore.MAX_TIME, true))) {
			for (String trace : Arrays.asList(null, TRACE)) {
				for (LeaseOffer offer : Arrays.asList(null, OFFER)) {
					NewTask task = task(NAME, null, due, IfPending.REPLACE, offer);
					plain.add(this.store.enqueue(
							new NewTask(task.id(), NAME, null, task.payload(), trace, due, IfPending.REPLACE, offer)));
					NewTask other = task(NAME, null, due, IfPending.REPLACE, offer);
					keyed.add(this.store.enqueue(new NewTask(other.id(), NAME, "k" + keyed.size(), other.payload(),
							trace, due, IfPending.REPLACE, offer)));
					Enqueued one = plain.get(plain.size() - 1);
					Enqueued two = keyed.get(keyed.size() - 1);
					long later = due.absolute() ? 0 : two.now() - one.now();
					assertThat(two.dueAt()).isEqualTo(one.dueAt() + later);
					assertThat(two.outcome()).isEqualTo(one.outcome()).isEqualTo(Outcome.INSERTED);
					assertThat(two.leased()).isEqualTo(one.leased());
					assertThat(stored(two.id())).usingRecursiveComparison()
						.ignoringFields("id", "key", "dueAt")
						.isEqualTo(stored(one.id()));
				}
			}
		}
		clockAhead(HOUR.plus(LEASE).plusMinutes(1));
		Map<String, LeasedTask> claimed = claimByOther().stream()
			.collect(Collectors.toMap(LeasedTask::id, Function.identity()));
		assertThat(claimed).hasSize(32);
		for (int i = 0; i < 16; i++) {
			LeasedTask one = claimed.get(plain.get(i).id());
			LeasedTask two = claimed.get(keyed.get(i).id());
			assertThat(one.dueAt()).isEqualTo(plain.get(i).dueAt());
			assertThat(one.payload()).isEqualTo(payloadOf(one.id()));
			assertThat(one.traceparent()).isEqualTo((i % 4 < 2) ? null : TRACE);
			assertThat(two).usingRecursiveComparison()
				.ignoringFields("id", "key", "fence", "payload", "dueAt")
				.isEqualTo(one);
		}
	}

	@Test
	void aStoreWithItsDataIsReadyAndJoinsNoTransactionWhereThereIsNone() {
		this.store.check();
		assertThat(this.store.joinsTransaction()).isFalse();
	}

	@Test
	void storesATask() {
		NewTask task = task("k", HOUR);
		Enqueued enqueued = this.store.enqueue(task);
		assertThat(enqueued.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(enqueued.id()).startsWith(task.id());
		assertThat(enqueued.leased()).isFalse();
		assertThat(enqueued.dueAt()).isEqualTo(enqueued.now() + HOUR.toMillis());
		StoredTask stored = this.other.find(key("k")).orElseThrow();
		assertThat(stored)
			.isEqualTo(new StoredTask(enqueued.id(), NAME, "k", enqueued.dueAt(), State.PENDING, 1, 0, null));
		assertThat(this.other.find(enqueued.id())).contains(stored);
	}

	@Test
	void tasksWithoutAKeyDoNotReplaceEachOther() {
		Enqueued first = enqueue(null, HOUR);
		Enqueued second = enqueue(null, HOUR);
		assertThat(List.of(first.outcome(), second.outcome())).containsOnly(Outcome.INSERTED);
		assertThat(this.store.pending(NAME, 10)).hasSize(2).allMatch((task) -> task.key() == null);
	}

	@Test
	void aReplacementHasItsOwnIdAndTheOldOneIsGone() {
		Enqueued first = enqueue("k", HOUR);
		Enqueued second = this.other.enqueue(task("k", HOUR.multipliedBy(2)));
		assertThat(second.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(second.id()).isNotEqualTo(first.id());
		assertThat(this.store.find(first.id())).isEmpty();
		assertThat(this.store.find(key("k"))).get()
			.extracting(StoredTask::id, StoredTask::dueAt)
			.containsExactly(second.id(), second.dueAt());
		assertThat(this.store.pending(NAME, 10)).hasSize(1);
	}

	@Test
	void aReplacementStartsAnew() {
		LeasedTask failed = begun("k");
		assertThat(retry(this.store, failed.ref(), 2, NOW)).isEqualTo(Reply.DONE);
		Enqueued replacement = enqueue("k", NOW);
		assertThat(replacement.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(stored(replacement.id()).error()).isNull();
		LeasedTask task = claim().get(0);
		assertThat(task.attempt()).isEqualTo(1);
		assertThat(task.deliveries()).isEqualTo(1);
		assertThat(task.payload()).isEqualTo(payloadOf(replacement.id()));
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = { "REPLACE", "UPDATE" })
	void thePendingTaskStaysUnlessTheNewTaskReplacesIt(IfPending ifPending) {
		Enqueued first = enqueue("k", HOUR);
		NewTask late = new NewTask("never-stored", NAME, "k", "late", DueTime.after(NOW), ifPending, OFFER);
		Enqueued second = this.other.enqueue(late);
		assertThat(second.outcome()).isEqualTo(Outcome.PENDING);
		assertThat(second.id()).isEqualTo(first.id());
		assertThat(second.fence()).isEqualTo(first.fence());
		assertThat(second.dueAt()).isEqualTo(first.dueAt());
		assertThat(second.now()).isGreaterThanOrEqualTo(first.now());
		assertThat(second.leased()).isFalse();
		assertThat(this.store.find("never-stored")).isEmpty();
		assertThat(claim()).isEmpty();
	}

	@Test
	void anUpdateHasTheNewestPayloadAndTheFirstDueTime() {
		Enqueued first = enqueue("k", HOUR);
		Enqueued update = this.other.enqueue(task("k", HOUR.multipliedBy(2), IfPending.UPDATE));
		assertThat(update.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(update.dueAt()).isEqualTo(first.dueAt());
		assertThat(this.store.find(first.id())).isEmpty();
		assertThat(stored(update.id()).dueAt()).isEqualTo(first.dueAt());
		clockAhead(HOUR.plusSeconds(1));
		assertThat(claim()).extracting(LeasedTask::payload).containsExactly(payloadOf(update.id()));
		assertThat(this.store.enqueue(task("k", HOUR, IfPending.UPDATE)).outcome()).isEqualTo(Outcome.INSERTED);
	}

	@Test
	void aTaskThatIsReplacedAllTheTimeIsDueWithinItsLongestWait() {
		long limit = this.store.enqueue(debounced("k")).now() + HOUR.toMillis();
		for (int minutes = 10; minutes < 60; minutes += 10) {
			clockAhead(Duration.ofMinutes(minutes));
			assertThat(this.other.enqueue(debounced("k")).dueAt()).isLessThanOrEqualTo(limit);
		}
		assertThat(this.store.find(key("k")).orElseThrow().dueAt()).isEqualTo(limit);
		clockAhead(HOUR.plusSeconds(1));
		assertThat(claim()).hasSize(1);
		Enqueued next = this.store.enqueue(debounced("k"));
		assertThat(next.dueAt()).isEqualTo(next.now() + HOUR.toMillis() / 2);
	}

	private static NewTask debounced(String key) {
		return debounced(key, HOUR.dividedBy(2), IfPending.REPLACE, HOUR);
	}

	private static NewTask debounced(String key, Duration delay, IfPending ifPending, @Nullable Duration maxWait) {
		String id = UUID.randomUUID().toString();
		return new NewTask(id, NAME, key, "payload of " + id, null, DueTime.after(delay), ifPending, maxWait, null);
	}

	/**
	 * Random calls with a few keys, beside a reference that has a due time, the payload,
	 * and the time of the first call for each pending key.
	 */
	@Test
	void dueTimesAndPayloadsAreThoseOfAModel() {
		long seed = Long.getLong("timingwheel.seed", System.nanoTime());
		SplittableRandom random = new SplittableRandom(seed);
		Map<String, Long> due = new HashMap<>();
		Map<String, Long> first = new HashMap<>();
		Map<String, String> payloads = new HashMap<>();
		Duration time = Duration.ZERO;
		for (int i = 0; i < 200; i++) {
			String key = "k" + random.nextInt(3);
			String step = "seed %d, step %d, %s".formatted(seed, i, key);
			Duration delay = Duration.ofMinutes(1 + random.nextInt(180));
			DelayedTaskStore node = random.nextBoolean() ? this.store : this.other;
			switch (random.nextInt(8)) {
				case 0 -> {
					assertThat(node.cancel(key(key))).as(step).isEqualTo(due.containsKey(key));
					due.remove(key);
					first.remove(key);
				}
				case 1 -> {
					Rescheduled moved = node.reschedule(key(key), DueTime.after(delay), null);
					assertThat(moved != null).as(step).isEqualTo(due.containsKey(key));
					if (moved != null) {
						due.put(key, moved.task().dueAt());
					}
				}
				case 2 -> {
					time = time.plusMinutes(random.nextInt(90));
					clockAhead(time);
					for (LeasedTask task : claim()) {
						assertThat(task.payload()).as(step).isEqualTo(payloads.get(task.key()));
						if (task.begun()) {
							due.remove(task.key());
							first.remove(task.key());
							if (random.nextBoolean()) {
								retry(this.store, task.ref(), 2, delay);
								due.put(task.key(), this.store.find(key(task.key())).orElseThrow().dueAt());
							}
							else {
								this.store.acknowledge(List.of(task.ref()));
							}
						}
					}
				}
				default -> {
					IfPending ifPending = List
						.of(IfPending.REPLACE, IfPending.REPLACE, IfPending.UPDATE, IfPending.KEEP)
						.get(random.nextInt(4));
					Duration maxWait = (ifPending == IfPending.REPLACE && random.nextInt(4) != 0)
							? Duration.ofMinutes(random.nextInt(240)) : null;
					NewTask call = debounced(key, delay, ifPending, maxWait);
					Enqueued enqueued = node.enqueue(call);
					Long pending = due.get(key);
					if (pending == null || ifPending != IfPending.KEEP) {
						payloads.put(key, call.payload());
					}
					long expected = enqueued.now() + delay.toMillis();
					if (pending != null && ifPending != IfPending.REPLACE) {
						expected = pending;
					}
					else if (maxWait != null) {
						long from = first.computeIfAbsent(key, (absent) -> enqueued.now());
						expected = Math.min(expected, from + maxWait.toMillis());
					}
					assertThat(enqueued.dueAt()).as(step + ", " + ifPending + ", " + maxWait).isEqualTo(expected);
					due.put(key, expected);
				}
			}
			StoredTask stored = this.store.find(key(key)).orElse(null);
			assertThat((stored != null) ? stored.dueAt() : null).as(step).isEqualTo(due.get(key));
		}
		clockAhead(time.plusHours(5));
		assertThat(claim()).as("seed " + seed)
			.hasSize(due.size())
			.allSatisfy((task) -> assertThat(task.payload()).isEqualTo(payloads.get(task.key())));
	}

	@ParameterizedTest
	@EnumSource
	void aTaskThatHasBegunHoldsNoKey(IfPending ifPending) {
		LeasedTask running = begun("k");
		assertThat(this.store.find(key("k"))).isEmpty();
		assertThat(this.store.cancel(key("k"))).isFalse();
		assertThat(this.store.reschedule(key("k"), DueTime.after(NOW), null)).isNull();
		Enqueued next = this.store.enqueue(task("k", HOUR, ifPending));
		assertThat(next.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(stored(running.id()).state()).isEqualTo(State.RUNNING);
		assertThat(stored(running.id()).key()).isEqualTo("k");
		assertThat(stored(next.id()).state()).isEqualTo(State.PENDING);
	}

	@Test
	void storesManyTasksAtOnce() {
		List<NewTask> tasks = new ArrayList<>();
		for (int i = 0; i < 2_100; i++) {
			tasks.add(task((i % 3 == 0) ? "k" + i : null, HOUR.plusMillis(i)));
		}
		List<Enqueued> enqueued = this.store.enqueueAll(tasks);
		assertThat(enqueued).hasSameSizeAs(tasks);
		for (int i = 0; i < tasks.size(); i += 99) {
			Enqueued one = enqueued.get(i);
			assertThat(one.outcome()).isEqualTo(Outcome.INSERTED);
			assertThat(one.id()).startsWith(tasks.get(i).id());
			assertThat(one.leased()).isFalse();
			assertThat(one.dueAt() - one.now() - HOUR.toMillis() - i).isBetween(0L, clocksDiffer());
			assertThat(this.other.find(one.id())).get()
				.isEqualTo(new StoredTask(one.id(), NAME, tasks.get(i).key(), one.dueAt(), State.PENDING, 1, 0, null));
		}
		assertThat(this.other.counts().get(NAME).pending()).isEqualTo(2_100);
		assertThat(this.store.enqueueAll(List.of())).isEmpty();
	}

	/**
	 * The greatest difference between the clocks of several servers, in milliseconds. For
	 * tasks that are stored at once, the earliest clock counts.
	 */
	protected long clocksDiffer() {
		return 0;
	}

	@Test
	void tasksThatAreStoredAtOnceReplaceThoseThatArePending() {
		Enqueued first = enqueue("a", HOUR);
		LeasedTask leased = leased("b");
		List<Enqueued> enqueued = this.other.enqueueAll(List.of(task("c", HOUR), task("b", HOUR), task("a", HOUR)));
		assertThat(enqueued).extracting(Enqueued::outcome)
			.containsExactly(Outcome.INSERTED, Outcome.REPLACED, Outcome.REPLACED);
		assertThat(this.store.find(first.id())).isEmpty();
		assertThat(begin(this.store, leased.ref())).isEqualTo(Reply.REFUSED);
		assertThat(this.store.find(key("b"))).get().extracting(StoredTask::id).isEqualTo(enqueued.get(1).id());
		clockAhead(HOUR);
		assertThat(claim()).extracting(LeasedTask::payload)
			.containsExactlyInAnyOrderElementsOf(enqueued.stream().map((task) -> payloadOf(task.id())).toList());
	}

	@Test
	void theLastOfSeveralTasksWithAKeyThatAreStoredAtOnceStays() {
		List<NewTask> tasks = List.of(task("k", HOUR), task("l", HOUR), task("k", HOUR.multipliedBy(2)),
				task("k", HOUR.multipliedBy(3)));
		List<Enqueued> enqueued = this.store.enqueueAll(tasks);
		assertThat(enqueued).extracting(Enqueued::outcome)
			.containsExactly(Outcome.INSERTED, Outcome.INSERTED, Outcome.REPLACED, Outcome.REPLACED);
		assertThat(this.store.find(key("k"))).get()
			.extracting(StoredTask::id, StoredTask::dueAt)
			.containsExactly(enqueued.get(3).id(), enqueued.get(3).dueAt());
		assertThat(this.store.pending(NAME, 10)).hasSize(2);
		assertThat(this.store.cancel(key("k"))).isTrue();
		assertThat(this.store.pending(NAME, 10)).extracting(StoredTask::key).containsExactly("l");
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = { "REPLACE", "UPDATE" })
	void aPendingTaskStaysIfATaskStoredAtOnceDoesNotReplaceIt(IfPending ifPending) {
		Enqueued pending = enqueue("a", HOUR);
		List<Enqueued> enqueued = this.store.enqueueAll(
				List.of(task("a", HOUR, ifPending), task("b", HOUR), task("b", HOUR, ifPending), task(null, HOUR)));
		assertThat(enqueued).extracting(Enqueued::outcome)
			.containsExactly(Outcome.PENDING, Outcome.INSERTED, Outcome.PENDING, Outcome.INSERTED);
		assertThat(enqueued.get(0).id()).isEqualTo(pending.id());
		assertThat(enqueued.get(2).id()).isEqualTo(enqueued.get(1).id());
		assertThat(this.store.pending(NAME, 10)).hasSize(3);
	}

	@Test
	void theNodeLeasesThoseTasksStoredAtOnceThatAreDueSoon() {
		List<Enqueued> enqueued = this.store
			.enqueueAll(List.of(task(NAME, "a", DueTime.after(SOON), IfPending.REPLACE, OFFER),
					task(NAME, null, DueTime.after(SOON), IfPending.REPLACE, OFFER),
					task(NAME, "b", DueTime.after(HOUR), IfPending.REPLACE, OFFER),
					task(NAME, null, DueTime.after(SOON), IfPending.REPLACE, null)));
		assertThat(enqueued).extracting(Enqueued::leased).containsExactly(true, true, false, false);
		assertThat(claimByOther()).extracting(LeasedTask::id).containsExactly(enqueued.get(3).id());
		assertThat(this.store.begin(List.of(ref(enqueued.get(0)), ref(enqueued.get(1))), LEASE))
			.containsOnly(Reply.DONE);
		assertThat(this.store.acknowledge(List.of(ref(enqueued.get(0)), ref(enqueued.get(1)))))
			.containsOnly(Reply.DONE);
	}

	@Test
	void keysAreComparedByteByByte() {
		List<String> keys = List.of("A", "a", "A ", " A", "\u00c4", "A\u0308", "\ud83d\ude97", "\ud83d\ude98", "",
				"a\\", "a'", "a\"", "a%", "a_", "{a}", "a:b", "\u212a", "K", "k", "\u00df", "ss");
		Set<String> ids = new HashSet<>();
		for (String key : keys) {
			Enqueued enqueued = enqueue(key, HOUR);
			assertThat(enqueued.outcome()).as(key).isEqualTo(Outcome.INSERTED);
			ids.add(enqueued.id());
		}
		assertThat(ids).hasSameSizeAs(keys);
		for (String key : keys) {
			assertThat(this.store.find(key(key))).as(key).get().extracting(StoredTask::key).isEqualTo(key);
		}
		for (String key : keys) {
			assertThat(this.store.cancel(key(key))).as(key).isTrue();
			assertThat(this.store.cancel(key(key))).as(key).isFalse();
		}
	}

	@Test
	void theTasksOfSomeNamesAreCounted() {
		for (String name : List.of(NAME, "other", "third")) {
			this.store.enqueue(task(name, "k1", DueTime.after(NOW), IfPending.REPLACE, null));
			this.store.enqueue(task(name, "k2", DueTime.after(SOON), IfPending.REPLACE, null));
		}
		assertThat(this.store.counts(List.of(NAME, "other", "absent", NAME)))
			.isEqualTo(Map.of(NAME, new StoredCounts(2, 1, 0, 0), "other", new StoredCounts(2, 1, 0, 0)));
		assertThat(this.store.counts(List.of("absent", "with\0zero", "n".repeat(400), "\u00fc".repeat(200)))).isEmpty();
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void namesAreComparedByteByByte() {
		List<String> names = List.of("A", "a", "A ", "\u00c4", "A\u0308", "\ud83d\ude97");
		for (String name : names) {
			Enqueued enqueued = this.store.enqueue(task(name, "k", DueTime.after(NOW), IfPending.REPLACE, null));
			assertThat(enqueued.outcome()).as(name).isEqualTo(Outcome.INSERTED);
		}
		assertThat(this.store.counts()).containsOnlyKeys(names);
		for (String name : names) {
			Claimed claim = this.store.claim(new ClaimRequest("a", Set.of(name), 10, LOOK_AHEAD, LEASE, ANY_SIZE));
			assertThat(claim.tasks()).as(name).singleElement().extracting(LeasedTask::name).isEqualTo(name);
		}
	}

	@Test
	void namesAndKeysMayBeAsLongAsStated() {
		String name = "\u00c4".repeat(DelayedTaskStore.MAX_NAME_BYTES / 2) + "n";
		String key = "\ud83d\ude97".repeat(DelayedTaskStore.MAX_KEY_BYTES / 4 - 1) + "long";
		String sibling = key.substring(0, key.length() - 1) + "h";
		this.store.enqueue(task(name, key, DueTime.after(HOUR), IfPending.REPLACE, null));
		Enqueued second = this.store.enqueue(task(name, sibling, DueTime.after(HOUR), IfPending.REPLACE, null));
		assertThat(second.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(this.store.find(new TaskId(name, key))).get()
			.extracting(StoredTask::name, StoredTask::key)
			.containsExactly(name, key);
		String ascii = "x".repeat(DelayedTaskStore.MAX_KEY_BYTES);
		assertThat(enqueue(ascii, HOUR).outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(this.store.cancel(key(ascii))).isTrue();
	}

	@Test
	void aPayloadComesBackAsItWas() {
		String payload = "{\"v\":1,\"args\":[\"\u00c4 \ud83d\ude97 \\\\ \\\" ' \\u0000\"]}" + "x".repeat(300_000);
		this.store.enqueue(new NewTask("id", NAME, null, payload, DueTime.after(NOW), IfPending.REPLACE, null));
		assertThat(claim()).singleElement().extracting(LeasedTask::payload).isEqualTo(payload);
	}

	@Test
	void aPayloadLargerThanAskedForIsNotRead() {
		String payload = "\u00c4".repeat(500);
		this.store.enqueue(new NewTask("large", NAME, null, payload + ".", DueTime.after(NOW), IfPending.KEEP, null));
		this.store.enqueue(new NewTask("fits", NAME, null, payload, DueTime.after(NOW), IfPending.KEEP, null));
		Claimed claim = this.store.claim(new ClaimRequest("a", NAMES, 10, LOOK_AHEAD, LEASE, 1000));
		assertThat(claim.tasks()).hasSize(2);
		for (LeasedTask task : claim.tasks()) {
			assertThat(task.payload()).isEqualTo(task.id().startsWith("fits") ? payload : null);
		}
	}

	@Test
	void aTimeMayBeAsLateAsStated() {
		Enqueued enqueued = this.store
			.enqueue(task(NAME, "k", DueTime.after(Duration.ofMillis(Long.MAX_VALUE)), IfPending.REPLACE, null));
		assertThat(enqueued.dueAt()).isEqualTo(DelayedTaskStore.MAX_TIME);
		assertThat(stored(enqueued.id()).dueAt()).isEqualTo(DelayedTaskStore.MAX_TIME);
		Rescheduled moved = this.store.reschedule(key("k"), DueTime.at(Instant.MAX), OFFER);
		assertThat(moved.task().dueAt()).isEqualTo(DelayedTaskStore.MAX_TIME);
		assertThat(moved.leased()).isFalse();
		assertThat(claim(this.store, "a", 1).nextAt()).isLessThanOrEqualTo(DelayedTaskStore.MAX_TIME)
			.isCloseTo(DelayedTaskStore.MAX_TIME, CLOCKS_APART);
	}

	@Test
	void aLeaseMayHaveAnyLength() {
		enqueue("k", NOW);
		Duration ever = Duration.ofMillis(Long.MAX_VALUE);
		Claimed claim = this.store.claim(new ClaimRequest("a", NAMES, 10, ever, ever, ANY_SIZE));
		LeasedTask task = claim.tasks().get(0);
		assertThat(this.store.renew(refs(task), ever)).containsExactly(Reply.DONE);
		assertThat(retry(this.store, task.ref(), 2, ever)).isEqualTo(Reply.DONE);
		assertThat(stored(task.id()).dueAt()).isEqualTo(DelayedTaskStore.MAX_TIME);
	}

	@Test
	void anAbsoluteTimeMayBePast() {
		Enqueued enqueued = this.store
			.enqueue(task(NAME, "k", DueTime.at(Instant.ofEpochMilli(42)), IfPending.REPLACE, OFFER));
		assertThat(enqueued.dueAt()).isEqualTo(42);
		assertThat(enqueued.leased()).isTrue();
	}

	@Test
	void aNodeThatStoresATaskLeasesItIfItIsDueSoon() {
		Enqueued soon = this.store.enqueue(task(NAME, "k", DueTime.after(SOON), IfPending.REPLACE, OFFER));
		Enqueued late = this.store.enqueue(task(NAME, "l", DueTime.after(HOUR), IfPending.REPLACE, OFFER));
		assertThat(soon.leased()).isTrue();
		assertThat(late.leased()).isFalse();
		assertThat(claimByOther()).isEmpty();
		assertThat(stored(soon.id()).state()).isEqualTo(State.PENDING);
		assertThat(begin(this.store, ref(soon))).isEqualTo(Reply.DONE);
		assertThat(begin(this.store, ref(late))).isEqualTo(Reply.REFUSED);
	}

	@Test
	void theLeaseOfANodeThatStoresATaskCountsFromTheDueTime() {
		Enqueued enqueued = this.store.enqueue(task(NAME, "k", DueTime.after(SOON), IfPending.REPLACE, OFFER));
		clockAhead(LEASE);
		assertThat(claimByOther()).isEmpty();
		clockAhead(LEASE.plus(SOON));
		assertThat(claimByOther()).singleElement().matches((task) -> task.begun() && task.id().equals(enqueued.id()));
		assertThat(begin(this.store, ref(enqueued))).isEqualTo(Reply.REFUSED);
	}

	@Test
	void aReplacementOfALeasedTaskStopsItsHolder() {
		LeasedTask task = leased("k");
		Enqueued replacement = this.other.enqueue(task("k", HOUR));
		assertThat(begin(this.store, task.ref())).isEqualTo(Reply.REFUSED);
		assertThat(begin(this.store, ref(replacement))).isEqualTo(Reply.REFUSED);
		assertThat(release(this.store, task.ref())).isEqualTo(Reply.REFUSED);
		assertThat(stored(replacement.id()).state()).isEqualTo(State.PENDING);
	}

	@Test
	void cancelDeletesThePendingTaskWithAKey() {
		Enqueued enqueued = enqueue("k", HOUR);
		assertThat(this.other.cancel(key("other"))).isFalse();
		assertThat(this.other.cancel(new TaskId("other", "k"))).isFalse();
		assertThat(this.other.cancel(key("k"))).isTrue();
		assertThat(this.store.find(enqueued.id())).isEmpty();
		assertThat(this.store.cancel(key("k"))).isFalse();
	}

	@Test
	void cancelDeletesAPendingTaskByItsId() {
		Enqueued enqueued = enqueue(null, HOUR);
		assertThat(this.other.cancel(enqueued.id())).isTrue();
		assertThat(this.store.cancel(enqueued.id())).isFalse();
		assertThat(this.store.cancel("unknown \ud83d\ude97")).isFalse();
		assertThat(this.store.find(enqueued.id())).isEmpty();
	}

	@Test
	void aCancelledTaskDoesNotBegin() {
		LeasedTask byKey = leased("k");
		LeasedTask byId = leased("l");
		assertThat(this.other.cancel(key("k"))).isTrue();
		assertThat(this.other.cancel(byId.id())).isTrue();
		assertThat(this.store.begin(refs(byKey, byId), LEASE)).containsOnly(Reply.REFUSED);
	}

	@Test
	void aTaskThatHasBegunIsNeitherCancelledNorMovedByItsId() {
		LeasedTask running = begun("k");
		assertThat(this.store.cancel(running.id())).isFalse();
		assertThat(this.store.reschedule(running.id(), DueTime.after(HOUR), null)).isNull();
		assertThat(acknowledge(this.store, running.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.cancel(running.id())).isFalse();
	}

	@Test
	void rescheduleMovesATaskAndRaisesItsFence() {
		Enqueued enqueued = enqueue("k", HOUR);
		Rescheduled moved = this.other.reschedule(key("k"), DueTime.after(HOUR.multipliedBy(2)), null);
		assertThat(moved.leased()).isFalse();
		assertThat(moved.task().id()).isEqualTo(enqueued.id());
		assertThat(moved.task().fence()).isGreaterThan(enqueued.fence());
		assertThat(moved.task().dueAt()).isEqualTo(moved.now() + HOUR.toMillis() * 2);
		assertThat(moved.task().payload()).isEqualTo(payloadOf(enqueued.id()));
		assertThat(moved.task().begun()).isFalse();
		assertThat(moved.task().name()).isEqualTo(NAME);
		assertThat(moved.task().key()).isEqualTo("k");
		Rescheduled again = this.store.reschedule(enqueued.id(), DueTime.at(Instant.ofEpochMilli(moved.now())), null);
		assertThat(again.task().fence()).isGreaterThan(moved.task().fence());
		assertThat(claim()).singleElement().extracting(LeasedTask::dueAt).isEqualTo(moved.now());
	}

	@Test
	void rescheduleReturnsNullIfNoTaskIsPending() {
		assertThat(this.store.reschedule(key("k"), DueTime.after(NOW), OFFER)).isNull();
		assertThat(this.store.reschedule("unknown", DueTime.after(NOW), OFFER)).isNull();
	}

	@Test
	void rescheduleLeasesATaskThatIsDueSoonIfTheCallerOffersTo() {
		Enqueued enqueued = enqueue("k", HOUR);
		Rescheduled moved = this.store.reschedule(key("k"), DueTime.after(SOON), OFFER);
		assertThat(moved.leased()).isTrue();
		assertThat(claimByOther()).isEmpty();
		assertThat(begin(this.store, ref(enqueued))).isEqualTo(Reply.REFUSED);
		assertThat(begin(this.store, moved.task().ref())).isEqualTo(Reply.DONE);
	}

	@Test
	void rescheduleEndsAnEarlierLease() {
		LeasedTask task = leased("k");
		Rescheduled moved = this.other.reschedule(key("k"), DueTime.after(SOON), null);
		assertThat(moved.leased()).isFalse();
		assertThat(begin(this.store, task.ref())).isEqualTo(Reply.REFUSED);
		assertThat(begin(this.store, moved.task().ref())).isEqualTo(Reply.REFUSED);
		assertThat(claimByOther()).singleElement().extracting(LeasedTask::id).isEqualTo(task.id());
	}

	@Test
	void claimLeasesWhatIsDueSoon() {
		Enqueued soon = enqueue("soon", SOON);
		enqueue("late", HOUR);
		Claimed claim = claim(this.store, "a", 100);
		assertThat(claim.now()).isGreaterThanOrEqualTo(soon.now());
		LeasedTask task = claim.tasks().get(0);
		assertThat(claim.tasks()).hasSize(1);
		assertThat(task.fence()).isGreaterThan(soon.fence());
		assertThat(task).isEqualTo(new LeasedTask(soon.id(), task.fence(), NAME, "soon", payloadOf(soon.id()), null,
				soon.dueAt(), false, 1, 0, 0, false));
		assertThat(stored(soon.id()).state()).isEqualTo(State.PENDING);
		assertThat(claimByOther()).isEmpty();
	}

	@Test
	void aClaimBeginsTasksThatAreAlreadyDue() {
		Enqueued enqueued = enqueue("k", NOW);
		LeasedTask task = claim().get(0);
		assertThat(task.begun()).isTrue();
		assertThat(task.deliveries()).isEqualTo(1);
		assertThat(task.key()).isEqualTo("k");
		assertThat(stored(enqueued.id()).state()).isEqualTo(State.RUNNING);
		assertThat(stored(enqueued.id()).deliveries()).isEqualTo(1);
		assertThat(this.store.cancel(key("k"))).isFalse();
		assertThat(acknowledge(this.store, task.ref())).isEqualTo(Reply.DONE);
	}

	@Test
	void claimGivesTheEarliestFirstAndNoMoreThanAskedFor() {
		List<String> ids = new ArrayList<>();
		for (int minutes : List.of(3, 1, 5, 2, 4)) {
			Instant due = Instant.now().minus(Duration.ofMinutes(minutes));
			ids.add(this.store.enqueue(task(NAME, null, DueTime.at(due), IfPending.KEEP, null)).id());
		}
		assertThat(claim(this.store, "a", 2).tasks()).extracting(LeasedTask::id)
			.containsExactly(ids.get(2), ids.get(4));
		assertThat(claim(this.other, "b", 2).tasks()).extracting(LeasedTask::id)
			.containsExactly(ids.get(0), ids.get(3));
		assertThat(claim(this.store, "a", 2).tasks()).extracting(LeasedTask::id).containsExactly(ids.get(1));
	}

	@Test
	void claimLeavesOtherNamesAsTheyAre() {
		this.store.enqueue(task("unknown", "k", DueTime.after(NOW), IfPending.KEEP, null));
		Enqueued known = enqueue("k", NOW);
		Claimed claim = this.store.claim(new ClaimRequest("a", Set.of(NAME, "never"), 10, LOOK_AHEAD, LEASE, ANY_SIZE));
		assertThat(claim.tasks()).singleElement().extracting(LeasedTask::id).isEqualTo(known.id());
		Claimed nothing = this.store.claim(new ClaimRequest("a", Set.of(), 10, LOOK_AHEAD, LEASE, ANY_SIZE));
		assertThat(nothing.tasks()).isEmpty();
		assertThat(nothing.nextAt()).isEqualTo(Long.MAX_VALUE);
		assertThat(nothing.now()).isGreaterThanOrEqualTo(known.now());
		assertThat(this.store.find(new TaskId("unknown", "k"))).get()
			.extracting(StoredTask::state)
			.isEqualTo(State.PENDING);
	}

	@Test
	void claimTellsTheNextTimeOfTheseNames() {
		assertThat(claim(this.store, "a", 10).nextAt()).isEqualTo(Long.MAX_VALUE);
		this.store.enqueue(task("unknown", "k", DueTime.after(SOON), IfPending.KEEP, null));
		assertThat(claim(this.store, "a", 10).nextAt()).isEqualTo(Long.MAX_VALUE);
		enqueue("later", HOUR.multipliedBy(2));
		Enqueued next = enqueue("next", HOUR);
		assertThat(claim(this.store, "a", 10).nextAt()).isCloseTo(next.dueAt(), CLOCKS_APART);
		LeasedTask running = begun("now");
		Claimed afterwards = claim(this.other, "b", 10);
		assertThat(afterwards.tasks()).isEmpty();
		assertThat(afterwards.nextAt()).isBetween(running.dueAt() + LEASE.toMillis(),
				afterwards.now() + LEASE.toMillis());
	}

	@Test
	void aClaimWithTasksTellsWhatIsDueBeforeTheNodeClaimsAgain() {
		AtomicLong clock = new AtomicLong(this.store.now());
		this.store.setClock(clock::get);
		Enqueued now = enqueue("now", Duration.ZERO);
		enqueue("next", Duration.ofMillis(Claimed.MAX_PAUSE_MILLIS));
		Claimed claimed = this.store.claim(new ClaimRequest("a", NAMES, 10, Duration.ZERO, LEASE, ANY_SIZE));
		assertThat(claimed.tasks()).extracting(LeasedTask::id).containsExactly(now.id());
		assertThat(claimed.nextAt()).isLessThanOrEqualTo(clock.get() + Claimed.MAX_PAUSE_MILLIS);
	}

	@Test
	void aClaimWithoutTasksTellsWhatTheNodeCanTakeWhenItClaimsAgain() {
		AtomicLong clock = new AtomicLong(this.store.now());
		this.store.setClock(clock::get);
		Duration pause = Duration.ofSeconds(1);
		Enqueued next = enqueue("next", LOOK_AHEAD.plus(pause));
		Claimed claimed = this.store.claim(new ClaimRequest("a", Map.of(NAME, new Limit(10, 10)), 10, true, LOOK_AHEAD,
				LEASE, ANY_SIZE, Map.of(), pause));
		assertThat(claimed.tasks()).isEmpty();
		assertThat(claimed.nextAt()).isEqualTo(next.dueAt());
	}

	@Test
	void aLeaseThatAnotherNodeHasIsNotTakenHoweverFarThisOneLooksAhead() {
		LeasedTask task = leased("k");
		LeasedTask running = begun("l");
		Claimed claim = this.other.claim(new ClaimRequest("b", NAMES, 10, HOUR, Duration.ofMillis(1), ANY_SIZE));
		assertThat(claim.tasks()).isEmpty();
		assertThat(claim.nextAt()).isLessThanOrEqualTo(task.dueAt() + LEASE.toMillis());
		assertThat(begin(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(acknowledge(this.store, running.ref())).isEqualTo(Reply.DONE);
	}

	@Test
	void aLeaseThatEndedIsClaimedByAnother() {
		LeasedTask mine = leased("k");
		clockAhead(LEASE.minusSeconds(1));
		assertThat(claimByOther()).isEmpty();
		clockAhead(AFTER_LEASE);
		LeasedTask theirs = claimByOther().get(0);
		assertThat(theirs.id()).isEqualTo(mine.id());
		assertThat(theirs.fence()).isGreaterThan(mine.fence());
		assertThat(theirs.begun()).isTrue();
		assertThat(theirs.deliveries()).isEqualTo(1);
		assertThat(theirs.lostDeliveries()).isZero();
		assertThat(staleReplies(mine.ref())).containsOnly(Reply.REFUSED);
		assertThat(acknowledge(this.other, theirs.ref())).isEqualTo(Reply.DONE);
	}

	@Test
	void aTaskWhoseDeliveryWasLostIsASuspectThatDoesNotBeginWithItsClaim() {
		LeasedTask mine = begun("k");
		clockAhead(AFTER_LEASE);
		Claimed found = claim(this.other, "b", 10);
		assertThat(found.tasks()).isEmpty();
		assertThat(found.nextAt()).isLessThanOrEqualTo(found.now());
		assertThat(stored(mine.id()).state()).isEqualTo(State.RUNNING);
		assertThat(staleReplies(mine.ref())).containsOnly(Reply.REFUSED);
		LeasedTask theirs = claimByOther().get(0);
		assertThat(theirs.suspect()).isTrue();
		assertThat(theirs.begun()).isFalse();
		assertThat(theirs.attempt()).isEqualTo(1);
		assertThat(theirs.deliveries()).isEqualTo(1);
		assertThat(theirs.lostDeliveries()).isZero();
		assertThat(theirs.payload()).isEqualTo(mine.payload());
		assertThat(stored(mine.id()).state()).isEqualTo(State.RUNNING);
		assertThat(this.store.cancel(mine.id())).isFalse();
		assertThat(staleReplies(mine.ref())).containsOnly(Reply.REFUSED);
		assertThat(begin(this.other, theirs.ref())).isEqualTo(Reply.DONE);
		assertThat(begin(this.other, theirs.ref())).isEqualTo(Reply.DONE);
		assertThat(stored(mine.id()).deliveries()).isEqualTo(2);
		assertThat(this.store.counts().get(NAME)).isEqualTo(new StoredCounts(0, 0, 1, 0));
		assertThat(acknowledge(this.other, theirs.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.counts()).isEmpty();
	}

	@Test
	void onlyADeliveryThatWasAloneCountsAsLost() {
		begun("k");
		for (int lost = 0; lost < 3; lost++) {
			clockAhead(AFTER_LEASE.multipliedBy(3 * lost + 1));
			LeasedTask unheard = suspect(this.other, "b");
			assertThat(unheard.lostDeliveries()).isEqualTo(lost);
			// The reply to this claim was lost: the node never begins the task.
			clockAhead(AFTER_LEASE.multipliedBy(3 * lost + 2));
			LeasedTask alone = suspect(this.store, "a");
			assertThat(alone.id()).isEqualTo(unheard.id());
			assertThat(alone.lostDeliveries()).isEqualTo(lost);
			assertThat(begin(this.other, unheard.ref())).isEqualTo(Reply.REFUSED);
			assertThat(begin(this.store, alone.ref())).isEqualTo(Reply.DONE);
			assertThat(this.store.renew(refs(alone), LEASE)).containsExactly(Reply.DONE);
		}
	}

	@Test
	void aClaimTakesOneSuspectAndNothingElseOrNoSuspect() {
		for (int i = 0; i < 5; i++) {
			enqueue((i < 3) ? "k" + i : null, NOW);
		}
		assertThat(claim()).hasSize(5);
		clockAhead(AFTER_LEASE);
		assertThat(claimByOther()).isEmpty();
		Enqueued fresh = enqueue("fresh", NOW);
		Set<String> suspects = new HashSet<>();
		for (int i = 0; i < 5; i++) {
			List<LeasedTask> claimed = claimByOther();
			assertThat(claimed).hasSize(1).allMatch(LeasedTask::suspect);
			suspects.add(claimed.get(0).id());
			if (i == 2) {
				assertThat(claimWithoutSuspects()).extracting(LeasedTask::id).containsExactly(fresh.id());
				assertThat(claimWithoutSuspects()).isEmpty();
			}
		}
		assertThat(suspects).hasSize(5).doesNotContain(fresh.id());
		assertThat(claimByOther()).isEmpty();
	}

	private List<LeasedTask> claimWithoutSuspects() {
		return this.other
			.claim(new ClaimRequest("b", Map.of(NAME, new Limit(10, 10)), 10, false, LOOK_AHEAD, LEASE, ANY_SIZE))
			.tasks();
	}

	/**
	 * Claims the only suspect. The first claim may only find it.
	 */
	private static LeasedTask suspect(DelayedTaskStore store, String owner) {
		List<LeasedTask> tasks = claim(store, owner, 10).tasks();
		LeasedTask task = (tasks.isEmpty() ? claim(store, owner, 10).tasks() : tasks).get(0);
		assertThat(task.suspect()).isTrue();
		return task;
	}

	@Test
	void aSuspectStaysOneWhenItIsReleasedUntilItsBodyFails() {
		LeasedTask lost = begun("k");
		clockAhead(AFTER_LEASE);
		LeasedTask suspect = suspect(this.store, "a");
		assertThat(release(this.store, suspect.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::state).isEqualTo(State.PENDING);
		assertThat(this.store.counts().get(NAME)).isEqualTo(new StoredCounts(1, 1, 0, 0));
		assertThat(this.store.pending(NAME, 10)).extracting(StoredTask::id).containsExactly(lost.id());
		LeasedTask again = suspect(this.other, "b");
		assertThat(this.store.counts().get(NAME).pending()).isEqualTo(1);
		assertThat(begin(this.other, again.ref())).isEqualTo(Reply.DONE);
		assertThat(release(this.other, again.ref())).isEqualTo(Reply.DONE);
		LeasedTask cutOff = suspect(this.store, "a");
		assertThat(cutOff.lostDeliveries()).isZero();
		assertThat(begin(this.store, cutOff.ref())).isEqualTo(Reply.DONE);
		assertThat(retry(this.store, cutOff.ref(), 2, NOW)).isEqualTo(Reply.DONE);
		LeasedTask failed = claim().get(0);
		assertThat(failed.suspect()).isFalse();
		assertThat(failed.begun()).isTrue();
		assertThat(failed.attempt()).isEqualTo(2);
	}

	@Test
	void aPendingSuspectCanBeCancelledReplacedAndMovedButIsNotLeasedByItsMove() {
		Enqueued moved = pendingSuspect("moved");
		assertThat(this.store.reschedule(moved.id(), DueTime.after(NOW), OFFER)).isNotNull()
			.extracting(Rescheduled::leased)
			.isEqualTo(false);
		assertThat(suspect(this.store, "a").id()).isEqualTo(moved.id());
		Enqueued replaced = pendingSuspect("replaced");
		assertThat(enqueue("replaced", NOW).outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(claim()).singleElement().matches((task) -> task.begun() && !task.suspect());
		assertThat(this.store.find(replaced.id())).isEmpty();
		pendingSuspect("cancelled");
		assertThat(this.store.cancel(key("cancelled"))).isTrue();
		assertThat(claim()).isEmpty();
	}

	private Enqueued pendingSuspect(String key) {
		clockAhead(NOW);
		Enqueued task = enqueue(key, NOW);
		claimWithoutSuspects();
		clockAhead(AFTER_LEASE);
		claimWithoutSuspects();
		LeasedTask suspect = this.other.find(task.id()).map((found) -> suspect(this.other, "b")).orElseThrow();
		assertThat(release(this.other, suspect.ref())).isEqualTo(Reply.DONE);
		return task;
	}

	@Test
	void aSuspectThatDiesIsNoneWhenItIsRequeued() {
		begun("k");
		clockAhead(AFTER_LEASE);
		LeasedTask suspect = suspect(this.store, "a");
		assertThat(bury(this.store, suspect.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.counts().get(NAME)).isEqualTo(new StoredCounts(0, 0, 0, 1));
		assertThat(this.store.dead(NAME, 10)).hasSize(1);
		assertThat(this.store.requeue(suspect.id())).isEqualTo(Requeue.REQUEUED);
		assertThat(claim()).singleElement().matches((task) -> task.begun() && !task.suspect());
	}

	@Test
	void aTaskThatWasLostDoesNotTakeItsKeyBack() {
		LeasedTask lost = begun("k");
		Enqueued newer = enqueue("k", HOUR);
		clockAhead(AFTER_LEASE);
		LeasedTask suspect = suspect(this.other, "b");
		assertThat(suspect.id()).isEqualTo(lost.id());
		assertThat(begin(this.other, suspect.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::id).isEqualTo(newer.id());
	}

	@Test
	void aClaimTakesNoMoreOfANameThanItsLimits() {
		List<String> names = List.of("slow", "quick", "idle");
		for (int i = 0; i < 30; i++) {
			this.store.enqueue(task("slow", null, DueTime.after(NOW), IfPending.REPLACE, null));
			this.store.enqueue(task("slow", null, DueTime.after(SOON), IfPending.REPLACE, null));
		}
		for (int i = 0; i < 5; i++) {
			this.store.enqueue(task("quick", null, DueTime.after(NOW), IfPending.REPLACE, null));
		}
		this.store.enqueue(task("idle", null, DueTime.after(HOUR), IfPending.REPLACE, null));
		Map<String, Limit> limits = Map.of("slow", new Limit(3, 2), "quick", new Limit(20, 0), "idle", new Limit(7, 7));
		Claimed claim = this.store.claim(new ClaimRequest("a", limits, 50, false, LOOK_AHEAD, LEASE, ANY_SIZE));
		Map<String, List<LeasedTask>> byName = claim.tasks().stream().collect(Collectors.groupingBy(LeasedTask::name));
		assertThat(byName).containsOnlyKeys("slow", "quick");
		assertThat(byName.get("slow")).hasSizeBetween(3, 5).filteredOn(LeasedTask::begun).hasSize(3);
		assertThat(byName.get("quick")).hasSize(5).allMatch(LeasedTask::begun);
		Claimed none = this.store
			.claim(new ClaimRequest("a", Map.of("slow", new Limit(0, 4)), 50, false, LOOK_AHEAD, LEASE, ANY_SIZE));
		assertThat(none.tasks()).noneMatch(LeasedTask::begun);
		for (int limit : List.of(1, 17, 40)) {
			Map<String, Limit> all = names.stream()
				.collect(Collectors.toMap(Function.identity(), (name) -> new Limit(limit, limit)));
			Claimed some = this.store.claim(new ClaimRequest("a", all, limit, false, LOOK_AHEAD, LEASE, ANY_SIZE));
			assertThat(some.tasks()).hasSizeBetween(1, limit);
		}
	}

	private List<Reply> staleReplies(TaskRef stale) {
		List<Reply> replies = new ArrayList<>();
		replies.add(begin(this.store, stale));
		replies.add(this.store.renew(List.of(stale), LEASE).get(0));
		replies.add(acknowledge(this.store, stale));
		replies.add(retry(this.store, stale, 2, NOW));
		replies.add(release(this.store, stale));
		replies.add(bury(this.store, stale));
		return replies;
	}

	@Test
	void beginCountsTheDeliveryGivesTheKeyUpAndHoldsTheTask() {
		LeasedTask task = leased("k");
		clockAhead(LEASE);
		assertThat(begin(this.store, task.ref())).isEqualTo(Reply.DONE);
		StoredTask running = stored(task.id());
		assertThat(running.state()).isEqualTo(State.RUNNING);
		assertThat(running.deliveries()).isEqualTo(1);
		assertThat(this.store.find(key("k"))).isEmpty();
		clockAhead(LEASE.multipliedBy(2).minus(SOON));
		assertThat(claimByOther()).isEmpty();
		clockAhead(LEASE.multipliedBy(2).plusSeconds(5));
		assertThat(suspect(this.other, "b").id()).isEqualTo(task.id());
	}

	@Test
	void beginMayBeRepeatedAndCountsOnce() {
		LeasedTask task = leased("k");
		assertThat(begin(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(begin(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(stored(task.id()).deliveries()).isEqualTo(1);
		LeasedTask claimed = begun("l");
		assertThat(begin(this.store, claimed.ref())).isEqualTo(Reply.DONE);
		assertThat(stored(claimed.id()).deliveries()).isEqualTo(1);
	}

	@Test
	void aTaskThatNobodyHasLeasedDoesNotBegin() {
		Enqueued enqueued = enqueue("k", NOW);
		assertThat(begin(this.store, ref(enqueued))).isEqualTo(Reply.REFUSED);
		assertThat(begin(this.store, new TaskRef("unknown", 1))).isEqualTo(Reply.REFUSED);
		assertThat(this.store.renew(List.of(ref(enqueued)), LEASE)).containsExactly(Reply.REFUSED);
	}

	@Test
	void renewMakesTheLeaseLastFromNow() {
		LeasedTask task = begun("k");
		clockAhead(LEASE.minus(SOON));
		assertThat(this.store.renew(refs(task), LEASE)).containsExactly(Reply.DONE);
		clockAhead(LEASE.multipliedBy(2).minus(SOON.multipliedBy(2)));
		assertThat(claimByOther()).isEmpty();
		assertThat(this.store.renew(refs(task), LEASE)).containsExactly(Reply.DONE);
		assertThat(stored(task.id()).deliveries()).isEqualTo(1);
		assertThat(acknowledge(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.renew(refs(task), LEASE)).containsExactly(Reply.REFUSED);
	}

	@Test
	void acknowledgeDeletesTheTaskAndMayBeRepeated() {
		LeasedTask task = begun("k");
		assertThat(acknowledge(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.find(task.id())).isEmpty();
		assertThat(acknowledge(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.counts()).isEmpty();
	}

	@Test
	void acknowledgeOfARunLeavesTheNewTaskWithTheKey() {
		LeasedTask running = begun("k");
		Enqueued newer = enqueue("k", HOUR);
		assertThat(acknowledge(this.store, running.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::id).isEqualTo(newer.id());
	}

	@Test
	void repliesComeInTheOrderOfTheRequests() {
		List<LeasedTask> tasks = new ArrayList<>();
		for (int i = 0; i < 40; i++) {
			tasks.add(begun((i % 2 == 0) ? "k" + i : null));
		}
		List<TaskRef> questions = new ArrayList<>();
		List<Reply> expected = new ArrayList<>();
		for (LeasedTask task : tasks) {
			questions.add(task.ref());
			expected.add(Reply.DONE);
			questions.add(new TaskRef(task.id(), task.fence() - 1));
			expected.add(Reply.REFUSED);
		}
		assertThat(this.store.begin(questions, LEASE)).isEqualTo(expected);
		assertThat(this.store.renew(questions, LEASE)).isEqualTo(expected);
		List<TaskRef> acknowledged = tasks.subList(0, 10).stream().map(LeasedTask::ref).toList();
		assertThat(this.store.acknowledge(questions.subList(1, 2))).containsExactly(Reply.REFUSED);
		assertThat(this.store.acknowledge(acknowledged)).containsOnly(Reply.DONE);
		List<Retry> retries = questions.subList(20, 40).stream().map((task) -> new Retry(task, 2, HOUR, "x")).toList();
		assertThat(this.store.retry(retries)).isEqualTo(expected.subList(20, 40));
		assertThat(this.store.release(questions.subList(40, 60))).isEqualTo(expected.subList(40, 60));
		List<Burial> burials = questions.subList(60, 80).stream().map((task) -> new Burial(task, "no")).toList();
		assertThat(this.store.bury(burials)).isEqualTo(expected.subList(60, 80));
		assertThat(this.store.counts()).containsExactly(entry(NAME, new StoredCounts(20, 10, 0, 10)));
	}

	@Test
	void emptyRequestsGetEmptyReplies() {
		assertThat(this.store.begin(List.of(), LEASE)).isEmpty();
		assertThat(this.store.renew(List.of(), LEASE)).isEmpty();
		assertThat(this.store.acknowledge(List.of())).isEmpty();
		assertThat(this.store.retry(List.of())).isEmpty();
		assertThat(this.store.release(List.of())).isEmpty();
		assertThat(this.store.bury(List.of())).isEmpty();
	}

	@Test
	void retryMakesATaskPendingAgainWithItsKey() {
		LeasedTask task = begun("k");
		assertThat(retry(this.store, task.ref(), 2, HOUR)).isEqualTo(Reply.DONE);
		StoredTask pending = this.store.find(key("k")).orElseThrow();
		assertThat(pending.id()).isEqualTo(task.id());
		assertThat(pending.state()).isEqualTo(State.PENDING);
		assertThat(pending.attempt()).isEqualTo(2);
		assertThat(pending.error()).isEqualTo("it failed");
		assertThat(pending.dueAt()).isBetween(task.dueAt() + HOUR.toMillis(), this.store.now() + HOUR.toMillis());
		assertThat(claim()).isEmpty();
		clockAhead(HOUR.plusSeconds(1));
		LeasedTask again = claimByOther().get(0);
		assertThat(again.attempt()).isEqualTo(2);
		assertThat(again.deliveries()).isEqualTo(2);
		assertThat(again.lostDeliveries()).isZero();
		assertThat(again.fence()).isGreaterThan(task.fence());
	}

	@Test
	void retryMayBeRepeated() {
		for (String key : new String[] { "k", null }) {
			LeasedTask task = begun(key);
			assertThat(retry(this.store, task.ref(), 2, NOW)).isEqualTo(Reply.DONE);
			assertThat(retry(this.store, task.ref(), 2, NOW)).isEqualTo(Reply.DONE);
			assertThat(stored(task.id()).attempt()).isEqualTo(2);
			assertThat(begin(this.store, task.ref())).isEqualTo(Reply.REFUSED);
			assertThat(claimByOther()).singleElement().extracting(LeasedTask::id).isEqualTo(task.id());
			assertThat(retry(this.store, task.ref(), 2, NOW)).isEqualTo(Reply.REFUSED);
		}
	}

	@Test
	void aRetryIsDroppedIfANewerTaskHasItsKey() {
		LeasedTask older = begun("k");
		Enqueued newer = enqueue("k", HOUR);
		assertThat(retry(this.store, older.ref(), 2, NOW)).isEqualTo(Reply.SUPERSEDED);
		assertThat(this.store.find(older.id())).isEmpty();
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::id).isEqualTo(newer.id());
		assertThat(retry(this.store, older.ref(), 2, NOW)).isIn(Reply.SUPERSEDED, Reply.REFUSED);
		assertThat(this.store.pending(NAME, 10)).hasSize(1);
	}

	@Test
	void ofTwoRetriedRunsWithOneKeyOneIsDropped() {
		LeasedTask first = begun("k");
		LeasedTask second = begun("k");
		List<Retry> retries = List.of(new Retry(first.ref(), 2, HOUR, "x"), new Retry(second.ref(), 2, HOUR, "x"));
		assertThat(this.store.retry(retries)).containsExactlyInAnyOrder(Reply.DONE, Reply.SUPERSEDED);
		assertThat(this.store.pending(NAME, 10)).hasSize(1);
		assertThat(this.store.counts()).containsExactly(entry(NAME, new StoredCounts(1, 0, 0, 0)));
	}

	@Test
	void releaseGivesATaskThatHasNotBegunBackAsItWas() {
		LeasedTask task = leased("k");
		assertThat(release(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(release(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(stored(task.id()))
			.isEqualTo(new StoredTask(task.id(), NAME, "k", task.dueAt(), State.PENDING, 1, 0, null));
		assertThat(begin(this.store, task.ref())).isEqualTo(Reply.REFUSED);
		assertThat(claimByOther()).singleElement().extracting(LeasedTask::id).isEqualTo(task.id());
		assertThat(release(this.store, task.ref())).isEqualTo(Reply.REFUSED);
	}

	@Test
	void releaseGivesATaskThatHasBegunBackWithItsKey() {
		LeasedTask task = begun("k");
		assertThat(release(this.store, task.ref())).isEqualTo(Reply.DONE);
		assertThat(release(this.store, task.ref())).isEqualTo(Reply.DONE);
		StoredTask pending = this.store.find(key("k")).orElseThrow();
		assertThat(pending.id()).isEqualTo(task.id());
		assertThat(pending.dueAt()).isEqualTo(task.dueAt());
		assertThat(pending.attempt()).isEqualTo(1);
		LeasedTask again = claimByOther().get(0);
		assertThat(again.begun()).isTrue();
		assertThat(again.attempt()).isEqualTo(1);
		assertThat(again.lostDeliveries()).isZero();
	}

	@Test
	void theDeliveryOfATaskWhoseBodyHasNotStartedDoesNotCount() {
		LeasedTask begun = begun("k");
		assertThat(begun.deliveries()).isEqualTo(1);
		assertThat(this.store.releaseUnstarted(refs(begun))).containsExactly(Reply.DONE);
		assertThat(this.store.releaseUnstarted(refs(begun))).as("repeated").containsExactly(Reply.DONE);
		assertThat(stored(begun.id()).deliveries()).isZero();
		LeasedTask again = claimByOther().get(0);
		assertThat(again.deliveries()).isEqualTo(1);
		assertThat(release(this.other, again.ref())).isEqualTo(Reply.DONE);
		assertThat(stored(begun.id()).deliveries()).as("its body has started").isEqualTo(1);
		LeasedTask leased = leased("later");
		assertThat(this.store.releaseUnstarted(refs(leased))).containsExactly(Reply.DONE);
		assertThat(stored(leased.id()).deliveries()).as("it has not begun").isZero();
	}

	@Test
	void aSuspectThatIsGivenBackBeforeItBeginsKeepsItsDeliveries() {
		LeasedTask task = begun("k");
		clockAhead(AFTER_LEASE);
		LeasedTask suspect = suspect(this.other, "b");
		assertThat(this.other.releaseUnstarted(refs(suspect))).containsExactly(Reply.DONE);
		assertThat(stored(task.id()).deliveries()).isEqualTo(1);
		LeasedTask again = suspect(this.other, "b");
		assertThat(begin(this.other, again.ref())).isEqualTo(Reply.DONE);
		assertThat(stored(task.id()).deliveries()).isEqualTo(2);
		assertThat(this.other.releaseUnstarted(refs(again))).containsExactly(Reply.DONE);
		assertThat(stored(task.id()).deliveries()).isEqualTo(1);
		assertThat(suspect(this.store, "a").id()).isEqualTo(task.id());
	}

	@Test
	void aReleasedRunIsDroppedIfANewerTaskHasItsKey() {
		LeasedTask older = begun("k");
		Enqueued newer = enqueue("k", HOUR);
		assertThat(release(this.store, older.ref())).isEqualTo(Reply.SUPERSEDED);
		assertThat(this.store.find(older.id())).isEmpty();
		assertThat(this.store.find(key("k"))).get().extracting(StoredTask::id).isEqualTo(newer.id());
	}

	@Test
	void buryKeepsATaskWithoutItsKey() {
		LeasedTask begun = begun("k");
		LeasedTask leased = leased("l");
		for (LeasedTask task : List.of(begun, leased)) {
			assertThat(bury(this.store, task.ref())).isEqualTo(Reply.DONE);
			assertThat(bury(this.store, task.ref())).isEqualTo(Reply.DONE);
			StoredTask dead = stored(task.id());
			assertThat(dead.state()).isEqualTo(State.DEAD);
			assertThat(dead.key()).isEqualTo(task.key());
			assertThat(dead.dueAt()).isEqualTo(task.dueAt());
			assertThat(dead.error()).isEqualTo("hopeless");
			assertThat(this.store.find(key(task.key()))).isEmpty();
			assertThat(this.store.cancel(task.id())).isFalse();
			assertThat(this.store.reschedule(task.id(), DueTime.after(NOW), null)).isNull();
			assertThat(enqueue(task.key(), HOUR).outcome()).isEqualTo(Outcome.INSERTED);
		}
		clockAhead(AFTER_LEASE);
		assertThat(claimByOther()).isEmpty();
		assertThat(acknowledge(this.store, begun.ref())).isEqualTo(Reply.REFUSED);
		assertThat(stored(begun.id()).state()).isEqualTo(State.DEAD);
	}

	@Test
	void errorsMayBeAsLongAsStated() {
		LeasedTask task = begun("k");
		String reason = "\ud83d\ude97\u0000".repeat(DelayedTaskStore.MAX_ERROR_LENGTH / 3);
		assertThat(this.store.bury(List.of(new Burial(task.ref(), reason)))).containsExactly(Reply.DONE);
		assertThat(stored(task.id()).error()).hasSameSizeAs(reason).startsWith("\ud83d\ude97");
	}

	@Test
	void requeueStartsADeadTaskAnew() {
		LeasedTask task = begun("k");
		retry(this.store, task.ref(), 7, NOW);
		LeasedTask again = claim().get(0);
		bury(this.store, again.ref());
		assertThat(this.other.requeue(task.id())).isEqualTo(Requeue.REQUEUED);
		assertThat(this.other.requeue(task.id())).isEqualTo(Requeue.NOT_DEAD);
		assertThat(this.other.requeue("unknown")).isEqualTo(Requeue.NOT_DEAD);
		assertThat(bury(this.store, again.ref())).isEqualTo(Reply.REFUSED);
		StoredTask pending = this.store.find(key("k")).orElseThrow();
		assertThat(pending.error()).isNull();
		assertThat(pending.dueAt()).isGreaterThanOrEqualTo(again.dueAt());
		LeasedTask claimed = claim().get(0);
		assertThat(claimed.id()).isEqualTo(task.id());
		assertThat(claimed.begun()).isTrue();
		assertThat(claimed.attempt()).isEqualTo(1);
		assertThat(claimed.deliveries()).isEqualTo(1);
		assertThat(claimed.lostDeliveries()).isZero();
	}

	@Test
	void requeueForgetsTheFirstCallOfADebounce() {
		Enqueued first = this.store.enqueue(debounced("k", NOW, IfPending.REPLACE, HOUR));
		LeasedTask task = claim().get(0);
		assertThat(task.id()).isEqualTo(first.id());
		bury(this.store, task.ref());
		clockAhead(HOUR.multipliedBy(2));
		assertThat(this.store.requeue(task.id())).isEqualTo(Requeue.REQUEUED);
		Enqueued next = this.store.enqueue(debounced("k"));
		assertThat(next.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(next.dueAt()).isEqualTo(next.now() + HOUR.toMillis() / 2);
	}

	@Test
	void requeueLeavesADeadTaskWhoseKeyIsPending() {
		LeasedTask task = begun("k");
		bury(this.store, task.ref());
		Enqueued newer = enqueue("k", HOUR);
		assertThat(this.store.requeue(task.id())).isEqualTo(Requeue.KEY_PENDING);
		assertThat(stored(task.id()).state()).isEqualTo(State.DEAD);
		assertThat(this.store.cancel(newer.id())).isTrue();
		assertThat(this.store.requeue(task.id())).isEqualTo(Requeue.REQUEUED);
	}

	@Test
	void discardDeletesADeadTaskOnly() {
		LeasedTask task = begun("k");
		assertThat(this.store.discard(task.id())).isFalse();
		bury(this.store, task.ref());
		assertThat(this.other.discard(task.id())).isTrue();
		assertThat(this.other.discard(task.id())).isFalse();
		assertThat(this.store.find(task.id())).isEmpty();
		Enqueued pending = enqueue("k", HOUR);
		assertThat(this.store.discard(pending.id())).isFalse();
	}

	@Test
	void manyDeadTasksAreRequeuedExceptThoseWhoseKeysArePending() {
		List<String> ids = new ArrayList<>();
		for (String key : Arrays.asList("pending", "twice", "twice", "free", null, null)) {
			LeasedTask task = begun(key);
			retry(this.store, task.ref(), 7, NOW);
			bury(this.store, claim().get(0).ref());
			ids.add(task.id());
		}
		ids.add(2, enqueue("pending", HOUR).id());
		ids.add(3, "unknown");
		assertThat(this.other.requeueAll(ids)).containsExactly(Requeue.KEY_PENDING, Requeue.REQUEUED, Requeue.NOT_DEAD,
				Requeue.NOT_DEAD, Requeue.KEY_PENDING, Requeue.REQUEUED, Requeue.REQUEUED, Requeue.REQUEUED);
		assertThat(this.store.requeueAll(List.of())).isEmpty();
		assertThat(this.store.dead(NAME, 10)).extracting(StoredTask::key).containsExactlyInAnyOrder("pending", "twice");
		List<LeasedTask> claimed = claim();
		assertThat(claimed).extracting(LeasedTask::id)
			.containsExactlyInAnyOrder(ids.get(1), ids.get(5), ids.get(6), ids.get(7));
		assertThat(claimed).allSatisfy((task) -> {
			assertThat(task.begun()).isTrue();
			assertThat(task.attempt()).isEqualTo(1);
			assertThat(task.deliveries()).isEqualTo(1);
		});
	}

	@Test
	void discardAllDeletesDeadTasksOnly() {
		List<String> ids = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			LeasedTask task = begun("k" + i);
			bury(this.store, task.ref());
			ids.add(task.id());
		}
		String left = ids.remove(1);
		ids.add(enqueue("k", HOUR).id());
		ids.add("unknown");
		assertThat(this.other.discardAll(ids)).isEqualTo(2);
		assertThat(this.other.discardAll(ids)).isZero();
		assertThat(this.other.discardAll(List.of())).isZero();
		assertThat(this.store.dead(NAME, 10)).extracting(StoredTask::id).containsExactly(left);
		assertThat(this.store.counts()).containsExactly(entry(NAME, new StoredCounts(1, 0, 0, 1)));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theDeadAreReadInPagesInTheOrderInWhichTheyDied(boolean latestFirst) {
		for (int i = 0; i < 5; i++) {
			clockAhead(SOON.multipliedBy(i));
			List<LeasedTask> tasks = List.of(begun("a" + i), begun(null), begun("b" + i));
			this.store.bury(tasks.stream().map((task) -> new Burial(task.ref(), "error " + task.id())).toList());
			enqueue("pending" + i, HOUR);
		}
		LeasedTask other = claimOf("other");
		bury(this.store, other.ref());
		List<DeadTask> read = new ArrayList<>();
		DeadTasks page = new DeadTasks(List.of(), true);
		DeadTask.Position after = null;
		while (page.more()) {
			page = this.other.dead(new DeadQuery(NAME, latestFirst, after, 4));
			assertThat(page.tasks()).hasSizeLessThanOrEqualTo(4);
			read.addAll(page.tasks());
			after = read.get(read.size() - 1).position();
		}
		assertThat(read).hasSize(15).doesNotHaveDuplicates();
		assertThat(read).allSatisfy((task) -> assertThat(task.error()).isEqualTo("error " + task.id()));
		Comparator<DeadTask> order = Comparator.comparingLong(DeadTask::diedAt);
		assertThat(read).isSortedAccordingTo(latestFirst ? order.reversed() : order);
		assertThat(read.get(14).diedAt() - read.get(0).diedAt())
			.satisfies((span) -> assertThat(Math.abs(span)).isGreaterThanOrEqualTo(SOON.toMillis() * 4 - 1000));
		assertThat(this.store.dead(new DeadQuery("unknown", latestFirst, null, 4)))
			.isEqualTo(new DeadTasks(List.of(), false));
	}

	private LeasedTask claimOf(String name) {
		this.store.enqueue(task(name, "k", DueTime.after(NOW), IfPending.REPLACE, null));
		return this.store.claim(new ClaimRequest("a", Set.of(name), 1, LOOK_AHEAD, LEASE, ANY_SIZE)).tasks().get(0);
	}

	@Test
	void aPageOfTheDeadGoesOnAfterATaskThatIsGone() {
		for (int i = 0; i < 3; i++) {
			clockAhead(SOON.multipliedBy(i));
			bury(this.store, begun("k" + i).ref());
		}
		DeadTask first = this.store.dead(new DeadQuery(NAME, false, null, 1)).tasks().get(0);
		assertThat(this.store.discard(first.id())).isTrue();
		assertThat(this.store.dead(new DeadQuery(NAME, false, first.position(), 10)).tasks()).hasSize(2);
	}

	@Test
	void theTasksOfAnyNameThatHaveBeenDeadForLongerAreDeleted() {
		bury(this.store, begun("old").ref());
		bury(this.store, claimOf("other").ref());
		bury(this.store, claimOf("z").ref());
		enqueue("pending", HOUR.multipliedBy(9));
		clockAhead(HOUR);
		bury(this.store, begun("young").ref());
		LeasedTask requeued = begun("requeued");
		bury(this.store, requeued.ref());
		assertThat(this.other.discardOlder(HOUR.multipliedBy(2), 500)).isZero();
		assertThat(this.other.discardOlder(HOUR.dividedBy(2), 500)).isEqualTo(3);
		assertThat(this.other.discardOlder(HOUR.dividedBy(2), 500)).isZero();
		assertThat(this.store.dead(NAME, 10)).extracting(StoredTask::key)
			.containsExactlyInAnyOrder("young", "requeued");
		assertThat(this.store.counts()).containsExactly(entry(NAME, new StoredCounts(1, 0, 0, 2)));
		assertThat(this.store.requeue(requeued.id())).isEqualTo(Requeue.REQUEUED);
		clockAhead(HOUR.multipliedBy(3));
		assertThat(this.other.discardOlder(HOUR, 500)).isEqualTo(1);
		assertThat(this.store.find(requeued.id())).isPresent();
	}

	@Test
	void theDeadAreDeletedInSmallSteps() {
		int tasks = 200;
		this.store.enqueueAll(IntStream.range(0, tasks).mapToObj((i) -> task(null, NOW)).toList());
		this.store.bury(claim(this.store, "a", tasks).tasks()
			.stream()
			.map((task) -> new Burial(task.ref(), "hopeless"))
			.toList());
		clockAhead(HOUR);
		int deleted = this.store.discardOlder(SOON, 32);
		assertThat(deleted).isBetween(1, 64);
		while (deleted < tasks) {
			int step = this.store.discardOlder(SOON, 32);
			assertThat(step).isBetween(1, 64);
			deleted += step;
		}
		assertThat(this.store.counts()).isEmpty();
	}

	@Test
	void aTaskKeepsTheTraceOfItsCaller() {
		Enqueued traced = this.store.enqueue(traced("traced", TRACE, IfPending.REPLACE));
		LeasedTask task = claim().get(0);
		assertThat(task.traceparent()).isEqualTo(TRACE);
		assertThat(task.payload()).isEqualTo(payloadOf(traced.id()));
		retry(this.store, task.ref(), 2, NOW);
		LeasedTask again = claimByOther().get(0);
		assertThat(again.traceparent()).isEqualTo(TRACE);
		assertThat(again.payload()).isEqualTo(payloadOf(traced.id()));
		bury(this.other, again.ref());
		this.store.requeue(traced.id());
		clockAhead(LEASE.multipliedBy(2));
		claim();
		clockAhead(LEASE.multipliedBy(4));
		assertThat(suspect(this.store, "a").traceparent()).isEqualTo(TRACE);
	}

	@Test
	void aTaskWithoutATraceHasNone() {
		enqueue("k", NOW);
		assertThat(claim().get(0).traceparent()).isNull();
	}

	@Test
	void aReplacementBringsTheTraceOfItsCaller() {
		this.store.enqueue(traced("a", TRACE, IfPending.REPLACE));
		this.store.enqueue(traced("a", OTHER_TRACE, IfPending.REPLACE));
		this.store.enqueue(traced("b", TRACE, IfPending.REPLACE));
		enqueue("b", HOUR);
		this.store.enqueue(traced("c", TRACE, IfPending.REPLACE));
		this.store.enqueue(traced("c", OTHER_TRACE, IfPending.KEEP));
		this.store.enqueueAll(List.of(traced("d", TRACE, IfPending.REPLACE), traced("e", OTHER_TRACE, IfPending.KEEP),
				traced(null, null, IfPending.REPLACE)));
		clockAhead(HOUR);
		Map<String, String> traces = new HashMap<>();
		claim().forEach((task) -> traces.put(task.key(), task.traceparent()));
		assertThat(traces).containsOnly(entry("a", OTHER_TRACE), entry("b", null), entry("c", TRACE), entry("d", TRACE),
				entry("e", OTHER_TRACE), entry(null, null));
	}

	@Test
	void aMoveKeepsTheTrace() {
		Enqueued traced = this.store.enqueue(new NewTask(UUID.randomUUID().toString(), NAME, "k", "payload", TRACE,
				DueTime.after(HOUR), IfPending.REPLACE, null));
		LeasedTask moved = this.store.reschedule(traced.id(), DueTime.after(SOON), OFFER).task();
		assertThat(moved.traceparent()).isEqualTo(TRACE);
		assertThat(moved.payload()).isEqualTo("payload");
	}

	@Test
	void theTraceDoesNotCountAsPayload() {
		String id = UUID.randomUUID().toString();
		this.store
			.enqueue(new NewTask(id, NAME, "k", "x".repeat(100), TRACE, DueTime.after(NOW), IfPending.REPLACE, null));
		LeasedTask task = this.store.claim(new ClaimRequest("a", NAMES, 1, LOOK_AHEAD, LEASE, 100)).tasks().get(0);
		assertThat(task.payload()).isEqualTo("x".repeat(100));
		retry(this.store, task.ref(), 2, NOW);
		task = this.store.claim(new ClaimRequest("a", NAMES, 1, LOOK_AHEAD, LEASE, 99)).tasks().get(0);
		assertThat(task.payload()).isNull();
		assertThat(task.traceparent()).isEqualTo(TRACE);
	}

	private static NewTask traced(@Nullable String key, @Nullable String traceparent, IfPending ifPending) {
		String id = UUID.randomUUID().toString();
		return new NewTask(id, NAME, key, "payload of " + id, traceparent, DueTime.after(NOW), ifPending, null);
	}

	@Test
	void countsAreByName() {
		bury(this.store, begun("dead").ref());
		begun("running");
		enqueue("overdue", NOW);
		enqueue("pending", HOUR);
		this.store.enqueue(task("other", "k", DueTime.after(SOON), IfPending.KEEP, OFFER));
		assertThat(this.other.counts()).containsOnly(entry(NAME, new StoredCounts(2, 1, 1, 1)),
				entry("other", new StoredCounts(1, 0, 0, 0)));
		clockAhead(SOON.multipliedBy(2));
		assertThat(this.other.counts()).containsEntry("other", new StoredCounts(1, 1, 0, 0));
	}

	@Test
	void thePendingAreListedByTheTimeThatTheyAreDue() {
		enqueue("late", HOUR.multipliedBy(3));
		enqueue("later", HOUR.multipliedBy(4));
		enqueue("first", HOUR);
		leased("leased");
		begun("running");
		bury(this.store, begun("dead").ref());
		this.store.enqueue(task("other", "k", DueTime.after(HOUR), IfPending.KEEP, null));
		assertThat(this.other.pending(NAME, 3)).extracting(StoredTask::key).containsExactly("leased", "first", "late");
		assertThat(this.other.pending("unknown", 3)).isEmpty();
	}

	@Test
	void thePendingAreReadPageByPage() {
		List<String> expected = new ArrayList<>();
		for (int i = 0; i < 25; i++) {
			enqueue("key " + i, HOUR.plusSeconds(i / 5));
		}
		leased("leased");
		this.store.pending(NAME, 100).forEach((task) -> expected.add(task.id()));
		List<String> read = new ArrayList<>();
		List<StoredTask> page = this.other.pending(new PendingQuery(NAME, null, 4));
		while (!page.isEmpty()) {
			assertThat(page).hasSize(Math.min(4, 26 - read.size()));
			page.forEach((task) -> read.add(task.id()));
			page = this.other.pending(new PendingQuery(NAME, page.get(page.size() - 1).position(), 4));
		}
		assertThat(read).hasSize(26).isEqualTo(expected);
	}

	@Test
	void aPageOfThePendingGoesOnAfterATaskThatIsGone() {
		IntStream.range(0, 6).forEach((i) -> enqueue("key " + i, HOUR.plusSeconds(i)));
		StoredTask last = this.store.pending(NAME, 3).get(2);
		this.store.cancel(last.id());
		assertThat(this.other.pending(new PendingQuery(NAME, last.position(), 10))).extracting(StoredTask::key)
			.containsExactly("key 3", "key 4", "key 5");
	}

	@Test
	void aForecastCountsThePendingBySpans() {
		AtomicLong clock = new AtomicLong(this.store.now());
		this.store.setClock(clock::get);
		this.other.setClock(clock::get);
		this.store.enqueueAll(IntStream.range(0, 200).mapToObj((i) -> task("late " + i, HOUR.plusMillis(i))).toList());
		enqueue("first", SOON.plusMinutes(1));
		enqueue("later", HOUR.multipliedBy(3));
		enqueue("overdue", NOW);
		leased("leased");
		bury(this.store, begun("dead").ref());
		this.store.enqueue(task("other", "k", DueTime.after(HOUR), IfPending.KEEP, null));
		clock.incrementAndGet();
		Forecast forecast = this.other
			.forecast(new ForecastQuery(Map.of(NAME, 203L, "other", 1L, "unknown", 0L), Duration.ofMinutes(1), 62));
		assertThat(forecast.from()).isBetween(this.store.now() - 60_000, this.store.now());
		assertThat(forecast.names()).containsOnlyKeys(NAME, "other", "unknown");
		List<Long> counts = forecast.names().get(NAME).counts();
		assertThat(forecast.names().get(NAME).estimated()).isFalse();
		assertThat(counts).hasSize(62).startsWith(0L, 1L, 1L, 0L);
		assertThat(counts.subList(59, 61).stream().mapToLong(Long::longValue).sum()).isEqualTo(200);
		assertThat(counts.stream().mapToLong(Long::longValue).sum()).isEqualTo(202);
		assertThat(forecast.names().get("other").counts()).contains(1L);
		assertThat(forecast.names().get("unknown").counts()).hasSize(62).containsOnly(0L);
	}

	@Test
	void aForecastTakesManyNames() {
		String last = "name " + (ForecastQuery.MAX_NAMES - 1);
		this.store.enqueue(task(last, "k", DueTime.after(HOUR), IfPending.KEEP, null));
		Map<String, Long> names = IntStream.range(0, ForecastQuery.MAX_NAMES)
			.boxed()
			.collect(Collectors.toMap((i) -> "name " + i, (i) -> 100L));
		Forecast forecast = this.other.forecast(new ForecastQuery(names, Duration.ofMinutes(2), 60));
		assertThat(forecast.names()).containsOnlyKeys(names.keySet());
		names.put("one more", 0L);
		assertThatIllegalArgumentException().isThrownBy(() -> new ForecastQuery(names, Duration.ofMinutes(2), 60))
			.withMessageContaining("at most " + ForecastQuery.MAX_NAMES);
	}

	@Test
	void theDeadAreListedWithTheLatestFirst() {
		List<LeasedTask> tasks = List.of(begun("a"), begun("b"), begun("c"), begun("d"));
		for (int i : List.of(2, 0, 3, 1)) {
			bury(this.store, tasks.get(i).ref());
			clockAhead(SOON.multipliedBy(this.store.dead(NAME, 10).size()));
		}
		assertThat(this.other.dead(NAME, 3)).extracting(StoredTask::key).containsExactly("b", "d", "a");
		assertThat(this.other.dead(NAME, 3)).allMatch((task) -> task.state() == State.DEAD);
		assertThat(this.other.dead(NAME, 3)).extracting(StoredTask::diedAt)
			.isEqualTo(this.other.dead(new DeadQuery(NAME, true, null, 3))
				.tasks()
				.stream()
				.map(DeadTask::diedAt)
				.toList());
		assertThat(this.store.find(tasks.get(0).id()).orElseThrow().diedAt()).isPositive();
		assertThat(this.other.dead("unknown", 3)).isEmpty();
	}

	@Test
	void nodesAreListedByTheirLatestReports() {
		this.store.report(new NodeState("a", true, 7));
		this.store.report(new NodeState("gone", true, 1));
		clockAhead(SOON);
		this.store.report(new NodeState("b", false, 0));
		clockAhead(SOON.multipliedBy(2));
		this.store.report(new NodeState("a", true, 9));
		this.other.forget("gone");
		this.other.forget("unknown");
		clockAhead(SOON.multipliedBy(3));
		List<ReportedNode> nodes = this.other.nodes();
		assertThat(nodes).extracting(ReportedNode::state)
			.containsExactly(new NodeState("a", true, 9), new NodeState("b", false, 0));
		assertThat(nodes.get(0).age()).isBetween(SOON, SOON.plusMinutes(1));
	}

	@Test
	void aNodeThatReportsNoMoreIsForgotten() {
		this.store.report(new NodeState("a", true, 7));
		clockAhead(DelayedTaskStore.NODE_RETENTION.plusMinutes(1));
		assertThat(this.other.nodes()).isEmpty();
		this.store.report(new NodeState("b", true, 1));
		// The first report of a node deletes the old ones.
		clockAhead(Duration.ZERO);
		assertThat(this.other.nodes()).extracting((node) -> node.state().nodeId()).containsExactly("b");
	}

	@Test
	void theClockIsThatOfTheStoreAndCanBeMoved() {
		long before = this.store.now();
		this.store.setClockOffset(HOUR);
		assertThat(this.store.now()).isBetween(before + HOUR.toMillis(), before + HOUR.toMillis() + 60_000);
		assertThat(this.other.now()).isBetween(before, before + 60_000);
		Enqueued enqueued = enqueue("k", NOW);
		assertThat(enqueued.now()).isGreaterThanOrEqualTo(before + HOUR.toMillis());
		assertThat(claimByOther()).isEmpty();
		assertThat(claim()).hasSize(1);
		this.store.setClockOffset(NOW);
		assertThat(this.store.now()).isLessThan(before + 60_000);
	}

}
