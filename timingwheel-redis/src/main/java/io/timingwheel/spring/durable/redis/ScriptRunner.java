package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * Runs scripts on their partitions, all that are given at once without waiting for each
 * other.
 */
final class ScriptRunner {

	/** How long a partition is waited for that a Cluster is just moving. */
	private static final Duration MOVING = Duration.ofSeconds(2);

	private static final Duration PAUSE = Duration.ofMillis(20);

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private final StoreConnection connection;

	private final Partitions partitions;

	ScriptRunner(StoreConnection connection, Partitions partitions) {
		this.connection = connection;
		this.partitions = partitions;
	}

	/**
	 * Runs a script.
	 * @throws RuntimeException a {@code DataAccessException} as a rule
	 */
	Fields run(ScriptCall call) {
		return run(List.of(call)).get(0).fields();
	}

	/**
	 * Runs scripts, on however many servers.
	 * @return how it went with each, in this order
	 */
	List<ScriptReply> run(List<ScriptCall> calls) {
		RedisScriptingAsyncCommands<byte[], byte[]> commands = this.connection.commands();
		List<ScriptReply> replies = run(commands, calls);
		if (!this.connection.isCluster() && replies.stream().anyMatch((reply) -> isReadOnly(reply.failure()))) {
			this.connection.reset();
		}
		return replies;
	}

	/**
	 * Runs scripts on a connection.
	 */
	List<ScriptReply> run(RedisScriptingAsyncCommands<byte[], byte[]> commands, List<ScriptCall> calls) {
		long start = System.nanoTime();
		List<Attempt> open = new ArrayList<>(calls.size());
		for (ScriptCall call : calls) {
			open.add(new Attempt(call));
		}
		List<Attempt> all = List.copyOf(open);
		while (!open.isEmpty()) {
			open.forEach((attempt) -> attempt.send(commands));
			long deadline = System.nanoTime() + this.connection.timeout().toNanos();
			open.forEach((attempt) -> attempt.await(deadline));
			boolean patient = System.nanoTime() - start < MOVING.toNanos();
			open.removeIf((attempt) -> !attempt.isToBeRepeated(patient));
			if (open.stream().anyMatch((attempt) -> attempt.moving)) {
				pause();
			}
		}
		if (all.stream().anyMatch((attempt) -> attempt.reply.failure() != null)) {
			this.connection.refresh();
		}
		return all.stream().map((attempt) -> attempt.reply).toList();
	}

	/**
	 * As Spring has it, but with what Redis or Lettuce says for a message, which is all
	 * that health shows.
	 */
	static RuntimeException translated(Exception cause) {
		RuntimeException translated = EXCEPTIONS.convert(cause);
		return (translated == null || translated.getClass() == RedisSystemException.class)
				? new RedisSystemException("Redis failed: " + cause.getMessage(), cause) : translated;
	}

	/**
	 * Before Redis 7 it is a script that has failed, for this reason.
	 */
	private static boolean isReadOnly(@Nullable RuntimeException failure) {
		Throwable cause = (failure != null) ? failure.getCause() : null;
		return cause != null && String.valueOf(cause.getMessage()).contains("READONLY ");
	}

	private static void pause() {
		try {
			Thread.sleep(PAUSE.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisSystemException("Interrupted while Redis moves a partition", ex);
		}
	}

	/**
	 * A call on its way, again if Redis did not run it for a reason that passes.
	 */
	private final class Attempt {

		private final ScriptCall call;

		private final byte[][] keys;

		private final byte[][] arguments;

		private boolean unknown;

		private boolean moving;

		private @Nullable RedisFuture<List<Object>> future;

		private ScriptReply reply = new ScriptReply(null, null);

		Attempt(ScriptCall call) {
			this.call = call;
			this.keys = ScriptRunner.this.partitions.keys(call.partition());
			this.arguments = call.arguments().toArray(byte[][]::new);
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
				fail(ex);
			}
		}

		void await(long deadline) {
			if (this.future == null) {
				return;
			}
			try {
				List<Object> values = this.future.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
				this.reply = new ScriptReply(new Fields(values), null);
			}
			catch (ExecutionException ex) {
				fail((ex.getCause() instanceof Exception cause) ? cause : ex);
			}
			catch (TimeoutException ex) {
				this.future.cancel(true);
				fail(ex);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				this.future.cancel(true);
				fail(ex);
			}
		}

		private void fail(Exception cause) {
			this.reply = new ScriptReply(null, translated(cause));
		}

		boolean isToBeRepeated(boolean patient) {
			Throwable cause = (this.reply.failure() != null) ? this.reply.failure().getCause() : null;
			this.unknown = cause instanceof RedisNoScriptException;
			this.moving = cause != null && String.valueOf(cause.getMessage()).startsWith("TRYAGAIN");
			return this.unknown || (this.moving && patient);
		}

	}

}
