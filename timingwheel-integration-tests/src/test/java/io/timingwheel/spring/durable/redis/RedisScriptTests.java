package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.TestLog;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;

import static org.assertj.core.api.Assertions.assertThat;

/** What the scripts find, read, write and leave behind, on a server of their own. */
class RedisScriptTests extends RedisTestSupport {

	@RegisterExtension
	static final RedisProcess server = RedisProcess.with();

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(server);

	private static final Partitions PARTITIONS = new Partitions(RedisStores.OPTIONS.namespace(),
			RedisStores.OPTIONS.partitions());

	private RedisDelayedTaskStore store;

	private RedisDelayedTaskStore other;

	@BeforeEach
	void open() {
		stores.clear();
		this.store = stores.node();
		this.other = stores.node();
	}

	@Test
	void aClaimLooksUpEachNameOnceHoweverManyTasksThereAre() {
		List<String> names = new ArrayList<>(List.of("\u00e4\u00f6\u00fc"));
		IntStream.range(0, 100).forEach((i) -> names.add("name" + i));
		ClaimRequest request = request(100, names.toArray(String[]::new));
		assertThat(this.store.claim(request).tasks()).isEmpty();
		assertThat(lookUps(request)).isEqualTo(names.size());

		for (int i = 0; i < 20; i++) {
			for (String name : List.of("name7", "name50", "before", "nobody")) {
				this.store.enqueue(List.of(task(name, null, HOUR)));
			}
		}
		assertThat(this.store.claim(request).tasks()).isEmpty();
		assertThat(lookUps(request)).as("one more for a name with tasks").isEqualTo(names.size() + 2);
	}

	@Test
	void theNextTimeOfAClaimIsNotWithinTheLookAheadThoughThePartitionsAreReadOneAfterAnother() {
		Duration lookAhead = Duration.ofSeconds(1);
		this.store.enqueue(IntStream.range(0, 1500).mapToObj((i) -> task(null, Duration.ofMillis(i + 1000))).toList());
		ClaimRequest request = new ClaimRequest("a", Map.of(NAME, new Share(10_000, 10_000)), 10_000, false, lookAhead,
				HOUR, Long.MAX_VALUE);
		int claimed = 0;
		while (claimed < 1500) {
			Claimed claim = this.other.claim(request);
			claimed += claim.tasks().size();
			assertThat(claim.nextAt() - claim.now()).isGreaterThan(lookAhead.toMillis());
		}
	}

