package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the scripts find, read, write and leave behind, on a server of their own.
 */
class RedisScriptTests extends StoreTestSupport {

	private static final int PARTITIONS = RedisStores.OPTIONS.partitions();

	@RegisterExtension
	static final RedisProcess server = RedisProcess.with();

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(server);

	@Override
	protected void clear() {
		stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return stores.node();
	}

	@Test
	void aClaimWithManyNamesLooksUpOnlyThoseThatAreThere() {
		Set<String> names = new HashSet<>();
		for (int i = 0; i < 100; i++) {
			names.add("name" + i);
		}
		names.add("\u00e4\u00f6\u00fc");
		ClaimRequest request = new ClaimRequest("a", names, 100, LOOK_AHEAD, LEASE, ANY_SIZE);
		assertThat(this.store.claim(request).tasks()).isEmpty();
		assertThat(lookUps(request)).isEqualTo(2L * PARTITIONS);

		for (int i = 0; i < 20 * PARTITIONS; i++) {
			store("name7", HOUR);
			store("name50", HOUR);
			store("before", HOUR);
			store("nobody", HOUR);
		}
		assertThat(this.store.claim(request).tasks()).isEmpty();
		// Each of the two scripts looks up two names, and three gaps beside them.
		assertThat(lookUps(request)).isBetween(2L * 2 * PARTITIONS, 2L * 5 * PARTITIONS);
	}

	@Test
	void aClaimFindsTheTasksOfEachOfItsNames() {
		Set<String> names = new HashSet<>();
		Set<String> ids = new HashSet<>();
		for (int i = 0; i < 300; i++) {
			String name = ((i % 2 == 0) ? "n" : "\u00e9") + "x".repeat(i % 7) + i % 11;
			names.add(name);
			ids.add(store(name, Duration.ofSeconds(i % 3)));
			store(name + "y", Duration.ZERO);
		}
		List<LeasedTask> claimed = this.store.claim(new ClaimRequest("a", names, 1000, LOOK_AHEAD, LEASE, ANY_SIZE))
			.tasks();
		assertThat(claimed).extracting(LeasedTask::id).containsExactlyInAnyOrderElementsOf(ids);
	}

	@Test
	void theNextTimeOfAClaimIsNotWithinTheLookAheadThoughThePartitionsAreReadOneAfterAnother() {
		Duration lookAhead = Duration.ofSeconds(1);
		List<NewTask> tasks = IntStream.range(0, 1500)
			.mapToObj((i) -> task(null, Duration.ofMillis(i + 1000), IfPending.KEEP))
			.toList();
		this.store.enqueueAll(tasks);
		int claimed = 0;
		while (claimed < tasks.size()) {
			Claimed claim = this.other.claim(new ClaimRequest("a", NAMES, 10_000, lookAhead, HOUR, ANY_SIZE));
			claimed += claim.tasks().size();
			assertThat(claim.nextAt() - claim.now()).isGreaterThan(lookAhead.toMillis());
		}
	}

	@Test
	void aChangeDoesNotWriteThePayloadAgain() {
		int tasks = 50;
		String payload = "x".repeat(40_000);
		for (int i = 0; i < tasks; i++) {
			this.store.enqueue(new NewTask(UUID.randomUUID().toString(), NAME, null, payload, DueTime.after(SOON),
					IfPending.REPLACE, null));
		}
		long stored = appendedBytes();
		List<TaskRef> refs = claim().stream().map(LeasedTask::ref).toList();
		assertThat(refs).hasSize(tasks);
		assertThat(this.store.begin(refs, LEASE)).containsOnly(Reply.DONE);
		assertThat(this.store.renew(refs, LEASE)).containsOnly(Reply.DONE);
		refs.forEach((task) -> retry(this.store, task, 2, Duration.ZERO));
		List<LeasedTask> again = claim();
		assertThat(again).hasSize(tasks).allMatch((task) -> payload.equals(task.payload()));
		assertThat(this.store.release(again.stream().map(LeasedTask::ref).toList())).containsOnly(Reply.DONE);
		assertThat(appendedBytes() - stored).isPositive().isLessThan(tasks * 5_000L);
	}

	@Test
	void tasksOfAnOlderFormatAreReadAsTheyAre() {
		LeasedTask running = begun("running");
		LeasedTask leased = leased("leased");
		LeasedTask dead = begun("dead");
		bury(this.store, dead.ref());
		for (int partition = 0; partition < PARTITIONS; partition++) {
			writeAsFormatOne(partition);
		}
		assertThat(stored(dead.id()).error()).isEqualTo("hopeless");
		assertThat(this.store.renew(List.of(running.ref()), LEASE)).containsOnly(Reply.DONE);
		assertThat(acknowledge(this.store, running.ref())).isEqualTo(Reply.DONE);
		assertThat(begin(this.store, leased.ref())).isEqualTo(Reply.DONE);
		assertThat(acknowledge(this.store, leased.ref())).isEqualTo(Reply.DONE);
		assertThat(this.store.requeue(dead.id())).isEqualTo(Requeue.REQUEUED);
		LeasedTask again = claim().get(0);
		assertThat(again.payload()).isEqualTo(dead.payload());
		assertThat(acknowledge(this.store, again.ref())).isEqualTo(Reply.DONE);
		assertThat(keys()).isZero();
	}

