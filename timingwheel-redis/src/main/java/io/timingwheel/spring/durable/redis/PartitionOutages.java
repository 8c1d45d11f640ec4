package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.DelayedTaskStore.PartialOutage;
import org.jspecify.annotations.Nullable;

/**
 * Runs the scripts of nodes and operators. On a Cluster a call on a partition that does
 * not answer fails at once, until the partition has answered a probe. So no claim stays
 * in the connection and leases tasks when nobody waits for it any more. Thread-safe.
 */
final class PartitionOutages {

	private static final Duration PROBE_INTERVAL = Duration.ofMillis(500);

	private final Scripts scripts;

	private final StoreConnection connection;

	private final Partitions partitions;

	private final Map<Integer, Outage> outages = new ConcurrentSkipListMap<>();

	PartitionOutages(Scripts scripts, StoreConnection connection, Partitions partitions) {
		this.scripts = scripts;
		this.connection = connection;
		this.partitions = partitions;
	}

	/** The servers that do not answer, {@code null} if all answer or none does. */
	@Nullable PartialOutage partial() {
		List<Outage> all = List.copyOf(this.outages.values());
		if (all.isEmpty() || all.size() == this.partitions.count()) {
			return null;
		}
		return new PartialOutage(all.stream().map((one) -> one.server).collect(Collectors.toUnmodifiableSet()),
				all.get(0).failure);
	}

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
	 * Runs scripts, and returns the replies of the partitions that have answered.
	 * @throws RuntimeException if none has answered, or one has refused the call
	 */
	List<ScriptReply> answers(List<Call> calls) {
		List<ScriptReply> replies = run(calls);
		List<ScriptReply> answers = replies.stream().filter((reply) -> reply.failure() == null).toList();
		replies.stream()
			.map(ScriptReply::failure)
			.filter(Objects::nonNull)
			.filter((one) -> answers.isEmpty() || RedisErrors.isRefusal(one))
			.findFirst()
			.ifPresent((failure) -> {
				throw failure;
			});
		return answers;
	}

	List<Integer> open() {
		Map<Integer, ScriptReply> refused = refused();
		return this.partitions.all().stream().filter((partition) -> !refused.containsKey(partition)).toList();
	}

	/**
	 * The replies for the partitions that get no calls now: none if no partition answers,
	 * since the calls delay no other partition.
	 */
	private Map<Integer, ScriptReply> refused() {
		if (partial() == null) {
			return Map.of();
		}
		Map<Integer, ScriptReply> refused = new HashMap<>();
		this.outages.values().removeIf(Outage::isOver);
		this.outages
			.forEach((partition, outage) -> refused.put(partition, ScriptReply.failed(partition, outage.failure)));
		return refused;
	}

	/** A server that does not answer is missing for all of its partitions. */
	private void note(int partition, @Nullable RuntimeException failure) {
		if (failure == null || RedisErrors.isRefusal(failure)) {
			this.outages.remove(partition);
			return;
		}
		Outage outage = new Outage(partition, failure);
		this.outages.put(partition, outage);
		if (!RedisErrors.isAnswer(failure)) {
			this.partitions.all()
				.stream()
				.map((other) -> new Outage(other, failure))
				.filter((other) -> other.server.equals(outage.server))
				.forEach((other) -> this.outages.putIfAbsent(other.partition, other));
		}
	}

	private final class Outage {

		private final int partition;

		private final RuntimeException failure;

		private final byte[] key;

		private final String server;

		private CompletableFuture<Long> probe;

		private long probedNanos = System.nanoTime() - PROBE_INTERVAL.toNanos();

		Outage(int partition, RuntimeException failure) {
			this.partition = partition;
			this.failure = failure;
			this.probe = CompletableFuture.failedFuture(failure);
			this.key = PartitionOutages.this.partitions.key(partition, "probe");
			String server = PartitionOutages.this.connection.server(this.key);
			this.server = (server != null) ? server : "partition " + partition;
		}

		/** Sends another probe if it is time, and does not wait for the answer. */
		synchronized boolean isOver() {
			if (this.probe.isDone() && !this.probe.isCompletedExceptionally()) {
				return true;
			}
			Duration patience = this.probe.isDone() ? PROBE_INTERVAL : PartitionOutages.this.connection.timeout();
			if (System.nanoTime() - this.probedNanos >= patience.toNanos()) {
				this.probe.cancel(true);
				PartitionOutages.this.connection.refresh();
				this.probedNanos = System.nanoTime();
				this.probe = probe();
			}
			return false;
		}

		/** A server that refuses writes may still answer reads. */
		private CompletableFuture<Long> probe() {
			try {
				return PartitionOutages.this.connection.commands().zrem(this.key, new byte[0]).toCompletableFuture();
			}
			catch (RuntimeException ex) {
				return CompletableFuture.failedFuture(ex); // no server has the partition
			}
		}

	}

}