	@Test
	void aChangeDoesNotWriteThePayloadAgain() {
		int tasks = 50;
		String payload = "x".repeat(40_000);
		DueTime due = DueTime.after(Duration.ofSeconds(90));
		this.store.enqueue(IntStream.range(0, tasks).mapToObj((i) -> task(null, payload, due)).toList());
		long stored = appendedBytes();
		List<TaskRef> refs = claim(this.store, 100).tasks().stream().map(LeasedTask::ref).toList();
		assertThat(refs).hasSize(tasks);
		assertThat(this.store.begin(refs, LEASE)).containsOnly(Reply.DONE);
		assertThat(this.store.renew(refs, LEASE)).containsOnly(Reply.DONE);
		refs.forEach((task) -> settle(this.store, new Settlement.Retry(task, 2, Duration.ZERO, "it failed")));
		List<LeasedTask> again = claim(this.store, 100).tasks();
		assertThat(again).hasSize(tasks).allMatch((task) -> payload.equals(task.payload()));
		again.forEach((task) -> assertThat(settle(this.store, new Settlement.Release(task.ref(), true)))
			.isEqualTo(Reply.DONE));
		assertThat(appendedBytes() - stored).isPositive().isLessThan(tasks * 5_000L);
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "k")
	void anInsertThatIsRepeatedIsTheSameInsert(@Nullable String key) {
		NewTask task = task(key, Duration.ofSeconds(90));
		Enqueued first = this.store.enqueue(List.of(task)).get(0);
		Enqueued again = this.store.enqueue(List.of(task)).get(0);
		assertThat(again.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(again.id()).isEqualTo(first.id());
		assertThat(again.dueAt()).isEqualTo(first.dueAt());
		assertThat(claim(this.other, 10).tasks()).hasSize(1);
	}

	@Test
	void nothingIsLeftBehind() {
		StartLimits limits = new StartLimits(100, 0, 10_000, 100);
		for (int i = 0; i < 5; i++) {
			bury(this.store, running(this.store, "dead" + i));
			assertThat(acknowledge(this.store, running(this.store, "run" + i))).isEqualTo(Reply.DONE);
			enqueue(this.store, "k", HOUR);
			enqueue(this.store, "cancelled" + i, HOUR);
			assertThat(this.store.cancel(key("cancelled" + i))).isTrue();
			LeasedTask retried = running(this.store, "retried" + i);
			settle(this.store, new Settlement.Retry(retried.ref(), 2, HOUR, "it failed"));
			assertThat(this.store.cancel(key("retried" + i))).isTrue();
			enqueue(this.store, null, NOW);
			acknowledge(this.store,
					this.store.claim(request(10, Map.of(NAME, new Share(10, 0, limits, null)))).tasks());
		}
		this.store.cancel(key("k"));
		assertThat(this.store.discardOlder(Duration.ofMillis(-1000), 500)).isEqualTo(5);
		assertThat(this.store.counts(List.of())).isEmpty();
		assertThat(info("keyspace", "db0")).as("the rate of the name").startsWith("keys=1,");
	}

	@ParameterizedTest
	@ValueSource(ints = { 40, 400 })
	void allPartitionsGetTheirTurnHoweverManyTasksOneHas(int limit) {
		List<String> names = namesOfOtherPartitions();
		this.store.enqueue(IntStream.range(0, 2000).mapToObj((i) -> task(null, NOW)).toList());
		Map<String, Share> shares = new HashMap<>();
		names.forEach((name) -> shares.put(name, new Share(limit, limit)));
		shares.put(NAME, new Share(limit, limit));
		ClaimRequest request = request(limit, shares);
		for (int round = 0; round < 2; round++) {
			claimed(request, 1);
			this.store.enqueue(names.stream().map((name) -> task(name, null, NOW)).toList());
			assertThat(claimed(request, 2000 / limit / 2)).as("round %d", round).containsAll(names);
		}
	}

	static List<String> namesOfOtherPartitions() {
		return IntStream.range(0, 30)
			.mapToObj((i) -> "name" + i)
			.filter((name) -> PARTITIONS.of(name) != PARTITIONS.of(NAME))
			.toList();
	}

	private Set<String> claimed(ClaimRequest request, int claims) {
		Set<String> names = new HashSet<>();
		for (int i = 0; i < claims; i++) {
			this.other.claim(request).tasks().forEach((task) -> names.add(task.name()));
		}
		return names;
	}

	/** It counts the running tasks of each key, whose payloads may be large. */
	@Test
	void aClaimOfANameWithALimitForEachKeyReadsNoPayloadsOfRunningTasksAndFewOfThoseThatWait() {
		List<String> keys = IntStream.range(0, 8100).mapToObj((i) -> "k" + i).toList();
		ClaimRequest few = request(10, Map.of(NAME, new Share(10, 0, new StartLimits(0, 1, 0, 1), null)));
		String payload = "x".repeat(10_000);
		this.store.enqueue(keys.stream().map((key) -> task(key, payload, DueTime.after(NOW))).toList());
		for (int running = 0; running < keys.size();) {
			running += claim(this.store, 500).tasks().size();
		}
		long before = peakOfScripts();
		this.store.enqueue(List.of(task("k0", "", DueTime.at(Instant.EPOCH))));
		this.store.enqueue(
				IntStream.range(0, 200).mapToObj((i) -> task(null, "", DueTime.at(Instant.ofEpochMilli(1)))).toList());
		long calls = calls("hmget");
		for (int claims = 0; claims < 20; claims++) {
			assertThat(this.store.claim(few).tasks()).hasSize(10);
		}
		assertThat(calls("hmget") - calls).as("five for the running tasks").isEqualTo(20 * (5 + 2 + 2));
		assertThat(peakOfScripts() - before).isLessThan(45_000_000);
		this.store.enqueue(keys.stream().map((key) -> task(key, NOW)).toList());
		enqueue(this.store, "later", HOUR);
		assertThat(this.store.claim(few).tasks()).isEmpty();
	}

	/** No other sign tells that the tasks of the partition do not run. */
	@Test
	void aPartitionThatCannotBeReadIsLoggedAndHoldsUpNoOther() throws Exception {
		enqueue(this.store, null, NOW);
		try (RedisConnection connection = stores.connection()) {
			connection.keyCommands().del(PARTITIONS.keys(PARTITIONS.of(NAME))[0]);
		}
		String free = namesOfOtherPartitions().get(0);
		TestLog log = new TestLog();
		for (int limit : List.of(10, 100)) {
			this.store.enqueue(List.of(task(free, null, NOW)));
			assertThat(log.of(() -> this.store.claim(request(limit, NAME, free))).tasks()).hasSize(1);
		}
		assertThat(log).containsOnlyOnce(NAME).contains("has lost its head");
	}

	/** Otherwise they would fill the memory of Redis. */
	@Test
	void theOldestDeadTasksOfANameAreDropped() throws Exception {
		AtomicLong clock = new AtomicLong(System.currentTimeMillis());
		RedisDelayedTaskStore limited = stores
			.node(new RedisStoreOptions("test", 1, 0, RedisStores.OPTIONS.waitTimeout(), 7));
		limited.testing().setClock(clock::get);
		limited.enqueue(IntStream.range(0, 50).mapToObj((i) -> task("k" + i, HOUR)).toList());
		bury(limited, "few", 3, "few");
		TestLog log = new TestLog();
		for (String reason : List.of("death 0", "death 1", "death 2", "death 3")) {
			clock.addAndGet(1000);
			log.of(() -> {
				bury(limited, NAME, 4, reason);
				return null;
			});
			assertThat(dead(limited, NAME)).hasSizeLessThanOrEqualTo(7);
		}
		assertThat(limited.droppedDead()).isEqualTo(4 * 4 - 7);
		assertThat(log).containsOnlyOnce("There are too many dead tasks in Redis");
		assertThat(dead(limited, NAME)).extracting(StoredTask::error).containsOnly("death 3", "death 2");
		bury(limited, NAME, 500, "all at once");
		assertThat(limited.counts(List.of())).containsEntry(NAME, new StoredCounts(50, 0, 0, 7))
			.containsEntry("few", new StoredCounts(0, 0, 0, 3));
		assertThat(limited.requeue(dead(limited, NAME).stream().map(StoredTask::id).toList())).hasSize(7)
			.containsOnly(Requeue.REQUEUED);
	}

	private static void bury(DelayedTaskStore store, String name, int tasks, String reason) {
		store.enqueue(IntStream.range(0, tasks).mapToObj((i) -> task(name, null, NOW)).toList());
		List<LeasedTask> claimed = store.claim(request(tasks, name)).tasks();
		assertThat(claimed).hasSize(tasks);
		store.settle(claimed.stream().<Settlement>map((task) -> new Settlement.Bury(task.ref(), reason)).toList());
	}

	private static List<StoredTask> dead(DelayedTaskStore store, String name) {
		return store.list(new ListQuery(name, ListQuery.Order.DEAD_LATEST_FIRST, null, 100)).tasks();
	}

	private static NewTask task(@Nullable String key, String payload, DueTime due) {
		return new NewTask(UUID.randomUUID().toString(), NAME, key, payload, null, due, IfPending.REPLACE, null);
	}

	private long lookUps(ClaimRequest request) {
		long before = calls("zrangebylex");
		this.store.claim(request);
		return calls("zrangebylex") - before;
	}

	private static long calls(String command) {
		String stats = info("commandstats", "cmdstat_" + command);
		Matcher calls = Pattern.compile("calls=(\\d+)").matcher(stats);
		return calls.find() ? Long.parseLong(calls.group(1)) : 0;
	}

	private static long appendedBytes() {
		return Long.parseLong(info("persistence", "aof_current_size"));
	}

	/** The memory of Lua, which grows with what the scripts read. */
	private static long peakOfScripts() {
		return Long.parseLong(info("memory", "used_memory_lua"));
	}

	private static String info(String section, String field) {
		try (RedisConnection connection = stores.connection()) {
			return connection.serverCommands().info(section).getProperty(field, "");
		}
	}

}
