package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.redis.ClaimReplies.Candidate;
import io.timingwheel.spring.durable.redis.Places.Grant;
import io.timingwheel.spring.durable.redis.Places.Wanted;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;
import org.jspecify.annotations.Nullable;

/**
 * One claim from all partitions. In the first round each gives its share, and the times
 * of a few further tasks; only times for names whose tasks need places, for a suspect,
 * and if the limit is less than the number of partitions. In the second round the
 * partitions with the earliest further tasks give what is missing. Not thread-safe.
 */
final class Claim {

	/** Arguments of a call that reads only the time and {@code PAUSED}. */
	static final Object[] NOTHING = { false, 0, 0, 0, 0 };

	private static final int TIMES = 2;

	private static final int MIN_TIMES = 8;

	/** In milliseconds. A stall that is shorter harms no rate. */
	private static final long MIN_LATE_START = 100;

	private final ClaimRequest request;

	/** The partitions to ask. Each claim begins with another one. */
	private final List<Integer> open;

	private final ClaimReplies replies;

	/** How much names without places have if tasks wait that need places: half. */
	private final int othersShare;

	/** What the second round asks for, by partition and name. */
	private final Map<Integer, Map<String, Part>> plan = new TreeMap<>();

	private long roundMillis;

	Claim(ClaimRequest request, List<Integer> open, ClaimReplies replies, int turn) {
		this.request = request;
		this.open = open;
		this.replies = replies;
		long placed = request.names().keySet().stream().filter(this::needsPlaces).count();
		boolean mixed = placed > 0 && placed < request.names().size();
		this.othersShare = mixed ? (request.limit() + turn % 2) / 2 : request.limit();
	}

	ClaimRequest request() {
		return this.request;
	}

	private Share share(String name) {
		return Objects.requireNonNull(this.request.names().get(name));
	}

	StartLimits limits(String name) {
		return Objects.requireNonNull(share(name).limits());
	}

	/**
	 * Whether the starts of a name are counted over all partitions. A limit for each key
	 * needs no places, since all tasks of a key are in one partition.
	 */
	boolean needsPlaces(String name) {
		StartLimits limits = share(name).limits();
		return limits != null && (limits.concurrent() > 0 || limits.intervalMicros() > 0);
	}

	List<Call> firstRound() {
		if (this.request.names().isEmpty()) {
			return List.of(Script.CLAIM.on(this.open.get(0), NOTHING));
		}
		boolean looks = this.request.suspect() || this.request.limit() < this.open.size();
		List<Call> calls = new ArrayList<>();
		for (int i = 0; i < this.open.size(); i++) {
			int position = i;
			Call call = call(this.open.get(i), false, looks ? 0 : part(this.othersShare, i));
			this.request.names().keySet().forEach((name) -> {
				int due = looks ? 0 : part(wanted(new Kind(name, true)), position);
				int soon = looks ? 0 : part(wanted(new Kind(name, false)), position);
				add(call, name, due, soon, looks || needsPlaces(name) ? times(name) : TIMES);
				call.with(null, null);
			});
			calls.add(call);
		}
		return calls;
	}

	void firstRoundTook(long nanos) {
		this.roundMillis = TimeUnit.NANOSECONDS.toMillis(nanos);
	}

	/**
	 * The part of a partition, 0 if there is not one for each partition.
	 */
	private int part(int whole, int position) {
		int part = whole / this.open.size();
		return (part > 0 && position < whole % this.open.size()) ? part + 1 : part;
	}

	/**
	 * Of how many tasks a partition gives the times, so that the earliest of all
	 * partitions are among them.
	 */
	private int times(String name) {
		int wanted = Math.min(this.request.limit(), share(name).due() + share(name).soon());
		return Math.min(wanted, wanted / this.open.size() + MIN_TIMES);
	}

	/**
	 * How many tasks may be claimed without a place. Limited names lease only the tasks
	 * that are too late to start.
	 */
	private int wanted(Kind kind) {
		Share share = share(kind.name);
		if (kind.due) {
			return needsPlaces(kind.name) ? 0 : share.due();
		}
		return (share.limits() == null) ? share.soon() : (share.expireAfter() != null) ? this.request.limit() : 0;
	}

	private Map<Kind, Integer> left() {
		Map<Kind, Integer> left = new HashMap<>();
		this.request.names().keySet().forEach((name) -> {
			left.put(new Kind(name, true), wanted(new Kind(name, true)));
			left.put(new Kind(name, false), wanted(new Kind(name, false)));
		});
		this.replies.tasks().forEach((task) -> left.merge(new Kind(task.name(), task.begun()), -1, Integer::sum));
		return left;
	}

	private int room() {
		return this.request.limit() - this.replies.tasks().size()
				- this.plan.values().stream().mapToInt(Claim::total).sum();
	}

	private static int total(Map<String, Part> names) {
		return names.values().stream().mapToInt((part) -> part.due + part.soon).sum();
	}

	/**
	 * Takes tasks that need places out of the further tasks, as many as there is room for
	 * beside the share of the others. One place is left to suspects, which could
	 * otherwise wait for ever.
	 */
	List<Wanted> wanted() {
		List<Candidate> further = this.replies.further();
		long others = this.replies.tasks().stream().filter((task) -> !needsPlaces(task.name())).count();
		long waiting = further.stream().filter((one) -> !needsPlaces(one.name())).count();
		int room = room() - (int) Math.max(0, Math.min(waiting, this.othersShare - others));
		Map<String, List<Candidate>> placed = further.stream()
			.filter((one) -> one.due() && needsPlaces(one.name()))
			.collect(Collectors.groupingBy(Candidate::name, LinkedHashMap::new, Collectors.toList()));
		List<Wanted> wanted = new ArrayList<>();
		for (Map.Entry<String, List<Candidate>> one : placed.entrySet()) {
			String name = one.getKey();
			int count = Math.min(Math.min(room, share(name).due()), one.getValue().size());
			if (count > 0) {
				room -= count;
				this.replies.hasMore(count < one.getValue().size() || count >= times(name));
				wanted.add(new Wanted(name, limits(name), one.getValue().subList(0, count),
						this.replies.hasSuspects(name) ? 1 : 0));
				further.removeIf((candidate) -> candidate.due() && candidate.name().equals(name));
			}
		}
		return wanted;
	}

