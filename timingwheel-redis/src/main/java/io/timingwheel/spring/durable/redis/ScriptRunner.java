package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;
import org.springframework.util.Assert;

/**
 * Runs scripts. Sends all given calls before it waits for the first reply. Thread-safe.
 */
final class ScriptRunner {

	/** How long a call is repeated while a Cluster moves the partition. */
	static final Duration MAX_MOVE = Duration.ofSeconds(2);

	private static final Duration PAUSE = Duration.ofMillis(20);

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private final StoreConnection connection;

	private final Partitions partitions;

	private volatile byte[] clockOffset = Partitions.bytes("0");

	private volatile @Nullable LongSupplier clock;

	ScriptRunner(StoreConnection connection, Partitions partitions) {
		this.connection = connection;
		this.partitions = partitions;
	}

	/**
	 * Sets the time that scripts add to the clock of Redis.
	 */
	void setClockOffset(Duration offset) {
		this.clockOffset = Partitions.bytes(Long.toString(offset.toMillis()));
	}

	/**
	 * Sets a clock that scripts use in place of the one of Redis.
	 */
	void setClock(@Nullable LongSupplier millis) {
		this.clock = millis;
	}

	/**
	 * The first argument of each script.
	 */
	private byte[] clockArgument() {
		LongSupplier clock = this.clock;
		return (clock != null) ? Partitions.bytes("=" + clock.getAsLong()) : this.clockOffset;
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
		return run(calls, Waiting.ALONE);
	}

	List<ScriptReply> run(List<Call> calls, Waiting waiting) {
		RedisScriptingAsyncCommands<byte[], byte[]> commands = this.connection.commands();
		List<ScriptReply> replies = run(commands, calls, waiting);
		if (!this.connection.isCluster() && replies.stream().anyMatch((reply) -> isReadOnly(reply.failure()))) {
			this.connection.reset();
		}
		return replies;
	}

	/**
	 * Runs scripts on a connection.
	 * @return a reply for each call, in the same order
	 */
	List<ScriptReply> run(RedisScriptingAsyncCommands<byte[], byte[]> commands, List<Call> calls, Waiting waiting) {
		long start = System.nanoTime();
		List<Attempt> all = calls.stream().map(Attempt::new).toList();
		List<Attempt> open = new ArrayList<>(all);
		while (!open.isEmpty()) {
			open.forEach((attempt) -> attempt.send(commands));
			long deadline = System.nanoTime() + this.connection.timeout().toNanos();
			open.forEach((attempt) -> attempt.await(deadline, waiting));
			boolean mayMove = System.nanoTime() - start < MAX_MOVE.toNanos();
			open.removeIf((attempt) -> !attempt.isToBeRepeated(mayMove));
			if (open.stream().anyMatch((attempt) -> attempt.moving)) {
				pause(waiting);
			}
		}
		List<ScriptReply> replies = all.stream().map(Attempt::reply).toList();
		if (replies.stream().anyMatch((reply) -> reply.failure() != null)) {
			this.connection.refresh();
		}
		return replies;
	}

	/**
	 * Translates an exception as Spring does. The message of an exception that Spring has
	 * no type for contains the message of Redis or Lettuce, because health shows only the
	 * message.
	 */
	static RuntimeException translated(Exception cause) {
		if (cause instanceof DataAccessException known) {
			return known;
		}
		RuntimeException translated = EXCEPTIONS.convert(cause);
		return (translated == null || translated.getClass() == RedisSystemException.class)
				? new RedisSystemException("Redis failed: " + cause.getMessage(), cause) : translated;
	}

	/**
	 * Whether the server refuses writes because it has become a replica. Redis before
	 * version 7 gives the reason in the middle of the message.
	 */
	static boolean isReadOnly(@Nullable RuntimeException failure) {
		Throwable cause = (failure != null) ? failure.getCause() : null;
		return cause != null && String.valueOf(cause.getMessage()).contains("READONLY ");
	}

	private static void pause(Waiting waiting) {
		try {
			waiting.call(() -> {
				Thread.sleep(PAUSE.toMillis());
				return true;
			});
		}
		catch (InterruptedException | ExecutionException | TimeoutException ex) {
			Thread.currentThread().interrupt();
			throw new RedisSystemException("Interrupted while Redis moves a partition", ex);
		}
	}

	/**
	 * A call that is sent again if Redis did not run it for a temporary reason.
	 */
	private final class Attempt {

		private final Call call;

		private final byte[][] keys;

		private final byte[][] arguments;

		private boolean unknown;

		private boolean moving;

		private @Nullable RedisFuture<List<Object>> future;

		private @Nullable ScriptReply reply;

		Attempt(Call call) {
			this.call = call;
			byte[][] keys = ScriptRunner.this.partitions.keys(call.partition());
			this.keys = call.keys().isEmpty() ? keys
					: Stream.concat(Arrays.stream(keys), call.keys().stream()).toArray(byte[][]::new);
			List<byte[]> arguments = new ArrayList<>(1 + call.arguments().size());
			arguments.add(clockArgument());
			arguments.addAll(call.arguments());
			this.arguments = arguments.toArray(byte[][]::new);
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
				this.reply = ScriptReply.notSent(this.call.partition(), translated(ex));
			}
		}

		void await(long deadline, Waiting waiting) {
			RedisFuture<List<Object>> future = this.future;
			if (future == null) {
				return;
			}
			try {
				List<Object> values = waiting
					.call(() -> future.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS));
				this.reply = ScriptReply.of(this.call.partition(), values);
			}
			catch (ExecutionException ex) {
				fail((ex.getCause() instanceof Exception cause) ? cause : ex);
			}
			catch (TimeoutException ex) {
				future.cancel(true);
				fail(ex);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				future.cancel(true);
				fail(ex);
			}
		}

		private void fail(Exception cause) {
			this.reply = ScriptReply.failed(this.call.partition(), translated(cause));
		}

		boolean isToBeRepeated(boolean mayMove) {
			RuntimeException failure = reply().failure();
			Throwable cause = (failure != null) ? failure.getCause() : null;
			this.unknown = cause instanceof RedisNoScriptException;
			this.moving = cause != null && String.valueOf(cause.getMessage()).startsWith("TRYAGAIN");
			return this.unknown || (this.moving && mayMove);
		}

		ScriptReply reply() {
			Assert.state(this.reply != null, "The script was not run");
			return this.reply;
		}

	}

}