	/**
	 * Writes each task of a partition into one field, as format 1 has it.
	 */
	private static void writeAsFormatOne(int partition) {
		String script = """
				local fields = redis.call('HGETALL', KEYS[1])
				for i = 1, #fields, 2 do
				  if string.sub(fields[i], 1, 1) == '+' then
				    local id = string.sub(fields[i], 2)
				    local whole = redis.call('HGET', KEYS[1], id)
				    local old = { struct.unpack('>c1BI8I8I8I4I4I4Bc0Hc0Hc0', whole) }
				    local new = { struct.unpack('>c1BI8I8I8I4I4I4Hc0', fields[i + 1]) }
				    redis.call('HDEL', KEYS[1], fields[i])
				    redis.call('HSET', KEYS[1], id, struct.pack('>c1BI8I8I8I4I4I4Bc0Hc0Hc0', new[1], new[2], new[3],
				        new[4], new[5], new[6], new[7], new[8], #old[9], old[9], #old[10], old[10], #new[9], new[9])
				        .. string.sub(whole, old[12]))
				  end
				end
				return 1
				""";
		byte[] key = new Partitions(RedisStores.OPTIONS.namespace(), PARTITIONS).keys(partition)[0];
		try (RedisConnection connection = stores.connection()) {
			Long done = connection.scriptingCommands()
				.eval(Partitions.bytes(script), ReturnType.INTEGER, 1, new byte[][] { key });
			assertThat(done).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "k")
	void anInsertThatIsRepeatedIsTheSameInsert(@Nullable String key) {
		NewTask task = task(NAME, key, DueTime.after(SOON), IfPending.REJECT, OFFER);
		Enqueued first = this.store.enqueue(task);
		Enqueued again = this.store.enqueue(task);
		assertThat(again.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(again.id()).isEqualTo(first.id());
		assertThat(again.fence()).isEqualTo(first.fence());
		assertThat(again.dueAt()).isEqualTo(first.dueAt());
		assertThat(again.leased()).isTrue();
		clockAhead(SOON.plus(LEASE).plusSeconds(1));
		assertThat(claimByOther()).hasSize(1);
		assertThat(this.store.enqueue(task).leased()).isFalse();
	}

	@Test
	void nothingIsLeftBehind() {
		for (int i = 0; i < 30; i++) {
			bury(this.store, begun("dead" + i).ref());
			assertThat(acknowledge(this.store, begun("run" + i).ref())).isEqualTo(Reply.DONE);
			enqueue("k", HOUR);
			enqueue("cancelled" + i, HOUR);
			leased("leased" + i);
			assertThat(this.store.cancel(key("cancelled" + i))).isTrue();
			assertThat(this.store.cancel(key("leased" + i))).isTrue();
			retry(this.store, begun("retried" + i).ref(), 2, HOUR);
			assertThat(this.store.cancel(key("retried" + i))).isTrue();
		}
		this.store.cancel(key("k"));
		assertThat(this.store.discardOlder(Duration.ZERO, 500)).isEqualTo(30);
		assertThat(this.store.counts()).isEmpty();
		assertThat(keys()).isZero();
	}

	@Test
	void tasksWithNamesThatNoNodeKnowsDelayNoOtherTask() {
		this.store.enqueueAll(IntStream.range(0, 3000)
			.mapToObj((i) -> task("unknown" + i % 3, null, DueTime.after(Duration.ZERO), IfPending.KEEP, null))
			.toList());
		Enqueued known = enqueue("k", Duration.ZERO);
		Claimed claim = claim(this.store, "a", 1);
		assertThat(claim.tasks()).singleElement().extracting(LeasedTask::id).isEqualTo(known.id());
		assertThat(this.store.counts()).hasSize(4);
	}

	@Test
	void allPartitionsGetTheirTurnHoweverManyTasksOneHas() {
		for (int i = 0; i < 640; i++) {
			enqueue("k" + i, Duration.ZERO);
		}
		Set<String> partitions = new HashSet<>();
		claim(this.store, "a", 64).tasks().forEach((task) -> partitions.add(task.id().substring(36)));
		assertThat(partitions).hasSize(RedisStores.OPTIONS.partitions());
		ClaimRequest rest = new ClaimRequest("a", NAMES, 1000, LOOK_AHEAD, LEASE, ANY_SIZE);
		assertThat(this.store.claim(rest).tasks()).hasSize(576);
	}

	private String store(String name, Duration delay) {
		return this.store.enqueue(task(name, null, DueTime.after(delay), IfPending.KEEP, null)).id();
	}

	/**
	 * How many look-ups in the index a claim makes.
	 */
	private long lookUps(ClaimRequest request) {
		long before = calls();
		this.store.claim(request);
		return calls() - before;
	}

	private static long calls() {
		String stats = info("commandstats", "cmdstat_zrangebylex");
		Matcher calls = Pattern.compile("calls=(\\d+)").matcher(stats);
		return calls.find() ? Long.parseLong(calls.group(1)) : 0;
	}

	private static long keys() {
		try (RedisConnection connection = stores.connection()) {
			Long keys = connection.serverCommands().dbSize();
			return (keys != null) ? keys : -1;
		}
	}

	private static long appendedBytes() {
		return Long.parseLong(info("persistence", "aof_current_size"));
	}

	private static String info(String section, String field) {
		try (RedisConnection connection = stores.connection()) {
			return connection.serverCommands().info(section).getProperty(field, "");
		}
	}

}
