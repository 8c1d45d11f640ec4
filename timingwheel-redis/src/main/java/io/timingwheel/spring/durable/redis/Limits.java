package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.redis.Claim.Candidate;
import io.timingwheel.spring.durable.redis.Places.Grant;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * Begins tasks of the names whose starts are counted over all partitions. The rounds of a
 * claim have shown the first tasks that are due. This class takes places for them, begins
 * them, and gives the places back that were not used. Thread-safe.
 */
final class Limits {

	private final PartitionOutages scripts;

	private final Places places;

	Limits(PartitionOutages scripts, Places places) {
		this.scripts = scripts;
		this.places = places;
	}

	/**
	 * Claims the earliest suspect that may start.
	 * @param claim a claim that has found suspects, also of names without limits
	 * @return whether there was one
	 */
	boolean claimSuspect(Claim claim) {
		Set<Integer> full = new HashSet<>();
		for (Candidate suspect : claim.suspects()) {
			Grant grant = null;
			if (claim.needsPlaces(suspect.name())) {
				grant = full.contains(suspect.name()) ? null
						: take(claim, List.of(claim.places(suspect.name(), 1, 0))).get(0);
				if (grant == null || grant.taken() == 0) {
					full.add(suspect.name());
					continue;
				}
			}
			ScriptReply reply = this.scripts
				.run(List.of(claim.suspect(suspect, (grant != null) ? grant.hold(0) : Places.Hold.NONE)))
				.get(0);
			if (reply.failure() == null && !claim.read(reply, suspect.name()).isEmpty()) {
				return true;
			}
			if (grant != null && (reply.failure() == null || !reply.mayHaveRun())) {
				this.places.giveBack(grant, List.of(grant.first()));
			}
		}
		return false;
	}

	/**
	 * Begins tasks that are due, for as many as there are places and room.
	 */
	void claim(Claim claim) {
		List<Wanted> wanted = new ArrayList<>();
		List<Places.Request> requests = new ArrayList<>();
		int total = 0;
		for (Map.Entry<Integer, List<Candidate>> one : claim.takePlaced().entrySet()) {
			int name = one.getKey();
			int count = Math.min(claim.room(name, total), one.getValue().size());
			if (count < one.getValue().size()) {
				claim.hasMore();
			}
			if (count > 0) {
				total += count;
				wanted.add(new Wanted(name, one.getValue().subList(0, count)));
				requests.add(claim.places(name, count, claim.hasSuspects(name) ? 1 : 0));
			}
		}
		if (!wanted.isEmpty()) {
			begin(claim, wanted, take(claim, requests));
		}
	}

	private List<Grant> take(Claim claim, List<Places.Request> requests) {
		List<Grant> grants = new ArrayList<>();
		for (Grant grant : this.places.take(requests, claim.request().lease())) {
			RuntimeException failure = grant.reply().failure();
			if (failure != null && this.scripts.partial() == null) {
				throw failure;
			}
			grants.add(grant);
		}
		return grants;
	}

	private void begin(Claim claim, List<Wanted> wanted, List<Grant> grants) {
		List<Call> calls = new ArrayList<>();
		List<Begin> begins = new ArrayList<>();
		for (int i = 0; i < wanted.size(); i++) {
			Grant grant = grants.get(i);
			List<Candidate> tasks = wanted.get(i).tasks();
			int taken = grant.taken();
			if (taken < tasks.size() && grant.reply().failure() == null) {
				waits(claim, grant);
			}
			Map<Integer, Integer> counts = new TreeMap<>();
			tasks.subList(0, taken).forEach((task) -> counts.merge(task.partition(), 1, Integer::sum));
			int from = 0;
			for (Map.Entry<Integer, Integer> count : counts.entrySet()) {
				begins.add(new Begin(wanted.get(i).name(), grant, from, count.getValue()));
				calls.add(claim.begin(count.getKey(), wanted.get(i).name(), count.getValue(), grant.hold(from)));
				from += count.getValue();
			}
		}
		List<ScriptReply> replies = this.scripts.run(calls);
		for (int i = 0; i < replies.size(); i++) {
			read(claim, begins.get(i), replies.get(i));
		}
	}

	private static void waits(Claim claim, Grant grant) {
		if (grant.starts() == 0) {
			claim.startsAt(grant.request().limits().startsAgainAt(grant.nextStart()));
		}
		else {
			claim.hasMore();
		}
	}

	private void read(Claim claim, Begin begin, ScriptReply reply) {
		if (reply.failure() != null && reply.mayHaveRun()) {
			// Tasks may have begun with these places, so the places stay taken until the
			// leases of these tasks end.
			return;
		}
		List<LeasedTask> tasks = (reply.failure() == null) ? claim.read(reply, begin.name()) : List.of();
		if (tasks.size() < begin.count()) {
			// Other nodes have taken the tasks, or the places have ended.
			long first = begin.grant().first() + begin.from();
			this.places.giveBack(begin.grant(),
					LongStream.range(first + tasks.size(), first + begin.count()).boxed().toList());
			claim.startsNow();
		}
	}

	private record Wanted(int name, List<Candidate> tasks) {

	}

	private record Begin(int name, Grant grant, int from, int count) {

	}

}
