package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
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
import org.springframework.util.Assert;

/**
 * Runs the scripts that applications call (enqueue, recur, cancel, move), and then waits
 * for the replicas if the options ask for that. {@code WAIT} counts only the writes of
 * its own connection, and blocks all later commands on this connection. Each write that
 * waits therefore has a connection that no other call uses at the same time. The writes
 * on each primary have connections of their own. So a primary that hangs holds up another
 * write only if this write needs a new connection: the client may then try the primary
 * that hangs first. Thread-safe.
 */
final class ReplicatedWrites implements AutoCloseable {

	/** How many writes may wait for the replicas of one primary at once. */
	static final int MAX_CONNECTIONS = 16;

	/** The only primary, if there is no Cluster. */
	private static final String STANDALONE = "";

	private final Scripts scripts;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final RedisStoreOptions options;

	/** By host and port. */
	private final Map<String, Primary> primaries = new ConcurrentHashMap<>();

	ReplicatedWrites(Scripts scripts, StoreConnection connection, Partitions partitions, RedisStoreOptions options) {
		this.scripts = scripts;
		this.connection = connection;
		this.partitions = partitions;
		this.options = options;
	}

	/**
	 * Runs scripts. Scripts that wait for replicas run one after another.
	 * @param changed tells by a reply whether the script has changed anything
	 * @return a reply for each call, in the same order; its failure is an
	 * {@link UncertainWriteException} if too few replicas have the change
	 */
	List<ScriptReply> run(List<Call> calls, Predicate<ScriptReply> changed) {
		if (this.options.waitReplicas() == 0) {
			return this.scripts.run(calls);
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

	private ScriptReply replicated(Call call, Predicate<ScriptReply> changed) {
		Primary primary = primary(call.partition());
		awaitTurn(primary);
		StatefulConnection<byte[], byte[]> own = null;
		boolean usable = false;
		try {
			own = primary.idle.pollFirst();
			if (own == null || !own.isOpen()) {
				close(own);
				own = open();
			}
			ScriptReply reply = replicated(own, call, changed);
			usable = isAnswered(reply.failure());
			if (RedisErrors.isReadOnly(reply.failure())) {
				usable = false;
				primary.closeIdle();
			}
			return reply;
		}
		finally {
			if (usable && own != null) {
				primary.idle.addFirst(own);
			}
			else {
				// Otherwise the client would connect it again each time that it breaks.
				close(own);
			}
			primary.turns.release();
		}
	}

	/**
	 * Whether Redis has answered all commands on a connection. After a timeout a command
	 * may be under way, which blocks all later ones.
	 */
	private static boolean isAnswered(@Nullable RuntimeException failure) {
		Throwable error = (failure instanceof UncertainWriteException) ? failure.getCause() : failure;
		return error == null || error.getCause() instanceof RedisCommandExecutionException;
	}

	private Primary primary(int partition) {
		String server = this.connection.isCluster() ? this.connection.server(this.partitions.keys(partition)[0])
				: STANDALONE;
		return this.primaries.computeIfAbsent((server != null) ? server : STANDALONE, (any) -> new Primary());
	}

	/**
	 * Waits until fewer other writes wait, but no longer than a call waits for its reply.
	 */
	private void awaitTurn(Primary primary) {
		Duration limit = this.connection.timeout().plus(this.options.waitTimeout());
		long deadline = System.nanoTime() + limit.toNanos();
		if (!Waiting
			.uninterruptibly(() -> primary.turns.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS))) {
			throw new QueryTimeoutException(("The write was not sent: %d other writes have waited for %s for the"
					+ " replicas of Redis (timingwheel.store.redis.wait-replicas)")
				.formatted(MAX_CONNECTIONS, limit));
		}
	}

	/**
	 * Opens a connection. One to a Cluster has a connection to each server, and
	 * {@code isOpen} tells only whether the one to the default server is open. If the one
	 * to another server has broken, the next write on it fails, and the whole connection
	 * is closed.
	 */
	private StatefulConnection<byte[], byte[]> open() {
		return (this.connection.client() instanceof RedisClusterClient cluster)
				? cluster.connect(ByteArrayCodec.INSTANCE)
				: ((RedisClient) this.connection.client()).connect(ByteArrayCodec.INSTANCE);
	}

	private static void close(@Nullable StatefulConnection<byte[], byte[]> connection) {
		if (connection != null) {
			connection.closeAsync();
		}
	}

	private ScriptReply replicated(StatefulConnection<byte[], byte[]> own, Call call, Predicate<ScriptReply> changed) {
		long start = System.nanoTime();
		while (true) {
			RedisAsyncCommands<byte[], byte[]> server = server(own, call.partition());
			ScriptReply reply = this.scripts.run(server, List.of(call)).get(0);
			if (isElsewhere(reply) && System.nanoTime() - start < Scripts.MAX_MOVE.toNanos()) {
				((RedisClusterClient) this.connection.client()).refreshPartitions();
				continue;
			}
			return (reply.failure() == null && changed.test(reply)) ? await(server, reply) : reply;
		}
	}

	/**
	 * Whether the reply says that the server no longer has the slot, or only a part of
	 * it.
	 */
	private static boolean isElsewhere(ScriptReply reply) {
		String message = RedisErrors.message(reply.failure());
		return message.startsWith("MOVED ") || message.startsWith("ASK ");
	}

	private ScriptReply await(RedisAsyncCommands<byte[], byte[]> server, ScriptReply reply) {
		Duration timeout = this.options.waitTimeout();
		int expected = this.options.waitReplicas();
		long acknowledged = 0;
		RuntimeException cause = null;
		try {
			long deadline = System.nanoTime() + timeout.plus(this.connection.timeout()).toNanos();
			acknowledged = Waiting.until(deadline, server.waitForReplication(expected, timeout.toMillis()));
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
		Assert.isInstanceOf(StatefulRedisConnection.class, own);
		return ((StatefulRedisConnection<byte[], byte[]>) own).async();
	}

	@Override
	public void close() {
		this.primaries.values().forEach(Primary::closeIdle);
	}

	/**
	 * The connections to a primary: how many more may be in use, and those that are not.
	 */
	private record Primary(Semaphore turns, Deque<StatefulConnection<byte[], byte[]>> idle) {

		Primary() {
			this(new Semaphore(MAX_CONNECTIONS), new ConcurrentLinkedDeque<>());
		}

		void closeIdle() {
			for (var one = this.idle.poll(); one != null; one = this.idle.poll()) {
				one.closeAsync();
			}
		}

	}

}
