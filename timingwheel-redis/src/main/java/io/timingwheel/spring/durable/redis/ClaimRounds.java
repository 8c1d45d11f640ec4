package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Claims tasks from all partitions at once. In the first round each partition gives at
 * most its share of the limits, and the times of a few more tasks. In further rounds the
 * partitions with more tasks give the missing tasks, the earliest tasks first.
 *
 * <p>
 * If a limit is less than the number of partitions, the first round leases nothing and
 * only asks for times, so that the claim gives the earliest tasks of all partitions. If a
 * limit cannot be divided evenly, each claim gives the remainder to other partitions.
 * Thread-safe.
 */
final class ClaimRounds {

	/** The number of further tasks of which a partition gives only the times. */
	private static final int TOLD = 2;

	private final PartitionOutages scripts;

	private final int partitions;

	private final boolean severalClocks;

	private final AtomicInteger turn = new AtomicInteger();

	ClaimRounds(PartitionOutages scripts, int partitions, boolean severalClocks) {
		this.scripts = scripts;
		this.partitions = partitions;
		this.severalClocks = severalClocks;
	}

	Claimed claim(ClaimRequest request) {
		Claimed suspect = request.suspect() ? claimSuspect(request) : null;
		return (suspect != null) ? suspect : new Rounds(request).run();
	}

	/**
	 * Begins tasks of a limited name for which the caller has places.
	 * @param limit how many at most; 0 only to make suspects of lost tasks
	 * @param lease the leases of the tasks
	 * @param perKey how many tasks of a key may run at once, 0 for any number
	 */
	Limited claimLimited(ClaimRequest request, String name, int limit, String lease, int perKey) {
		ClaimRequest one = new ClaimRequest(request.owner(), Map.of(name, new Limit(limit, 0)), limit, false,
				request.lookAhead(), request.lease(), request.maxPayloadBytes());
		Rounds rounds = new Rounds(one, (partition, share, told) -> Script.CLAIM_LIMITED.on(partition, name, share.all,
				told, lease, perKey, one.maxPayloadBytes()));
		return new Limited(rounds.run(), rounds.unknown);
	}

	/**
	 * Asks all partitions for their first suspect, and claims the earliest.
	 * @return {@code null} if there is none
	 */
	private @Nullable Claimed claimSuspect(ClaimRequest request) {
		List<String> names = Partitions.inIndexOrder(request.names().keySet());
		List<Call> calls = new ArrayList<>();
		for (int partition = 0; partition < this.partitions; partition++) {
			calls.add(suspect(partition, false, request, names));
		}
		ScriptReply first = this.scripts.run(calls)
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
		return Script.SUSPECT.on(partition, take, request.lease(), request.maxPayloadBytes(), 0).with(names.toArray());
	}

	private final class Rounds {

		/** The partitions that answer, each claim begins with another one. */
		private final List<Integer> open = new ArrayList<>(ClaimRounds.this.scripts.open());

		private final int count = this.open.size();

		private final ClaimRequest request;

		private final List<String> names;

		/** What is left of the limits. */
		private final Limits left;

		/** The further tasks that the partitions could give. */
		private final List<Candidate> more = new ArrayList<>();

		/**
		 * By partition: how long after its reading of the clock the first task is due
		 * that the partition cannot give yet. The partitions read the clock one after
		 * another. A time would therefore be within the look-ahead of the latest reading
		 * although no node has the task.
		 */
		private final long[] later = new long[ClaimRounds.this.partitions];

		private final List<ScriptReply> tasks = new ArrayList<>();

		private long now;

		private boolean reached;

		private @Nullable RuntimeException failure;

		/** Whether calls failed for another reason than their partitions. */
		private boolean broken;

		private final CallFactory calls;

		/** How many tasks the partitions may have begun whose replies are missing. */
		private int unknown;

		Rounds(ClaimRequest request) {
			this(request, null);
		}

		Rounds(ClaimRequest request, @Nullable CallFactory calls) {
			this.request = request;
			this.calls = (calls != null) ? calls : this::call;
			this.names = Partitions.inIndexOrder(request.names().keySet());
			this.left = new Limits(request.limit(), this.names.stream().mapToInt((name) -> limit(name).due()).toArray(),
					this.names.stream().mapToInt((name) -> limit(name).soon()).toArray());
			Arrays.fill(this.later, Long.MAX_VALUE);
			Collections.rotate(this.open, ClaimRounds.this.turn.getAndIncrement() % this.count);
		}

		private Limit limit(String name) {
			return Objects.requireNonNull(this.request.names().get(name));
		}

		Claimed run() {
			int limit = this.request.limit();
			Map<Integer, Limits> shares = new LinkedHashMap<>();
			for (int i = 0; i < this.count; i++) {
				int position = i;
				shares.put(this.open.get(i), this.left.map((whole) -> share(whole, position)));
			}
			ask(shares, (limit >= this.count) ? TOLD : limit);
			boolean goesOn = true;
			for (shares = allot(); goesOn && !shares.isEmpty(); shares = allot()) {
				int tasks = this.tasks.size();
				int more = this.more.size();
				ask(shares, TOLD);
				// A partition that does not give what it tells is left to the next claim.
				goesOn = this.tasks.size() > tasks || this.more.size() < more;
			}
			if (this.failure != null && !this.reached) {
				throw this.failure;
			}
			this.tasks.sort(Comparator.comparingLong(Rounds::foundAt));
			return new Claimed(this.tasks.stream().map(ScriptReply::leasedTask).toList(), this.now, nextAt());
		}

