package io.timingwheel.spring.durable.redis;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.redis.ClaimRounds.CallFactory;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Claims tasks from all partitions. Thread-safe.
 */
final class TaskClaims {

	private final PartitionOutages scripts;

	private final int partitions;

	private final boolean severalClocks;

	private final AtomicInteger turn = new AtomicInteger();

	/**
	 * Creates an object that claims tasks.
	 * @param scripts runs the scripts
	 * @param partitions the number of partitions
	 * @param severalClocks whether the partitions have several servers
	 */
	TaskClaims(PartitionOutages scripts, int partitions, boolean severalClocks) {
		this.scripts = scripts;
		this.partitions = partitions;
		this.severalClocks = severalClocks;
	}

	/**
	 * Claims the earliest suspect if the request asks for one. If there is none, claims
	 * other tasks.
	 */
	Claimed claim(ClaimRequest request) {
		List<String> names = Partitions.inIndexOrder(request.names().keySet());
		Claimed suspect = request.suspect() ? claimSuspect(request, names) : null;
		return (suspect != null) ? suspect
				: rounds(request, names, (partition, share, times) -> claim(partition, share, times, request, names))
					.run();
	}

	private static Call claim(int partition, Allowance share, int times, ClaimRequest request, List<String> names) {
		Call call = Script.CLAIM.on(partition, share.total(), times, request.lookAhead(), request.lease(),
				request.maxPayloadBytes());
		for (int i = 0; i < names.size(); i++) {
			call.with(names.get(i), share.due(i), share.soon(i));
		}
		return call;
	}

	/**
	 * Begins tasks of a limited name for which the caller has places.
	 * @param limit how many tasks at most; 0 only to make suspects of lost tasks
	 * @param lease the leases of the tasks
	 * @param perKey how many tasks of a key may run at once, 0 for any number
	 * @param lastAt the last time at which tasks may begin, in milliseconds since the
	 * epoch
	 */
	Begun claimLimited(ClaimRequest request, String name, int limit, String lease, int perKey, long lastAt) {
		ClaimRequest ofName = new ClaimRequest(request.owner(), Map.of(name, new Limit(limit, 0)), limit, false,
				request.lookAhead(), request.lease(), request.maxPayloadBytes());
		ClaimRounds rounds = rounds(ofName, List.of(name), (partition, share, times) -> Script.CLAIM_LIMITED
			.on(partition, name, share.total(), times, lease, perKey, request.maxPayloadBytes(), lastAt));
		return new Begun(rounds.run(), rounds.unknown(), rounds.latest(), rounds.count());
	}

	private ClaimRounds rounds(ClaimRequest request, List<String> names, CallFactory calls) {
		return new ClaimRounds(this.scripts, this.partitions, this.severalClocks, this.turn.getAndIncrement(), request,
				names, calls);
	}

	/**
	 * Asks all partitions for their first suspect, and claims the earliest.
	 * @return {@code null} if there is none
	 */
	private @Nullable Claimed claimSuspect(ClaimRequest request, List<String> names) {
		ScriptReply first = this.scripts
			.run(IntStream.range(0, this.partitions)
				.mapToObj((partition) -> suspect(partition, false, request, names))
				.toList())
			.stream()
			.filter((reply) -> reply.failure() == null && reply.number(1) >= 0)
			.min(Comparator.comparingLong((reply) -> reply.number(1)))
			.orElse(null);
		if (first == null) {
			return null;
		}
		ScriptReply reply = this.scripts.run(List.of(suspect(first.partition(), true, request, names))).get(0);
		return (reply.size() <= 2) ? null
				: new Claimed(List.of(reply.list(2).leasedTask()), reply.number(0), reply.number(0));
	}

	private static Call suspect(int partition, boolean take, ClaimRequest request, List<String> names) {
		return Script.CLAIM_SUSPECT.on(partition, take, request.lease(), request.maxPayloadBytes(), 0)
			.with(names.toArray());
	}

	/**
	 * The result of a claim of a limited name.
	 *
	 * @param claimed the tasks
	 * @param unknown how many more tasks may have begun
	 * @param latest the latest time that a partition has replied, in milliseconds since
	 * the epoch
	 * @param rounds how many times partitions were asked
	 */
	record Begun(Claimed claimed, int unknown, long latest, int rounds) {

	}

}
