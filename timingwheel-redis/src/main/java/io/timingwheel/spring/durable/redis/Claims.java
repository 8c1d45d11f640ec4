package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.task.internal.TaskLog;
import org.apache.commons.logging.LogFactory;

/**
 * Claims tasks from the partitions of the names. The first round usually takes them: each
 * partition gives its quota, by what it had at the claim before. A claim of few tasks, or
 * of a suspect, looks first, and then takes the earliest of all partitions. Thread-safe.
 */
final class Claims {

	/** A claim of fewer tasks looks first. */
	private static final int FEW = 16;

	/** Of how many further tasks a partition tells. */
	private static final int TELLS = 8;

	private static final int MANY = Integer.MAX_VALUE;

	private final TaskLog failures = new TaskLog(LogFactory.getLog(Claims.class));

	private final PartitionOutages scripts;

	private final Partitions partitions;

	private final boolean severalClocks;

	/** How many tasks a partition had at its latest claim, or {@link #MANY}. */
	private final Map<Integer, Integer> had = new ConcurrentHashMap<>();

	Claims(PartitionOutages scripts, Partitions partitions, boolean severalClocks) {
		this.scripts = scripts;
		this.partitions = partitions;
		this.severalClocks = severalClocks;
	}

	Claimed claim(ClaimRequest request) {
		List<Integer> open = this.scripts.open();
		Map<Integer, List<String>> names = request.names()
			.keySet()
			.stream()
			.filter((name) -> open.contains(this.partitions.of(name)))
			.collect(Collectors.groupingBy(this.partitions::of));
		Claim claim = new Claim(request, names, this.severalClocks);
		if (names.isEmpty()) {
			run(claim, Map.of(open.get(0), 0), false, 0);
		}
		else if (names.size() > 1 && (request.suspect() || request.limit() < Math.max(FEW, names.size()))) {
			run(claim, names.keySet().stream().collect(Collectors.toMap((one) -> one, (one) -> 0)), request.suspect(),
					FEW);
			takeRest(claim);
		}
		else {
			run(claim, quotas(claim, names.keySet(), request.limit()), request.suspect(), TELLS).stream()
				.filter((reply) -> reply.failure() == null)
				.forEach(this::learn);
			// Another round for a few tasks would cost as much as the next claim
			if (claim.room() > request.limit() / 2) {
				takeRest(claim);
			}
		}
		return claim.claimed(this.failures);
	}

	private List<ScriptReply> run(Claim claim, Map<Integer, Integer> quotas, boolean suspect, int tells) {
		List<Call> calls = new ArrayList<>();
		quotas.forEach((partition, quota) -> calls.add(claim.call(partition, suspect, quota, tells)));
		List<ScriptReply> replies = this.scripts.run(calls);
		replies.forEach(claim::read);
		return replies;
	}

	/**
	 * Shares an eighth of the limit equally, and the rest by what the partitions had.
	 * Each partition gets something, since its tasks could wait for ever.
	 */
	private Map<Integer, Integer> quotas(Claim claim, Set<Integer> partitions, int limit) {
		Map<Integer, Long> parts = new HashMap<>();
		partitions
			.forEach((one) -> parts.put(one, (long) Math.min(claim.wanted(one), this.had.getOrDefault(one, MANY))));
		long sum = parts.values().stream().mapToLong(Long::longValue).sum();
		int equal = Math.max(1, limit / ((sum > 0) ? 8 * parts.size() : parts.size()));
		long rest = limit - equal * parts.size();
		Map<Integer, Integer> quotas = new HashMap<>();
		parts.forEach((partition, part) -> quotas.put(partition, equal + (int) (rest * part / Math.max(1, sum))));
		return quotas;
	}

	private void learn(ScriptReply reply) {
		int further = Claim.further(reply).size();
		this.had.put(reply.partition(), (further == TELLS) ? MANY : further + Claim.tasks(reply));
	}

	/**
	 * Takes the earliest suspect alone or, if there is none, the earliest further tasks.
	 * The partitions that have told of these share what is left then, as they may have
	 * more.
	 */
	private void takeRest(Claim claim) {
		try {
			Integer suspect = claim.suspect();
			if (suspect != null) {
				run(claim, Map.of(suspect, 1), true, 0);
				return;
			}
			List<Integer> earliest = claim.earliest();
			Map<Integer, Integer> quotas = new HashMap<>();
			for (int i = 0; i < claim.room() && !earliest.isEmpty(); i++) {
				quotas.merge(earliest.get(i % earliest.size()), 1, Integer::sum);
			}
			if (!quotas.isEmpty()) {
				run(claim, quotas, false, TELLS);
			}
		}
		catch (RuntimeException ex) {
			claim.endedBy(ex);
		}
	}

}
