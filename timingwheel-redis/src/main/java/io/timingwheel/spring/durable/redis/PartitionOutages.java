package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

import io.lettuce.core.RedisFuture;
import io.timingwheel.spring.durable.PartialOutage;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Runs the scripts of the nodes (claim to bury). On a Cluster this class remembers which
 * partitions do not answer. A call on such a partition fails at once, until the partition
 * has answered a probe. Thread-safe.
 *
 * <p>
 * There are two reasons. A call on many partitions must not wait again and again for one
 * server that hangs. A claim that has timed out must not stay in the connection until the
 * server answers again, because the server would then lease tasks to a node that does not
 * know of them.
 */
final class PartitionOutages {

	private static final Duration PROBE_INTERVAL = Duration.ofMillis(500);

	private final ScriptRunner scripts;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final Map<Integer, Outage> outages = new TreeMap<>();

	private volatile boolean allAnswer = true;

	private volatile @Nullable PartialOutage partial;

	PartitionOutages(ScriptRunner scripts, StoreConnection connection, Partitions partitions) {
		this.scripts = scripts;
		this.connection = connection;
		this.partitions = partitions;
	}

	/**
	 * The servers that do not answer, {@code null} if all partitions answer or none does.
	 */
	@Nullable PartialOutage partial() {
		return this.partial;
	}

	/**
	 * Whether the primary of a Cluster that has a key is known not to answer.
	 */
	boolean isMissing(byte[] key) {
		PartialOutage outage = this.partial;
		String server = (outage != null) ? this.connection.server(key) : null;
		return outage != null && server != null && outage.parts().contains(server);
	}

	/**
	 * Runs scripts.
	 * @return a reply for each call, in the same order
	 */
	List<ScriptReply> run(List<Call> calls) {
		if (!this.connection.isCluster()) {
			return this.scripts.run(calls);
		}
		Map<Integer, ScriptReply> refused = refused();
		Iterator<ScriptReply> sent = this.scripts
			.run(calls.stream().filter((call) -> !refused.containsKey(call.partition())).toList())
			.iterator();
		List<ScriptReply> replies = new ArrayList<>(calls.size());
		for (Call call : calls) {
			ScriptReply reply = refused.get(call.partition());
			if (reply == null) {
				reply = sent.next();
				note(call.partition(), reply.failure());
			}
			replies.add(reply);
		}
		return replies;
	}

	/**
	 * The partitions that get calls now.
	 */
	List<Integer> open() {
		Set<Integer> refused = this.connection.isCluster() ? refused().keySet() : Set.of();
		return IntStream.range(0, this.partitions.count())
			.filter((partition) -> !refused.contains(partition))
			.boxed()
			.toList();
	}

	/**
	 * The replies for the partitions that get no calls now. If no partition answers, no
	 * call is refused, since the call delays no other partition.
	 */
	private Map<Integer, ScriptReply> refused() {
		if (this.partial == null) {
			return Map.of();
		}
		Map<Integer, ScriptReply> refused = new HashMap<>();
		synchronized (this) {
			if (this.partial == null) {
				return refused;
			}
			this.outages.forEach((partition, outage) -> {
				if (!outage.isOver(this.partitions.keys(partition))) {
					refused.put(partition, ScriptReply.notSent(partition, outage.failure));
				}
			});
		}
		return refused;
	}

	private void note(int partition, @Nullable RuntimeException failure) {
		if (failure == null && this.allAnswer) {
			return;
		}
		synchronized (this) {
			if (failure != null) {
				this.outages.put(partition, new Outage(failure, server(partition)));
			}
			else {
				this.outages.remove(partition);
			}
			this.allAnswer = this.outages.isEmpty();
			this.partial = partialOutage();
		}
	}

	private @Nullable PartialOutage partialOutage() {
		if (this.outages.isEmpty() || this.outages.size() == this.partitions.count()) {
			return null;
		}
		Set<String> servers = new TreeSet<>();
		this.outages.values().forEach((outage) -> servers.add(outage.server));
		return new PartialOutage(servers, this.outages.values().iterator().next().failure);
	}

	private String server(int partition) {
		String server = this.connection.server(this.partitions.keys(partition)[0]);
		return (server != null) ? server : "partition " + partition;
	}

	/**
	 * The outage of one partition.
	 */
	private final class Outage {

		private final RuntimeException failure;

		private final String server;

		private @Nullable RedisFuture<Long> probe;

		private long probedNanos;

		Outage(RuntimeException failure, String server) {
			this.failure = failure;
			this.server = server;
		}

		/**
		 * Whether the partition has answered a probe. Sends a probe if none is under way,
		 * and does not wait for the answer.
		 */
		boolean isOver(byte[][] keys) {
			RedisFuture<Long> probe = this.probe;
			if (probe == null || isStale(probe)) {
				probe(keys);
				return false;
			}
			return probe.isDone() && !probe.toCompletableFuture().isCompletedExceptionally();
		}

		private boolean isStale(RedisFuture<Long> probe) {
			long age = System.nanoTime() - this.probedNanos;
			return probe.isDone()
					? probe.toCompletableFuture().isCompletedExceptionally() && age > PROBE_INTERVAL.toNanos()
					: age > PartitionOutages.this.connection.timeout().toNanos();
		}

		/**
		 * Sends a write that changes nothing. A read is not enough, since a server that
		 * refuses writes may still answer reads.
		 */
		private void probe(byte[][] keys) {
			if (this.probe != null) {
				this.probe.cancel(true);
			}
			PartitionOutages.this.connection.refresh();
			this.probedNanos = System.nanoTime();
			try {
				this.probe = PartitionOutages.this.connection.commands().zrem(keys[1], new byte[0]);
			}
			catch (RuntimeException ex) {
				// No server has the partition. The next call probes again.
				this.probe = null;
			}
		}

	}

}
