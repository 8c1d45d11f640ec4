package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
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

	/** By host and port of the primary: the connections that no write uses. */
	private final Map<String, BlockingDeque<Slot>> slots = new ConcurrentHashMap<>();

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
		BlockingDeque<Slot> slots = slots(call.partition());
		Slot slot = take(slots);
		boolean usable = false;
		try {
			StatefulConnection<byte[], byte[]> own = slot.open();
			ScriptReply reply = replicated(own, call, changed);
			usable = isAnswered(reply.failure());
			if (RedisErrors.isReadOnly(reply.failure())) {
				usable = false;
				closeIdle(slots);
			}
			return reply;
		}
		catch (UncertainWriteException ex) {
			usable = isAnswered(ex.getCause());
			throw ex;
		}
		finally {
			// A connection that is not used again is closed. Otherwise the client would
			// connect it again each time that it breaks.
			if (!usable) {
				slot.close();
			}
			slots.addFirst(slot);
		}
	}

	/**
	 * Whether Redis has answered all commands on a connection. After a timeout a command
	 * may be under way, which blocks all later ones.
	 * @param failure the failure of the last command, {@code null} if it has not failed
	 */
	private static boolean isAnswered(@Nullable Throwable failure) {
		return failure == null || failure.getCause() instanceof RedisCommandExecutionException;
	}

	private BlockingDeque<Slot> slots(int partition) {
		String server = this.connection.isCluster() ? this.connection.server(this.partitions.keys(partition)[0])
				: STANDALONE;
		return this.slots.computeIfAbsent((server != null) ? server : STANDALONE, (any) -> {
			BlockingDeque<Slot> slots = new LinkedBlockingDeque<>();
			for (int i = 0; i < MAX_CONNECTIONS; i++) {
				slots.add(new Slot());
			}
			return slots;
		});
	}

	/**
	 * Waits for a connection, but no longer than a call waits for its reply.
	 */
	private Slot take(BlockingDeque<Slot> slots) {
		Duration limit = this.connection.timeout().plus(this.options.waitTimeout());
		long deadline = System.nanoTime() + limit.toNanos();
		Slot slot = Waiting
			.uninterruptibly(() -> slots.poll(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS));
		if (slot == null) {
			throw new QueryTimeoutException(("The write was not sent: %d other writes have waited for %s for the"
					+ " replicas of Redis (timingwheel.store.redis.wait-replicas)")
				.formatted(MAX_CONNECTIONS, limit));
		}
		return slot;
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
			if (reply.failure() == null && changed.test(reply)) {
				await(server);
			}
			return reply;
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

	private void await(RedisAsyncCommands<byte[], byte[]> server) {
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
		if (acknowledged < expected) {
			throw new UncertainWriteException(("The primary of Redis has made the change, but %d of %d replicas have"
					+ " acknowledged it within %s: a task that was stored may run, and the change is lost only if the"
					+ " primary fails now")
				.formatted(acknowledged, expected, timeout), cause);
		}
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
		this.slots.values().forEach(ReplicatedWrites::closeIdle);
	}

	private static void closeIdle(BlockingDeque<Slot> slots) {
		List<Slot> idle = new ArrayList<>();
		slots.drainTo(idle);
		idle.forEach(Slot::close);
		slots.addAll(idle);
	}

	/**
	 * The place of a connection. One thread at a time has it.
	 */
	private final class Slot {

		private @Nullable StatefulConnection<byte[], byte[]> connection;

		/**
		 * The connection, which is opened if necessary. The connection to a Cluster has a
		 * connection to each server, and {@code isOpen} tells only whether the one to the
		 * default server is open. If the one to another server has broken, the next write
		 * on it fails, and the whole connection is closed.
		 */
		StatefulConnection<byte[], byte[]> open() {
			StatefulConnection<byte[], byte[]> own = this.connection;
			if (own == null || !own.isOpen()) {
				close();
				own = (ReplicatedWrites.this.connection.client() instanceof RedisClusterClient cluster)
						? cluster.connect(ByteArrayCodec.INSTANCE)
						: ((RedisClient) ReplicatedWrites.this.connection.client()).connect(ByteArrayCodec.INSTANCE);
				this.connection = own;
			}
			return own;
		}

		void close() {
			StatefulConnection<byte[], byte[]> own = this.connection;
			this.connection = null;
			if (own != null) {
				own.closeAsync();
			}
		}

	}

}
