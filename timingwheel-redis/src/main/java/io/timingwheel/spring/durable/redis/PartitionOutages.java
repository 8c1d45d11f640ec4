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

import io.lettuce.core.RedisFuture;
import io.timingwheel.spring.durable.PartialOutage;
import org.jspecify.annotations.Nullable;

/**
 * Runs the scripts of the machinery, and on a Cluster knows which partitions do not
 * answer: so that those who ask many partitions at once do not wait, again and again, for
 * a server that hangs, their calls fail at once until the partition has answered a probe.
 * A claim that nobody waits for any more is not sent either: a server that wakes up would
 * lease tasks for nobody. Thread-safe.
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
	 * What does not answer, {@code null} if all do, or none.
	 */
	@Nullable PartialOutage partial() {
		return this.partial;
	}

	/**
	 * Runs scripts.
	 * @return how it went with each, in this order
	 */
	List<ScriptReply> run(List<ScriptCall> calls) {
		if (!this.connection.isCluster()) {
			return this.scripts.run(calls);
		}
		Map<Integer, ScriptReply> refused = refused();
		Iterator<ScriptReply> sent = this.scripts
			.run(calls.stream().filter((call) -> !refused.containsKey(call.partition())).toList())
			.iterator();
		List<ScriptReply> replies = new ArrayList<>(calls.size());
		for (ScriptCall call : calls) {
			ScriptReply reply = refused.get(call.partition());
			if (reply == null) {
				reply = sent.next();
				heard(call.partition(), reply.failure());
			}
			replies.add(reply);
		}
		return replies;
	}

	/**
	 * The calls that are not worth their while. If no partition answers there is none to
	 * be kept waiting.
	 */
	private Map<Integer, ScriptReply> refused() {
		if (this.partial == null) {
			return Map.of();
		}
		Map<Integer, ScriptReply> refused = new HashMap<>();
		synchronized (this) {
			this.outages.forEach((partition, outage) -> {
				if (!outage.isOver(this.partitions.keys(partition))) {
					refused.put(partition, new ScriptReply(null, outage.failure));
				}
			});
		}
		return refused;
	}

	private void heard(int partition, @Nullable RuntimeException failure) {
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
	 * Of one partition.
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
		 * Whether the partition has answered a probe. Does not wait for it.
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
		 * With a write that changes nothing, as a server may still read that refuses to
		 * write.
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
				// There is nobody to be asked. The next call tries again.
				this.probe = null;
			}
		}

	}

}
