package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
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

/**
 * Runs the scripts that applications call (enqueue, recur, cancel, move), and then waits
 * for the replicas if the options ask for that. {@code WAIT} counts only the writes of
 * its own connection, and blocks later commands on it, so each write that waits has a
 * connection for itself. A primary that hangs does not use up those of the others.
 * Thread-safe.
 */
final class ReplicatedWrites implements AutoCloseable {

	/** How many writes may wait for the replicas of one primary at once. */
	static final int MAX_CONNECTIONS = 16;

	/**
	 * How many calls of one caller are under way at once. More would hold up those of its
	 * node, and the last ones would time out although Redis runs them.
	 */
	static final int MAX_AT_ONCE = 16;

	/** The only primary, if there is no Cluster. */
	private static final String STANDALONE = "";

	private final Scripts scripts;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final RedisStoreOptions options;

	/** By host and port of the primary: the connections that are not in use. */
	private final Map<String, BlockingDeque<Connection>> idle = new ConcurrentHashMap<>();

	ReplicatedWrites(Scripts scripts, StoreConnection connection, Partitions partitions, RedisStoreOptions options) {
		this.scripts = scripts;
		this.connection = connection;
		this.partitions = partitions;
		this.options = options;
	}

	/**
	 * Runs scripts, one after another if they wait for replicas. Otherwise up to 16 are
	 * under way at once, and none follows if a server does not answer.
	 * @param changed tells by a reply whether the script has changed anything
	 */
	List<ScriptReply> run(List<Call> calls, Predicate<ScriptReply> changed) {
		if (this.options.waitReplicas() == 0) {
			return inPieces(calls);
		}
		return calls.stream().map((call) -> {
			try {
				return replicated(call, changed);
			}
			catch (RuntimeException ex) {
				return ScriptReply.failed(call.partition(), RedisErrors.translated(ex));
			}
		}).toList();
	}

	private List<ScriptReply> inPieces(List<Call> calls) {
		List<ScriptReply> replies = new ArrayList<>();
		for (int from = 0; from < calls.size(); from += MAX_AT_ONCE) {
			List<Call> piece = calls.subList(from, Math.min(calls.size(), from + MAX_AT_ONCE));
			Optional<ScriptReply> failed = replies.stream()
				.filter((reply) -> reply.failure() != null && !RedisErrors.isRefusal(reply.failure()))
				.findFirst();
			replies.addAll(failed.map((reply) -> Collections.nCopies(piece.size(), reply))
				.orElseGet(() -> this.scripts.run(piece)));
		}
		return replies;
	}

	private ScriptReply replicated(Call call, Predicate<ScriptReply> changed) {
		BlockingDeque<Connection> idle = idle(call.partition());
		Connection own = take(idle);
		boolean succeeded = false;
		try {
			ScriptReply reply = replicated(own.open(), call, changed);
			succeeded = reply.failure() == null;
			return reply;
		}
		finally {
			// A command that is still under way would block all later ones, and the
			// server may have become a replica.
			if (!succeeded) {
				own.close();
			}
			idle.addFirst(own);
		}
	}

	private BlockingDeque<Connection> idle(int partition) {
		String server = this.connection.isCluster() ? this.connection.server(this.partitions.keys(partition)[0])
				: STANDALONE;
		return this.idle.computeIfAbsent((server != null) ? server : STANDALONE,
				(any) -> new LinkedBlockingDeque<>(Stream.generate(Connection::new).limit(MAX_CONNECTIONS).toList()));
	}

	private Connection take(BlockingDeque<Connection> idle) {
		Duration limit = this.connection.timeout().plus(this.options.waitTimeout());
		Connection own = null;
		try {
			own = idle.pollFirst(limit.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (own == null) {
			throw new QueryTimeoutException(("The write was not sent: %d other writes wait for the replicas of Redis"
					+ " (timingwheel.store.redis.wait-replicas), and this thread was interrupted, or has waited for %s")
				.formatted(MAX_CONNECTIONS, limit));
		}
		return own;
	}

	private ScriptReply replicated(StatefulConnection<byte[], byte[]> own, Call call, Predicate<ScriptReply> changed) {
		long start = System.nanoTime();
		while (true) {
			RedisAsyncCommands<byte[], byte[]> server = server(own, call.partition());
			ScriptReply reply = this.scripts.run(server, List.of(call)).get(0);
			String message = RedisErrors.message(reply.failure());
			if ((message.startsWith("MOVED ") || message.startsWith("ASK "))
					&& System.nanoTime() - start < Scripts.MAX_MOVE.toNanos()) {
				((RedisClusterClient) this.connection.client()).refreshPartitions();
				continue;
			}
			return (reply.failure() == null && changed.test(reply)) ? await(server, reply) : reply;
		}
	}

	private ScriptReply await(RedisAsyncCommands<byte[], byte[]> server, ScriptReply reply) {
		Duration timeout = this.options.waitTimeout();
		int expected = this.options.waitReplicas();
		long acknowledged = 0;
		RuntimeException cause = null;
		try {
			long deadline = System.nanoTime() + timeout.plus(this.connection.timeout()).toNanos();
			acknowledged = StoreConnection.get(server.waitForReplication(expected, timeout.toMillis()), deadline);
		}
		catch (RuntimeException ex) {
			cause = ex;
		}
		if (acknowledged >= expected) {
			return reply;
		}
		return ScriptReply.failed(reply.partition(),
				new UncertainWriteException(("The primary of Redis has made the change, but %d of %d replicas have"
						+ " acknowledged it within %s: a task that was stored may run, and the change is lost only if the"
						+ " primary fails now")
					.formatted(acknowledged, expected, timeout), cause));
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
		return ((StatefulRedisConnection<byte[], byte[]>) own).async();
	}

	@Override
	public void close() {
		this.idle.values().forEach((connections) -> connections.forEach(Connection::close));
	}

	/**
	 * A connection that is opened when it is first needed. One that has failed is closed,
	 * since the client would otherwise connect it again each time that it breaks.
	 */
	private final class Connection {

		private @Nullable StatefulConnection<byte[], byte[]> own;

		/**
		 * On a Cluster {@code isOpen} tells only of the default server. If the connection
		 * to another one has broken, the next write fails, and closes this connection.
		 */
		synchronized StatefulConnection<byte[], byte[]> open() {
			StatefulConnection<byte[], byte[]> own = this.own;
			if (own == null || !own.isOpen()) {
				close();
				AbstractRedisClient client = ReplicatedWrites.this.connection.client();
				own = (client instanceof RedisClusterClient cluster) ? cluster.connect(ByteArrayCodec.INSTANCE)
						: ((RedisClient) client).connect(ByteArrayCodec.INSTANCE);
				this.own = own;
			}
			return own;
		}

		synchronized void close() {
			if (this.own != null) {
				this.own.closeAsync();
				this.own = null;
			}
		}

	}

}
