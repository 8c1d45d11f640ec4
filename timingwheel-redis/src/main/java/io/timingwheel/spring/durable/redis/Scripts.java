package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Runs scripts. Sends all given calls before it waits for the first reply. An interrupt
 * does not end the wait, since the caller may wait for the calls of other threads too.
 * Thread-safe.
 */
final class Scripts {

	/** How long a call is repeated while a Cluster moves the partition. */
	static final Duration MAX_MOVE = Duration.ofSeconds(2);

	private static final Duration PAUSE = Duration.ofMillis(20);

	private final StoreConnection connection;

	private final Partitions partitions;

	private volatile @Nullable LongSupplier clock;

	Scripts(StoreConnection connection, Partitions partitions) {
		this.connection = connection;
		this.partitions = partitions;
	}

	/**
	 * Sets a clock that scripts use in place of the one of Redis.
	 */
	void setClock(@Nullable LongSupplier millis) {
		this.clock = millis;
	}

	/**
	 * Runs a script on the shared connection.
	 */
	ScriptReply run(Call call) {
		return run(List.of(call)).get(0);
	}

	/**
	 * Runs scripts on the shared connection.
	 * @return a reply for each call, in the same order
	 */
	List<ScriptReply> run(List<Call> calls) {
		List<ScriptReply> replies = run(this.connection.commands(), calls);
		if (!this.connection.isCluster()
				&& replies.stream().anyMatch((reply) -> RedisErrors.isReadOnly(reply.failure()))) {
			this.connection.reset();
		}
		return replies;
	}

	/**
	 * Runs scripts on a connection.
	 * @return a reply for each call, in the same order
	 */
	List<ScriptReply> run(RedisScriptingAsyncCommands<byte[], byte[]> commands, List<Call> calls) {
		long start = System.nanoTime();
		List<Attempt> all = calls.stream().map(Attempt::new).toList();
		List<Attempt> open = new ArrayList<>(all);
		while (!open.isEmpty()) {
			open.forEach((attempt) -> attempt.send(commands));
			long deadline = System.nanoTime() + this.connection.timeout().toNanos();
			open.forEach((attempt) -> attempt.await(deadline));
			boolean mayMove = System.nanoTime() - start < MAX_MOVE.toNanos();
			open.removeIf((attempt) -> !attempt.isToBeRepeated(mayMove));
			if (open.stream().anyMatch((attempt) -> attempt.moving)) {
				Waiting.uninterruptibly(() -> {
					TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
					return true;
				});
			}
		}
		List<ScriptReply> replies = all.stream().map(Attempt::reply).toList();
		if (replies.stream().anyMatch((reply) -> reply.failure() != null)) {
			this.connection.refresh();
		}
		return replies;
	}

	/**
	 * A call that is sent again if Redis did not run it for a temporary reason.
	 */
	private final class Attempt {

		private final Call call;

		private final byte[][] keys;

		private final byte[][] arguments;

		/** Whether Redis does not know the script. */
		private boolean unknown;

		/** Whether a Cluster moves the partition. */
		private boolean moving;

		private @Nullable RedisFuture<List<Object>> future;

		private @Nullable ScriptReply reply;

		Attempt(Call call) {
			this.call = call;
			this.keys = Stream
				.concat(Arrays.stream(Scripts.this.partitions.keys(call.partition())), call.keys().stream())
				.toArray(byte[][]::new);
			LongSupplier clock = Scripts.this.clock;
			byte[] time = Partitions.bytes((clock != null) ? Long.toString(clock.getAsLong()) : "");
			this.arguments = Stream.concat(Stream.of(time), call.arguments().stream()).toArray(byte[][]::new);
		}

		void send(RedisScriptingAsyncCommands<byte[], byte[]> commands) {
			Script script = this.call.script();
			try {
				this.future = this.unknown
						? commands.eval(script.source(), ScriptOutputType.MULTI, this.keys, this.arguments)
						: commands.evalsha(script.digest(), ScriptOutputType.MULTI, this.keys, this.arguments);
			}
			catch (RuntimeException ex) {
				this.future = null;
				this.reply = ScriptReply.notSent(this.call.partition(), RedisErrors.translated(ex));
			}
		}

		void await(long deadline) {
			RedisFuture<List<Object>> future = this.future;
			if (future == null) {
				return;
			}
			try {
				this.reply = ScriptReply.of(this.call.partition(), Waiting.until(deadline, future));
			}
			catch (RuntimeException ex) {
				this.reply = ScriptReply.failed(this.call.partition(), ex);
			}
		}

		boolean isToBeRepeated(boolean mayMove) {
			RuntimeException failure = reply().failure();
			this.unknown = failure != null && failure.getCause() instanceof RedisNoScriptException;
			this.moving = RedisErrors.message(failure).startsWith("TRYAGAIN");
			return this.unknown || (this.moving && mayMove);
		}

		ScriptReply reply() {
			Assert.state(this.reply != null, "The script was not run");
			return this.reply;
		}

	}

}
