package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.ClusterStateFailureException;
import org.springframework.util.Assert;

/**
 * What users ask of the store, and then, if so configured, {@code WAIT} for the replicas:
 * on the connection of the write, and as it stops whatever comes behind it, on one that
 * nobody else uses meanwhile.
 */
final class ReplicatedWrites implements AutoCloseable {

	private static final int MAX_CONNECTIONS = 16;

	/** How long a slot is followed that a Cluster is just moving. */
	private static final Duration MOVING = Duration.ofSeconds(2);

	private final ScriptRunner scripts;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final RedisStoreOptions options;

	private final Semaphore permits = new Semaphore(MAX_CONNECTIONS, true);

	private final Deque<StatefulConnection<byte[], byte[]>> idle = new ConcurrentLinkedDeque<>();

	ReplicatedWrites(ScriptRunner scripts, StoreConnection connection, Partitions partitions,
			RedisStoreOptions options) {
		this.scripts = scripts;
		this.connection = connection;
		this.partitions = partitions;
		this.options = options;
	}

	/**
	 * Runs a script that changes what is stored if its reply says so.
	 * @param uncertain given the reply, which the caller does not get, before the
	 * exception is thrown
	 * @throws UncertainWriteException if it has and too few replicas know of it
	 */
	Fields run(ScriptCall call, Predicate<Fields> changed, Consumer<Fields> uncertain) {
		if (this.options.waitReplicas() == 0) {
			return this.scripts.run(call);
		}
		this.permits.acquireUninterruptibly();
		try {
			StatefulConnection<byte[], byte[]> own = this.idle.pollFirst();
			own = (own != null && own.isOpen()) ? own : connect();
			try {
				return run(own, call, changed, uncertain);
			}
			finally {
				this.idle.addFirst(own);
			}
		}
		finally {
			this.permits.release();
		}
	}

	/**
	 * Runs scripts that change what is stored if their replies say so. Those that wait
	 * for replicas do so one after another.
	 * @param uncertain given the call and the reply of one that too few replicas know of
	 * @return how it went with each, in this order
	 */
	List<ScriptReply> run(List<ScriptCall> calls, Predicate<Fields> changed, BiConsumer<ScriptCall, Fields> uncertain) {
		if (this.options.waitReplicas() == 0) {
			return this.scripts.run(calls);
		}
		return calls.stream().map((call) -> {
			try {
				return new ScriptReply(run(call, changed, (reply) -> uncertain.accept(call, reply)), null);
			}
			catch (RuntimeException ex) {
				return new ScriptReply(null, ex);
			}
		}).toList();
	}

	private Fields run(StatefulConnection<byte[], byte[]> own, ScriptCall call, Predicate<Fields> changed,
			Consumer<Fields> uncertain) {
		long start = System.nanoTime();
		while (true) {
			RedisAsyncCommands<byte[], byte[]> server = server(own, call.partition());
			ScriptReply reply = this.scripts.run(server, List.of(call)).get(0);
			if (isElsewhere(reply) && System.nanoTime() - start < MOVING.toNanos()) {
				((RedisClusterClient) this.connection.client()).refreshPartitions();
				continue;
			}
			Fields fields = reply.fields();
			if (changed.test(fields)) {
				try {
					await(server);
				}
				catch (UncertainWriteException ex) {
					uncertain.accept(fields);
					throw ex;
				}
			}
			return fields;
		}
	}

	/**
	 * Whether the server has said that the slot is not, or no longer all, its own.
	 */
	private static boolean isElsewhere(ScriptReply reply) {
		Throwable cause = (reply.failure() != null) ? reply.failure().getCause() : null;
		String message = (cause != null) ? String.valueOf(cause.getMessage()) : "";
		return message.startsWith("MOVED ") || message.startsWith("ASK ");
	}

	private void await(RedisAsyncCommands<byte[], byte[]> server) {
		Duration timeout = this.options.waitTimeout();
		int expected = this.options.waitReplicas();
		long acknowledged = 0;
		Throwable cause = null;
		try {
			Duration patience = timeout.plus(this.connection.timeout());
			acknowledged = server.waitForReplication(expected, timeout.toMillis())
				.get(patience.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			cause = ex;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			cause = ex;
		}
		if (acknowledged < expected) {
			throw new UncertainWriteException(("Done on the primary of Redis, but acknowledged by %d of %d replicas"
					+ " within %s: what was stored may run, and what was done is undone only if the primary fails now")
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
		@Nullable StatefulConnection<byte[], byte[]> own = this.idle.pollFirst();
		while (own != null) {
			own.close();
			own = this.idle.pollFirst();
		}
	}

}