		private long nextAt() {
			if (this.broken) {
				return this.now;
			}
			long later = Arrays.stream(this.later).min().orElse(Long.MAX_VALUE);
			return (later < Long.MAX_VALUE) ? Math.min(this.now + later, DelayedTaskStore.MAX_TIME) : Long.MAX_VALUE;
		}

		/**
		 * The time in the index by which the claim found a task.
		 */
		private static long foundAt(ScriptReply task) {
			return task.number(12);
		}

		/**
		 * The share of a partition, 0 if there is not one for each partition.
		 */
		private int share(int whole, int position) {
			int share = whole / this.count;
			return (share > 0 && position < whole % this.count) ? share + 1 : share;
		}

		/**
		 * Asks partitions for tasks.
		 * @param shares the limits by partition
		 */
		private void ask(Map<Integer, Limits> shares, int told) {
			List<Call> calls = new ArrayList<>();
			shares.forEach((partition, share) -> calls.add(this.calls.call(partition, share, told)));
			for (ScriptReply reply : run(calls)) {
				if (reply.failure() != null && reply.mayHaveRun()) {
					this.unknown += Objects.requireNonNull(shares.get(reply.partition())).all;
				}
				read(reply);
			}
		}

		/**
		 * Turns an exception into failed replies, so that the tasks of earlier calls are
		 * not lost.
		 */
		private List<ScriptReply> run(List<Call> calls) {
			try {
				return ClaimRounds.this.scripts.run(calls);
			}
			catch (RuntimeException ex) {
				this.broken = true;
				return calls.stream().map((call) -> ScriptReply.failed(call.partition(), ex)).toList();
			}
		}

		private Call call(int partition, Limits share, int told) {
			Call call = Script.CLAIM.on(partition, share.all, told, this.request.lookAhead(), this.request.lease(),
					this.request.maxPayloadBytes());
			for (int i = 0; i < this.names.size(); i++) {
				call.with(this.names.get(i), share.due[i], share.soon[i]);
			}
			return call;
		}

		private void read(ScriptReply reply) {
			int partition = reply.partition();
			this.more.removeIf((candidate) -> candidate.partition() == partition);
			if (reply.failure() != null) {
				// The other partitions have leased tasks to this node. After an exception
				// nobody would run them until their leases end.
				this.failure = reply.failure();
				return;
			}
			long now = reply.number(0);
			// The latest reading of one clock, the earliest of several clocks
			this.now = (this.reached && ClaimRounds.this.severalClocks) ? Math.min(this.now, now)
					: Math.max(this.now, now);
			this.reached = true;
			this.later[partition] = (reply.number(1) >= 0) ? reply.number(1) - now : Long.MAX_VALUE;
			ScriptReply times = reply.list(2);
			for (int i = 0; i < times.size(); i += 2) {
				this.more.add(new Candidate(times.number(i), partition, times.integer(i + 1), times.number(i) <= now));
			}
			for (int i = 3; i < reply.size(); i++) {
				ScriptReply task = reply.list(i);
				this.tasks.add(task);
				this.left.taken(this.names.indexOf(task.text(2)), task.flag(7));
			}
		}

		/**
		 * Gives each partition a share for each of the earliest tasks whose times are
		 * known. If these are too few, the partitions that may have more tasks share the
		 * rest evenly.
		 * @return the shares by partition, empty if there is nothing more to claim
		 */
		private Map<Integer, Limits> allot() {
			Map<Integer, Limits> shares = new LinkedHashMap<>();
			Limits rest = this.left.map((whole) -> whole);
			this.more.sort(Comparator.comparingLong(Candidate::time));
			boolean given = true;
			while (given) {
				given = false;
				for (Candidate one : this.more) {
					if (rest.take(one.name(), one.due())) {
						shares.computeIfAbsent(one.partition(), (partition) -> rest.map((whole) -> 0))
							.give(one.name(), one.due());
						given = true;
					}
				}
			}
			return shares;
		}

	}

	/**
	 * Makes the call of a claim on a partition.
	 */
	private interface CallFactory {

		Call call(int partition, Limits share, int told);

	}

	/**
	 * The result of a claim of a limited name.
	 *
	 * @param claimed the tasks
	 * @param unknown how many more tasks may have begun
	 */
	record Limited(Claimed claimed, int unknown) {

	}

	/**
	 * The limits for all names together, and by name. A limit by name may become less
	 * than 0, since a task that was due soon may be due when it is claimed.
	 */
	private static final class Limits {

		private int all;

		private final int[] due;

		private final int[] soon;

		Limits(int all, int[] due, int[] soon) {
			this.all = all;
			this.due = due;
			this.soon = soon;
		}

		Limits map(IntUnaryOperator change) {
			return new Limits(change.applyAsInt(this.all), Arrays.stream(this.due).map(change).toArray(),
					Arrays.stream(this.soon).map(change).toArray());
		}

		void taken(int name, boolean due) {
			this.all--;
			(due ? this.due : this.soon)[name]--;
		}

		/**
		 * Takes one task from the limits.
		 * @return {@code false} if the limits allow no such task
		 */
		boolean take(int name, boolean due) {
			if (this.all <= 0 || (due ? this.due : this.soon)[name] <= 0) {
				return false;
			}
			taken(name, due);
			return true;
		}

		void give(int name, boolean due) {
			this.all++;
			(due ? this.due : this.soon)[name]++;
		}

	}

	/**
	 * A task that a partition could give.
	 *
	 * @param time the time by which it is found
	 * @param partition its partition
	 * @param name the number of its name
	 * @param due whether it is due already
	 */
	private record Candidate(long time, int partition, int name, boolean due) {

	}

}
