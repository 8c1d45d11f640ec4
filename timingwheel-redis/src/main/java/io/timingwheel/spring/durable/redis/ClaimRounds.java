package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Claims tasks from all partitions at once. In the first round each partition gives at
 * most its share of the limit, and the times of a few more tasks. In further rounds the
 * partitions with more tasks give the missing tasks, the earliest tasks first.
 *
 * <p>
 * If the limit is less than the number of partitions, the first round leases nothing and
 * only asks for times, so that the claim gives the earliest tasks of all partitions. If
 * the limit cannot be divided evenly, each claim gives the remainder to other partitions.
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
		return new Rounds(request).run();
	}

	private final class Rounds {

		private final int count = ClaimRounds.this.partitions;

		private final ClaimRequest request;

		/** The partition that comes first in this claim. */
		private final int first = Math.floorMod(ClaimRounds.this.turn.getAndIncrement(), this.count);

		/** By partition: the times of the further tasks that it could give. */
		private final long[][] more = new long[this.count][];

		/** By partition: the time of the first task that it cannot give yet. */
		private final long[] later = new long[this.count];

		private final List<ScriptReply> tasks = new ArrayList<>();

		private long now;

		private boolean reached;

		private @Nullable RuntimeException failure;

		Rounds(ClaimRequest request) {
			this.request = request;
			Arrays.fill(this.more, new long[0]);
			Arrays.fill(this.later, Long.MAX_VALUE);
		}

		Claimed run() {
			int limit = this.request.limit();
			int share = limit / this.count;
			int[] shares = new int[this.count];
			Arrays.fill(shares, share);
			for (int i = 0; share > 0 && i < limit % this.count; i++) {
				shares[(this.first + i) % this.count]++;
			}
			ask(shares, (share > 0) ? TOLD : limit, false);
			while (this.tasks.size() < limit && hasMore()) {
				ask(allot(limit - this.tasks.size()), TOLD, true);
			}
			if (this.failure != null && !this.reached) {
				throw this.failure;
			}
			this.tasks.sort(Comparator.comparingLong(Rounds::foundAt));
			return new Claimed(this.tasks.stream().map(ScriptReply::leasedTask).toList(), this.now, nextAt());
		}

		/**
		 * The time in the index by which the claim found a task.
		 */
		private static long foundAt(ScriptReply task) {
			return task.number(10);
		}

		private boolean hasMore() {
			return Arrays.stream(this.more).anyMatch((times) -> times.length > 0);
		}

		private void ask(int[] shares, int told, boolean onlyShares) {
			List<Call> calls = new ArrayList<>();
			for (int i = 0; i < this.count; i++) {
				int partition = (this.first + i) % this.count;
				if (shares[partition] > 0 || !onlyShares) {
					calls.add(call(partition, shares[partition], told));
				}
			}
			ClaimRounds.this.scripts.run(calls).forEach(this::read);
		}

		private Call call(int partition, int share, int told) {
			return Script.CLAIM
				.on(partition, share, told, this.request.lookAhead(), this.request.lease(),
						this.request.maxPayloadBytes())
				.with(this.request.names().toArray());
		}

		private void read(ScriptReply reply) {
			int partition = reply.partition();
			this.more[partition] = new long[0];
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
			this.later[partition] = (reply.number(1) >= 0) ? reply.number(1) : Long.MAX_VALUE;
			ScriptReply times = reply.list(2);
			this.more[partition] = new long[times.size()];
			for (int i = 0; i < times.size(); i++) {
				this.more[partition][i] = times.number(i);
			}
			for (int i = 3; i < reply.size(); i++) {
				this.tasks.add(reply.list(i));
			}
		}

		/**
		 * Gives each partition a share for each of the earliest tasks whose times are
		 * known. If these are too few, the partitions that may have more tasks share the
		 * rest evenly.
		 */
		private int[] allot(int missing) {
			int[] shares = new int[this.count];
			List<Candidate> known = new ArrayList<>();
			List<Integer> rich = new ArrayList<>();
			for (int i = 0; i < this.count; i++) {
				int partition = (this.first + i) % this.count;
				for (long time : this.more[partition]) {
					known.add(new Candidate(time, partition));
				}
				if (this.more[partition].length > 0) {
					rich.add(partition);
				}
			}
			known.sort(Comparator.comparingLong(Candidate::time));
			int left = missing;
			for (Candidate one : known.subList(0, Math.min(missing, known.size()))) {
				shares[one.partition()]++;
				left--;
			}
			for (int i = 0; i < left; i++) {
				shares[rich.get(i % rich.size())]++;
			}
			return shares;
		}

		private long nextAt() {
			long next = Arrays.stream(this.later).min().orElse(Long.MAX_VALUE);
			for (long[] times : this.more) {
				next = (times.length > 0) ? Math.min(next, times[0]) : next;
			}
			return next;
		}

	}

	/**
	 * A task that a partition could give.
	 *
	 * @param time the time by which it is found
	 * @param partition its partition
	 */
	private record Candidate(long time, int partition) {

	}

}
