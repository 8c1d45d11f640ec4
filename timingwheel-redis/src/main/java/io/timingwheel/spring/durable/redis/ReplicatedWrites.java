package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.ClusterStateFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.util.Assert;

/**
 * Runs the scripts that users call (enqueue, cancel, reschedule), and then waits for the
 * replicas if the options ask for that. {@code WAIT} counts only the writes of its own
 * connection, and blocks all later commands on this connection. Each write that waits
 * therefore has a connection that no other call uses at the same time. The writes on each
 * primary have connections of their own. So a primary that hangs holds up another write
 * only if this write needs a new connection: the client may then try the primary that
 * hangs first. Thread-safe.
 */
final class ReplicatedWrites implements AutoCloseable {

	/** How many writes may wait for the replicas of one primary at once. */
	static final int MAX_CONNECTIONS = 16;

	/** The only primary, if there is no Cluster. */
	private static final String STANDALONE = "";

	private final ScriptRunner scripts;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final RedisStoreOptions options;

	/** By host and port of the primary. */
	private final Map<String, Pool> pools = new ConcurrentHashMap<>();

	ReplicatedWrites(ScriptRunner scripts, StoreConnection connection, Partitions partitions,
			RedisStoreOptions options) {
		this.scripts = scripts;
		this.connection = connection;
		this.partitions = partitions;
		this.options = options;
	}

	/**
	 * Runs scripts. Scripts that wait for replicas run one after another.
	 * @param changed tells by a reply whether the script has changed anything
	 * @param uncertain called with each reply that the caller does not get because too
	 * few replicas have the change
	 * @return a reply for each call, in the same order; its failure is an
	 * {@link UncertainWriteException} if too few replicas have the change
	 */
	List<ScriptReply> run(List<Call> calls, Predicate<ScriptReply> changed, Consumer<ScriptReply> uncertain) {
		return run(calls, changed, uncertain, Waiting.ALONE);
	}

	List<ScriptReply> run(List<Call> calls, Predicate<ScriptReply> changed, Consumer<ScriptReply> uncertain,
			Waiting waiting) {
		if (this.options.waitReplicas() == 0) {
			return this.scripts.run(calls, waiting);
		}
		return calls.stream().map((call) -> {
			try {
				return replicated(call, changed, uncertain, waiting);
			}
			catch (RuntimeException ex) {
				return ScriptReply.failed(call.partition(), ScriptRunner.translated(ex));
			}
		}).toList();
	}

	private ScriptReply replicated(Call call, Predicate<ScriptReply> changed, Consumer<ScriptReply> uncertain,
			Waiting waiting) {
		Pool pool = pool(call.partition());
		pool.acquire(waiting);
		try {
			StatefulConnection<byte[], byte[]> own = pool.take();
			boolean usable = false;
			try {
				ScriptReply reply = replicated(own, call, changed, uncertain, waiting);
				usable = isAnswered(reply.failure());
				if (ScriptRunner.isReadOnly(reply.failure())) {
					usable = false;
					pool.closeIdle(StatefulConnection::closeAsync);
				}
				return reply;
			}
			catch (UncertainWriteException ex) {
				usable = isAnswered(ex.getCause());
				throw ex;
			}
			finally {
				pool.giveBack(own, usable);
			}
		}
		finally {
			pool.permits.release();
		}
	}

	/**
	 * Whether Redis has answered all commands on a connection. After a timeout or an
	 * interrupt a command may be under way, which blocks all later ones.
	 * @param failure the failure of the last command, {@code null} if it has not failed
	 */
	private static boolean isAnswered(@Nullable Throwable failure) {
		return failure == null || failure.getCause() instanceof RedisCommandExecutionException;
	}

	private Pool pool(int partition) {
		String server = this.connection.isCluster() ? this.connection.server(this.partitions.keys(partition)[0])
				: STANDALONE;
		return this.pools.computeIfAbsent((server != null) ? server : STANDALONE, Pool::new);
	}

	private ScriptReply replicated(StatefulConnection<byte[], byte[]> own, Call call, Predicate<ScriptReply> changed,
			Consumer<ScriptReply> uncertain, Waiting waiting) {
		long start = System.nanoTime();
		while (true) {
			RedisAsyncCommands<byte[], byte[]> server = server(own, call.partition());
			ScriptReply reply = this.scripts.run(server, List.of(call), waiting).get(0);
			if (isElsewhere(reply) && System.nanoTime() - start < ScriptRunner.MAX_MOVE.toNanos()) {
				((RedisClusterClient) this.connection.client()).refreshPartitions();
				continue;
			}
			if (reply.failure() == null && changed.test(reply)) {
				try {
					await(server, waiting);
				}
				catch (UncertainWriteException ex) {
					uncertain.accept(reply);
					throw ex;
				}
			}
			return reply;
		}
	}