	void granted(Grant grant) {
		Wanted wanted = grant.wanted();
		wanted.tasks().subList(0, grant.taken()).forEach((task) -> plan(task, grant));
		int from = 0;
		for (Map<String, Part> names : this.plan.values()) {
			Part part = names.get(wanted.name());
			if (part != null) {
				part.from = from;
				from += part.due;
			}
		}
		if (grant.reply().failure() == null && grant.taken() < wanted.tasks().size()) {
			if (grant.startsLeft() == 0) {
				this.replies.startsAt(wanted.limits().startsAgainAt(grant.nextStart()));
			}
			else {
				this.replies.hasMore(true);
			}
		}
	}

	void plan(Candidate task, @Nullable Grant grant) {
		Part part = this.plan.computeIfAbsent(task.partition(), (any) -> new LinkedHashMap<>())
			.computeIfAbsent(task.name(), (any) -> new Part());
		part.due += (grant != null || task.due()) ? 1 : 0;
		part.soon += (grant != null || task.due()) ? 0 : 1;
		part.grant = (grant != null) ? grant : part.grant;
	}

	/**
	 * Plans one task for each of the earliest further tasks. The partitions that have
	 * given these share what is left then, as they may have more.
	 */
	void shareRest() {
		Map<Kind, Integer> left = left();
		int rest = room();
		List<Candidate> further = this.replies.further();
		boolean given = true;
		while (given) {
			given = false;
			for (Candidate one : further) {
				if (rest > 0 && left.merge(new Kind(one.name(), one.due()), -1, Integer::sum) >= 0) {
					plan(one, null);
					rest--;
					given = true;
				}
			}
		}
		further.removeIf((one) -> this.plan.getOrDefault(one.partition(), Map.of()).containsKey(one.name()));
	}

	List<Call> secondRound(boolean suspect) {
		List<Call> calls = new ArrayList<>();
		this.plan.forEach((partition, names) -> {
			Call call = call(partition, suspect, total(names));
			names.forEach((name, part) -> {
				add(call, name, part.due, part.soon, (part.grant != null) ? 0 : TIMES);
				call.with((part.grant != null) ? lastStart(partition, limits(name)) : null,
						(part.grant != null && limits(name).concurrent() > 0) ? part.grant.place(part.from) : null);
			});
			calls.add(call);
		});
		return calls;
	}

	private Call call(int partition, boolean suspect, int limit) {
		return Script.CLAIM.on(partition, suspect, this.request.lookAhead(), this.request.lease(),
				this.request.maxPayloadBytes(), Math.min(limit, TaskBatch.MAX_TASKS));
	}

	private void add(Call call, String name, int due, int soon, int times) {
		Share share = share(name);
		StartLimits limits = share.limits();
		call.with(name, due, soon, times, limits != null, (limits != null) ? limits.perKey() : 0, share.expireAfter());
	}

	/**
	 * The last time at which tasks may begin with their places, or starts of a rate, by
	 * the clock of their partition. Places end with their lease. Starts are lost after
	 * the time of a burst, so that a stall adds no more than a burst to a second; in a
	 * slow network they have more time.
	 */
	private long lastStart(int partition, StartLimits limits) {
		long lease = Math.min(TimeUnit.MILLISECONDS.convert(this.request.lease()), DelayedTaskStore.MAX_TIME) - 1;
		long burst = limits.burst() * limits.intervalMicros() / 1000;
		long late = Math.max(Math.max(burst, MIN_LATE_START), 4 * this.roundMillis);
		return this.replies.clock(partition) + ((limits.intervalMicros() > 0) ? Math.min(lease, late) : lease);
	}

	/**
	 * Reads the replies of the second round.
	 * @return the places that were not used, unless a script has failed: it may have used
	 * them
	 */
	Map<Grant, List<Integer>> read(List<ScriptReply> replies) {
		Map<Grant, List<Integer>> unused = new HashMap<>();
		Iterator<ScriptReply> next = replies.iterator();
		this.plan.values().forEach((names) -> {
			ScriptReply reply = next.next();
			List<LeasedTask> tasks = this.replies.read(reply);
			names.forEach((name, part) -> {
				if (part.grant != null && reply.failure() == null) {
					long used = tasks.stream()
						.filter((task) -> task.name().equals(name) && (task.begun() || task.suspect()))
						.count();
					for (int i = (int) used; i < part.due; i++) {
						unused.computeIfAbsent(part.grant, (any) -> new ArrayList<>()).add(part.from + i);
						this.replies.startsNow();
					}
				}
			});
		});
		this.plan.clear();
		return unused;
	}

	Claimed claimed(PausedNames pausedNames) {
		this.replies.hasMore(!this.request.names().isEmpty() && this.replies.tasks().size() >= this.request.limit());
		left().forEach((kind, left) -> this.replies.hasMore(wanted(kind) > 0 && left <= 0));
		return this.replies.claimed(pausedNames);
	}

	private record Kind(String name, boolean due) {

	}

	private static final class Part {

		private int due;

		private int soon;

		/** {@code null} if the tasks need no places. */
		private @Nullable Grant grant;

		/** How many of these places other parts use. */
		private int from;

	}

}
