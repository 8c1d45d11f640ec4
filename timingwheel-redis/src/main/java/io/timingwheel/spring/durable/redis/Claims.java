package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.redis.ClaimReplies.Candidate;
import io.timingwheel.spring.durable.redis.Places.Grant;
import io.timingwheel.spring.durable.redis.Places.Wanted;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;

/**
 * Claims tasks from all partitions that answer: one round of requests if there is nothing
 * to claim. Takes the places between the two rounds of a {@link Claim}. Thread-safe.
 */
final class Claims {

	private final PartitionOutages scripts;

	private final boolean severalClocks;

	private final Places places;

	private final PausedNames pausedNames;

	private final AtomicInteger turn = new AtomicInteger();

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
		ClaimReplies replies = new ClaimReplies(this.severalClocks);
		Claim claim = new Claim(request, open, replies, turn);
		try {
			long start = this.scripts.nanoTime();
			this.scripts.run(claim.firstRound()).forEach(replies::read);
			claim.firstRoundTook(this.scripts.nanoTime() - start);
			if (!request.suspect() || !claimSuspect(claim, replies)) {
				// Names that may start no task leave their room to others
				for (List<Wanted> wanted = claim.wanted(); !wanted.isEmpty(); wanted = claim.wanted()) {
					take(claim, wanted).forEach(claim::granted);
				}
				claim.shareRest();
				secondRound(claim, false);
			}
		}
		catch (RuntimeException ex) {
			replies.endedBy(ex);
		}
		return claim.claimed(this.pausedNames);
	}

	private boolean claimSuspect(Claim claim, ClaimReplies replies) {
		for (Candidate suspect : replies.suspects()) {
			String name = suspect.name();
			Grant grant = claim.needsPlaces(name)
					? take(claim, List.of(new Wanted(name, claim.limits(name), List.of(suspect), 0))).get(0) : null;
			if (grant == null || grant.taken() > 0) {
				claim.plan(suspect, grant);
				secondRound(claim, true);
				if (!replies.tasks().isEmpty()) {
					return true;
				}
			}
		}
		return false;
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
	 * Runs what the claim has planned, and gives back the places that were not used.
	 * Other nodes may have taken the tasks, or the places may have ended.
	 */
	private void secondRound(Claim claim, boolean suspect) {
		claim.read(this.scripts.run(claim.secondRound(suspect))).forEach(this.places::giveBack);
	}

}