	/**
	 * Whether the reply says that the server no longer has the slot, or only a part of
	 * it.
	 */
	private static boolean isElsewhere(ScriptReply reply) {
		Throwable cause = (reply.failure() != null) ? reply.failure().getCause() : null;
		String message = (cause != null) ? String.valueOf(cause.getMessage()) : "";
		return message.startsWith("MOVED ") || message.startsWith("ASK ");
	}

	private void await(RedisAsyncCommands<byte[], byte[]> server, Waiting waiting) {
		Duration timeout = this.options.waitTimeout();
		int expected = this.options.waitReplicas();
		long acknowledged = 0;
		Throwable cause = null;
		try {
			Duration replyTimeout = timeout.plus(this.connection.timeout());
			RedisFuture<Long> reply = server.waitForReplication(expected, timeout.toMillis());
			long deadline = System.nanoTime() + replyTimeout.toNanos();
			acknowledged = waiting
				.call(() -> reply.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS));
		}
		catch (ExecutionException | TimeoutException ex) {
			cause = ex;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			cause = ex;
		}
		if (acknowledged < expected) {
			throw new UncertainWriteException(("The primary of Redis has made the change, but %d of %d replicas have"
					+ " acknowledged it within %s: a task that was stored may run, and the change is lost only if the"
					+ " primary fails now")
				.formatted(acknowledged, expected, timeout), cause);
		}
	}

	private StatefulConnection<byte[], byte[]> connect() {
		return (this.connection.client() instanceof RedisClusterClient cluster)
				? cluster.connect(ByteArrayCodec.INSTANCE)
				: ((RedisClient) this.connection.client()).connect(ByteArrayCodec.INSTANCE);
	}

	private RedisAsyncCommands<byte[], byte[]> server(StatefulConnection<byte[], byte[]> own, int partition) {
		if (own instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
			int slot = SlotHash.getSlot(this.partitions.keys(partition)[0]);
			RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(slot);
			if (node == null) {
				throw new ClusterStateFailureException("No server of the Cluster has slot " + slot);
			}
			return cluster.getConnection(node.getNodeId()).async();
		}
		Assert.isInstanceOf(StatefulRedisConnection.class, own);
		return ((StatefulRedisConnection<byte[], byte[]>) own).async();
	}

	@Override
	public void close() {
		this.pools.values().forEach((pool) -> pool.closeIdle(StatefulConnection::close));
	}

	/**
	 * The connections for the writes on one primary.
	 */
	private final class Pool {

		private final String server;

		private final Semaphore permits = new Semaphore(MAX_CONNECTIONS, true);

		private final Deque<StatefulConnection<byte[], byte[]>> idle = new ConcurrentLinkedDeque<>();

		Pool(String server) {
			this.server = server;
		}

		/**
		 * Waits for a connection, but no longer than a call waits for its reply.
		 */
		void acquire(Waiting waiting) {
			ReplicatedWrites writes = ReplicatedWrites.this;
			Duration limit = writes.connection.timeout().plus(writes.options.waitTimeout());
			long deadline = System.nanoTime() + limit.toNanos();
			try {
				if (!waiting.call(() -> this.permits.tryAcquire(Math.max(0, deadline - System.nanoTime()),
						TimeUnit.NANOSECONDS))) {
					throw new QueryTimeoutException(
							("The write was not sent: %d other writes have waited for %s for the"
									+ " replicas of Redis%s (timingwheel.store.redis.wait-replicas)")
								.formatted(MAX_CONNECTIONS, limit, this.server.isEmpty() ? "" : " " + this.server));
				}
			}
			catch (InterruptedException | ExecutionException | TimeoutException ex) {
				Thread.currentThread().interrupt();
				throw new RedisSystemException("Interrupted before the write was sent", ex);
			}
		}

		/**
		 * Takes an idle connection, or opens one. The connection to a Cluster has a
		 * connection to each server, and {@code isOpen} tells only whether the one to the
		 * default server is open. If the one to another server has broken, the next write
		 * on it fails, and {@link #giveBack} closes the whole connection.
		 */
		StatefulConnection<byte[], byte[]> take() {
			StatefulConnection<byte[], byte[]> own = this.idle.pollFirst();
			while (own != null && !own.isOpen()) {
				own.closeAsync();
				own = this.idle.pollFirst();
			}
			return (own != null) ? own : connect();
		}

		/**
		 * Gives back a connection after a write. A connection that is not used again is
		 * closed. Otherwise the client would connect it again each time that it breaks.
		 * @param usable whether the connection may be used again if it is open
		 */
		void giveBack(StatefulConnection<byte[], byte[]> own, boolean usable) {
			if (usable && own.isOpen()) {
				this.idle.addFirst(own);
			}
			else {
				own.closeAsync();
			}
		}

		void closeIdle(Consumer<StatefulConnection<byte[], byte[]>> closing) {
			@Nullable StatefulConnection<byte[], byte[]> own = this.idle.pollFirst();
			while (own != null) {
				closing.accept(own);
				own = this.idle.pollFirst();
			}
		}

	}

}
