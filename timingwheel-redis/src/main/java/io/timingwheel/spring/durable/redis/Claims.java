package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.redis.Claim.Begin;
import io.timingwheel.spring.durable.redis.Places.Grant;
import io.timingwheel.spring.durable.redis.Places.Wanted;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;

/**
 * Claims tasks from all partitions that answer: one round of requests if there is nothing
 * to claim. Between the two rounds of a {@link Claim}, this class takes places for the
 * tasks that need them, begins these tasks, and gives back the places that were not used.
 * Thread-safe.
 */
final class Claims {

	private final PartitionOutages scripts;

	private final boolean severalClocks;

	private final Places places;

	private final PausedNames pausedNames;

	private final AtomicInteger turn = new AtomicInteger();

	/**
	 * Creates an object that claims tasks.
	 * @param severalClocks whether the partitions have several servers
	 */
	Claims(PartitionOutages scripts, boolean severalClocks, Places places, PausedNames pausedNames) {
		this.scripts = scripts;
		this.severalClocks = severalClocks;
		this.places = places;
		this.pausedNames = pausedNames;
	}

	Claimed claim(ClaimRequest request) {
		int turn = this.turn.getAndIncrement() & Integer.MAX_VALUE;
		List<Integer> open = new ArrayList<>(this.scripts.open());
		Collections.rotate(open, turn % open.size());
		Claim claim = new Claim(request, open, this.severalClocks, turn);
		try {
			long start = System.nanoTime();
			claim.read(this.scripts.run(claim.firstRound()));
			claim.firstRoundTook(System.nanoTime() - start);
			if (!request.suspect() || !claimSuspect(claim)) {
				claimPlaced(claim);
				claim.read(this.scripts.run(claim.secondRound()));
			}
		}
		catch (RuntimeException ex) {
			claim.replies().endedBy(ex);
		}
		return claim.claimed(this.pausedNames);
	}

	/**
	 * Claims the earliest suspect that may start.
	 * @return whether there was one
	 */
	private boolean claimSuspect(Claim claim) {
		Set<String> full = new HashSet<>();
		for (Candidate suspect : claim.replies().suspects()) {
			String name = suspect.name();
			Grant grant = null;
			if (claim.needsPlaces(name) && !full.contains(name)) {
				grant = take(claim, List.of(new Wanted(name, claim.limits(name), List.of(suspect), 0))).get(0);
				if (grant.taken() == 0) {
					full.add(name);
				}
			}
			if (!full.contains(name)
					&& begin(claim, List.of(new Begin(suspect.partition(), name, true, 1, grant, 0))) > 0) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Begins the tasks that need places. Names that may start no task now leave their
	 * room to others.
	 */
	private void claimPlaced(Claim claim) {
		for (List<Wanted> wanted = claim.wanted(); !wanted.isEmpty(); wanted = claim.wanted()) {
			List<Begin> begins = new ArrayList<>();
			for (Grant grant : take(claim, wanted)) {
				List<Candidate> tasks = grant.wanted().tasks();
				claim.learn(grant);
				Map<Integer, Integer> counts = new TreeMap<>();
				tasks.subList(0, grant.taken()).forEach((task) -> counts.merge(task.partition(), 1, Integer::sum));
				int from = 0;
				for (Map.Entry<Integer, Integer> one : counts.entrySet()) {
					begins.add(new Begin(one.getKey(), grant.wanted().name(), false, one.getValue(), grant, from));
					from += one.getValue();
				}
			}
			begin(claim, begins);
		}
	}

	private List<Grant> take(Claim claim, List<Wanted> wanted) {
		List<Grant> grants = this.places.take(wanted, claim.request().lease());
		for (Grant grant : grants) {
			RuntimeException failure = grant.reply().failure();
			if (failure != null && this.scripts.partial() == null) {
				throw failure;
			}
		}
		return grants;
	}

	/**
	 * Begins or leases tasks.
	 * @return how many
	 */
	private int begin(Claim claim, List<Begin> begins) {
		int begun = 0;
		List<ScriptReply> replies = this.scripts.run(begins.stream().map(claim::call).toList());
		for (int i = 0; i < replies.size(); i++) {
			Begin begin = begins.get(i);
			ScriptReply reply = replies.get(i);
			if (reply.failure() != null && reply.mayHaveRun()) {
				// Tasks may have begun with these places, so the places stay taken until
				// the leases of these tasks end.
				continue;
			}
			int count = (reply.failure() == null) ? claim.replies().read(reply) : 0;
			Grant grant = begin.grant();
			if (count < begin.count() && grant != null) {
				// Other nodes have taken the tasks, or the places have ended.
				this.places.giveBack(grant, begin.from() + count, begin.from() + begin.count());
				claim.replies().startsNow();
			}
			begun += count;
		}
		return begun;
	}

}
