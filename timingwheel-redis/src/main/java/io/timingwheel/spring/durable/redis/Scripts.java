package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts. Sends all given calls before it waits for the first reply. Thread-safe.
 */
final class Scripts {

	/** How long a call is repeated while a Cluster moves the partition. */
	static final Duration MAX_MOVE = Duration.ofSeconds(2);

	private static final long PAUSE_MILLIS = 20;

	private final StoreConnection connection;

	private final Partitions partitions;

	private volatile @Nullable LongSupplier clock;

	Scripts(StoreConnection connection, Partitions partitions) {
		this.connection = connection;
		this.partitions = partitions;
	}

	void setClock(@Nullable LongSupplier millis) {
		this.clock = millis;
	}

	List<ScriptReply> run(List<Call> calls) {
		List<ScriptReply> replies = run(this.connection.commands(), calls);
		if (!this.connection.isCluster()
				&& replies.stream().anyMatch((reply) -> RedisErrors.isReadOnly(reply.failure()))) {
			this.connection.reset();
		}
		return replies;
	}

	/**
	 * Sends a call again that Redis did not run, because it does not know the script, or
	 * because a Cluster moves the partition.
	 */
	List<ScriptReply> run(RedisScriptingAsyncCommands<byte[], byte[]> commands, List<Call> calls) {
		long lastMove = System.nanoTime() + MAX_MOVE.toNanos();
		List<ScriptReply> replies = new ArrayList<>(send(commands, calls, false));
		while (true) {
			boolean mayMove = System.nanoTime() < lastMove;
			List<Integer> again = IntStream.range(0, calls.size())
				.filter((i) -> isUnknown(replies.get(i)) || (mayMove && isMoving(replies.get(i))))
				.boxed()
				.toList();
			if (again.isEmpty()) {
				break;
			}
			if (again.stream().anyMatch((i) -> isMoving(replies.get(i)))) {
				new CompletableFuture<>().completeOnTimeout(null, PAUSE_MILLIS, TimeUnit.MILLISECONDS).join();
			}
			Iterator<ScriptReply> next = send(commands, again.stream().map(calls::get).toList(), true).iterator();
			again.forEach((i) -> replies.set(i, next.next()));
		}
		if (replies.stream().anyMatch((reply) -> reply.failure() != null)) {
			this.connection.refresh();
		}
		return replies;
	}

	private static boolean isUnknown(ScriptReply reply) {
		return reply.failure() != null && reply.failure().getCause() instanceof RedisNoScriptException;
	}

	private static boolean isMoving(ScriptReply reply) {
		return RedisErrors.message(reply.failure()).startsWith("TRYAGAIN");
	}

	private List<ScriptReply> send(RedisScriptingAsyncCommands<byte[], byte[]> commands, List<Call> calls,
			boolean withSource) {
		LongSupplier clock = this.clock;
		byte[] time = Partitions.bytes((clock != null) ? Long.toString(clock.getAsLong()) : "");
		List<LongFunction<ScriptReply>> sent = calls.stream()
			.map((call) -> send(commands, call, time, withSource))
			.toList();
		long deadline = System.nanoTime() + this.connection.timeout().toNanos();
		return sent.stream().map((reply) -> reply.apply(deadline)).toList();
	}

	private LongFunction<ScriptReply> send(RedisScriptingAsyncCommands<byte[], byte[]> commands, Call call, byte[] time,
			boolean withSource) {
		int partition = call.partition();
		byte[][] keys = this.partitions.keys(partition);
		byte[][] arguments = Stream.concat(Stream.of(time), call.arguments().stream()).toArray(byte[][]::new);
		try {
			RedisFuture<List<Object>> reply = withSource
					? commands.eval(call.script().source, ScriptOutputType.MULTI, keys, arguments)
					: commands.evalsha(call.script().digest, ScriptOutputType.MULTI, keys, arguments);
			return (deadline) -> await(partition, reply, deadline);
		}
		catch (RuntimeException ex) {
			ScriptReply failed = ScriptReply.failed(partition, RedisErrors.translated(ex));
			return (deadline) -> failed;
		}
	}

	private static ScriptReply await(int partition, RedisFuture<List<Object>> reply, long deadline) {
		try {
			return new ScriptReply(partition, StoreConnection.get(reply, deadline), null);
		}
		catch (RuntimeException ex) {
			return ScriptReply.failed(partition, ex);
		}
	}

}
