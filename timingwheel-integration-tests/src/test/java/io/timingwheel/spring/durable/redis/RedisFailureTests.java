package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Redis loses its scripts, is full, busy or a replica, or loses connections. */
class RedisFailureTests extends RedisTestSupport {

	@RegisterExtension
	static final RedisProcess server = RedisProcess.with();

	@RegisterExtension
	static final RedisStores stores = RedisStores.on(server);

	private static RedisClient client;

	private static StatefulRedisConnection<String, String> admin;

	@BeforeAll
	static void start() {
		client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
		admin = client.connect();
	}

	@AfterAll
	static void stop() {
		client.shutdown();
	}

	private DelayedTaskStore store;

	private DelayedTaskStore other;

	@BeforeEach
	void open() {
		stores.clear();
		this.store = stores.node();
		this.other = stores.node();
	}

	@Test
	void goesOnWhenTheScriptsAreForgotten() {
		for (int i = 0; i < 5; i++) {
			LeasedTask task = running(this.store, "k");
			admin.sync().scriptFlush();
			assertThat(acknowledge(this.other, task)).isEqualTo(Reply.DONE);
			admin.sync().scriptFlush();
		}
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void callsFailWhileRedisIsAReplicaAndGoOnAfterwards() {
		LeasedTask task = running(this.store, "k");
		String free = RedisScriptTests.namesOfOtherPartitions().get(0);
		this.store.enqueue(List.of(task(free, null, NOW)));
		admin.sync().replicaof("127.0.0.1", 1);
		try {
			assertCallsFail(task, "READONLY");
			assertThatExceptionOfType(DataAccessException.class).as("although the partition of the other name answers")
				.isThrownBy(() -> this.store.claim(request(10, NAME, free)));
		}
		finally {
			admin.sync().replicaofNoOne();
		}
		assertCallsGoOn(task);
	}

	@Test
	void callsFailWhileAScriptOfSomebodyElseKeepsRedisBusyAndGoOnAfterwards() {
		LeasedTask task = running(this.store, "k");
		admin.sync().configSet("lua-time-limit", "100");
		try (StatefulRedisConnection<String, String> busy = client.connect()) {
			busy.async().eval("while true do end", ScriptOutputType.STATUS);
			assertCallsFail(task, "BUSY");
		}
		finally {
			await().ignoreExceptionsInstanceOf(RedisBusyException.class).until(admin.sync()::scriptKill, "OK"::equals);
			// Redis answers SCRIPT KILL before the script has ended.
			await().ignoreExceptionsInstanceOf(RedisBusyException.class)
				.until(() -> admin.sync().configSet("lua-time-limit", "5000"), "OK"::equals);
		}
		assertCallsGoOn(task);
	}

	private void assertCallsFail(LeasedTask task, String reason) {
		await().untilAsserted(() -> assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> enqueue(this.store, "other", NOW))
			.withMessageContaining(reason)
			.matches((failure) -> !this.store.isRefusal(failure)));
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> acknowledge(this.store, task));
	}

	private void assertCallsGoOn(LeasedTask task) {
		awaitUp(this.store);
		assertThat(acknowledge(this.store, task)).isEqualTo(Reply.DONE);
		enqueue(this.store, "other", NOW);
		assertThat(claim(this.store, 10).tasks()).extracting(LeasedTask::key).containsExactly("other");
	}

	@ParameterizedTest
	@CsvSource({ "LOADING Redis is loading the dataset in memory, false", "CLUSTERDOWN The cluster is down, false",
			"MASTERDOWN Link with MASTER is down, false", "TRYAGAIN Multiple keys request during rehashing, false",
			"MOVED 1 127.0.0.1:1, false", "-READONLY You can't write against a read only replica, false",
			"ERR Error running script: READONLY You can't write against a read only replica, false",
			"ERR Error running script: -MISCONF Redis is configured to save RDB snapshots, false",
			"NOREPLICAS Not enough good replicas to write., false", "NOPERM this user has no permissions, true",
			"OOM command not allowed, true", "WRONGTYPE Operation, true" })
	void onlyAnErrorThatDoesNotPassIsARefusal(String message, boolean refusal) {
		assertThat(this.store.isRefusal(RedisErrors.translated(new RedisCommandExecutionException(message))))
			.isEqualTo(refusal);
	}

	@Test
	void aCallOnAConnectionThatBreaksIsNotSentAgain() throws Exception {
		FutureTask<List<Enqueued>> stored = new FutureTask<>(() -> this.store.enqueue(List.of(task("k", HOUR))));
		whileWritesArePaused(stored, (sender) -> {
			admin.sync().clientKill(KillArgs.Builder.typeNormal().skipme());
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> stored.get(1, TimeUnit.MINUTES))
				.withCauseInstanceOf(DataAccessException.class);
		});
		awaitUp(this.store);
		assertThat(this.store.find(key("k"))).isEmpty();
	}

	@Test
	void anInterruptDoesNotEndACallWhoseReplyIsUnderWay() throws Exception {
		List<NewTask> tasks = List.of(task(null, HOUR), task(null, HOUR));
		AtomicBoolean flag = new AtomicBoolean();
		FutureTask<List<Enqueued>> stored = new FutureTask<>(() -> {
			try {
				return this.store.enqueue(tasks);
			}
			finally {
				flag.set(Thread.currentThread().isInterrupted());
			}
		});
		whileWritesArePaused(stored, (sender) -> {
			sender.interrupt();
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> stored.get(100, TimeUnit.MILLISECONDS));
		});
		assertThat(stored.get(1, TimeUnit.MINUTES)).hasSize(2);
		assertThat(flag).isTrue();
		assertThat(this.store.counts(List.of()).get(NAME).pending()).isEqualTo(2);
	}

	/** The caller would otherwise hold up the claims of its node. */
	@Test
	void ofManyTasksNoneIsSentAfterSomeHaveFailed() throws Exception {
		int most = ReplicatedWrites.MAX_AT_ONCE * TaskBatch.MAX_TASKS;
		enqueue(this.store, null, HOUR);
		try (RedisStores impatient = new RedisStores(RedisStores.configuration(server), Duration.ofSeconds(1),
				RedisStores.OPTIONS)) {
			DelayedTaskStore caller = impatient.node();
			FutureTask<List<Enqueued>> stored = new FutureTask<>(
					() -> caller.enqueue(Stream.generate(() -> task(null, HOUR)).limit(2L * most).toList()));
			whileWritesArePaused(stored,
					(sender) -> assertThatExceptionOfType(ExecutionException.class).isThrownBy(stored::get)
						.withCauseInstanceOf(DataAccessException.class));
			awaitUp(caller);
			assertThat(caller.counts(List.of()).get(NAME).pending()).isBetween(2L, 1L + most);
		}
	}

	/** Sends a write that Redis does not answer before the test has done something. */
	private void whileWritesArePaused(Runnable write, Consumer<Thread> test) {
		assertThat(this.store.now()).isPositive();
		client("PAUSE", "60000", "WRITE");
		try {
			Thread sender = new Thread(write);
			sender.start();
			await().until(() -> admin.sync().clientList().contains("cmd=evalsha"));
			test.accept(sender);
		}
		finally {
			client("UNPAUSE");
		}
	}

	/** Otherwise a command that is under way could block all later ones. */
	@Test
	void aConnectionThatHasWaitedForReplicasInVainIsClosed() {
		DelayedTaskStore waiting = stores.node(RedisStores.waiting(Duration.ofSeconds(2)));
		CompletableFuture<Void> write = CompletableFuture.runAsync(() -> enqueueUncertain(waiting));
		await().until(() -> admin.sync().clientList().contains(" cmd=wait "));
		write.join();
		await().until(() -> !admin.sync().clientList().contains(" cmd=wait "));
		enqueueUncertain(waiting);
	}

	@Test
	void aConnectionWhoseServerHasBecomeAReplicaIsClosed() {
		DelayedTaskStore waiting = stores.node(RedisStores.waiting(Duration.ofSeconds(2)));
		Set<String> before = connections("cmd=eval");
		assertThat(waiting.cancel(key("absent"))).as("a write that changes nothing waits for no replica").isFalse();
		Set<String> own = connections("cmd=eval");
		own.removeAll(before);
		assertThat(own).hasSize(1);
		admin.sync().replicaof("127.0.0.1", 1);
		try {
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> enqueue(waiting, "k", HOUR))
				.withStackTraceContaining("READONLY");
			await().until(() -> !connections("id=").containsAll(own));
		}
		finally {
			admin.sync().replicaofNoOne();
		}
	}

	/** The ids of the connections with this in their lines. */
	private static Set<String> connections(String text) {
		return admin.sync()
			.clientList()
			.lines()
			.filter((line) -> line.contains(text))
			.map((line) -> line.split(" ")[0])
			.collect(Collectors.toSet());
	}

	@Test
	void aFullRedisRefusesNewTasksAndWorksOffTheOldOnes() {
		for (int i = 0; i < 200; i++) {
			enqueue(this.store, "k" + i, NOW);
		}
		admin.sync().configSet("maxmemory", "1");
		try {
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> enqueue(this.store, "k1", HOUR))
				.withStackTraceContaining("OOM");
			assertThat(this.store.find(key("k1"))).isPresent();
			List<LeasedTask> tasks = claim(this.store, 300).tasks();
			assertThat(tasks).hasSize(200);
			assertThat(this.store.renew(List.of(tasks.get(0).ref()), LEASE)).containsOnly(Reply.DONE);
			assertThat(settle(this.store, new Settlement.Retry(tasks.get(1).ref(), 2, HOUR, "it failed")))
				.isEqualTo(Reply.DONE);
			assertThat(bury(this.store, tasks.get(2))).isEqualTo(Reply.DONE);
			assertThat(acknowledge(this.store, tasks.subList(3, 200))).containsOnly(Reply.DONE);
		}
		finally {
			admin.sync().configSet("maxmemory", "0");
		}
		assertThat(this.store.counts(List.of()).get(NAME).pending()).isEqualTo(1);
	}

	/** Stores a task. The call fails, because this server has no replica. */
	private static void enqueueUncertain(DelayedTaskStore waiting) {
		assertThatExceptionOfType(UncertainWriteException.class).isThrownBy(() -> enqueue(waiting, null, HOUR));
	}

	private static void awaitUp(DelayedTaskStore store) {
		await().ignoreExceptions().until(() -> store.now() > 0);
	}

	private static void client(String... arguments) {
		CommandArgs<String, String> words = new CommandArgs<>(StringCodec.UTF8);
		List.of(arguments).forEach(words::add);
		admin.sync().dispatch(CommandType.CLIENT, new StatusOutput<>(StringCodec.UTF8), words);
	}

}
