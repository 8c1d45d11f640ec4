package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;

/**
 * Claims tasks from all partitions that answer: one request if there is nothing to claim.
 * Thread-safe.
 */
final class Claims {

	private final PartitionOutages scripts;

	private final boolean severalClocks;

	private final Limits limits;

	private final PausedNames pausedNames;

	private final AtomicInteger turn = new AtomicInteger();

	/**
	 * Creates an object that claims tasks.
	 * @param scripts runs the scripts
	 * @param severalClocks whether the partitions have several servers
	 * @param limits begins the tasks of names that need places
	 * @param pausedNames learns the paused names
	 */
	Claims(PartitionOutages scripts, boolean severalClocks, Limits limits, PausedNames pausedNames) {
		this.scripts = scripts;
		this.severalClocks = severalClocks;
		this.limits = limits;
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
			if (!request.names().isEmpty() && !(request.suspect() && this.limits.claimSuspect(claim))) {
				List<Call> second = claim.secondRound();
				if (!second.isEmpty()) {
					claim.read(this.scripts.run(second));
				}
				this.limits.claim(claim);
			}
		}
		catch (RuntimeException ex) {
			claim.endedBy(ex);
		}
		return claim.claimed(this.pausedNames);
	}

}
