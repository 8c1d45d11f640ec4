package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.redis.TaskFields.Timed;
import org.jspecify.annotations.Nullable;

/**
 * Claims from all partitions at once, a fair share from each; those that have more give
 * what is missing in a second round, the earliest first. Which partitions get what a
 * share leaves over goes round. If there are fewer tasks to claim than partitions, the
 * first round only looks, so that these are the earliest of all.
 */
final class ClaimRounds {

	/** Of how many more tasks a partition tells that gives some. */
	private static final int TOLD = 2;

	private final PartitionOutages scripts;

	private final int partitions;

	private final boolean cluster;

	private final AtomicInteger turn = new AtomicInteger();

	ClaimRounds(PartitionOutages scripts, int partitions, boolean cluster) {
		this.scripts = scripts;
		this.partitions = partitions;
		this.cluster = cluster;
	}

	Claimed claim(ClaimRequest request, long offset) {
		return new Rounds(request, offset).run();
	}

	private final class Rounds {

		private final int count = ClaimRounds.this.partitions;

		private final ClaimRequest request;

		private final long offset;

		private final int first = Math.floorMod(ClaimRounds.this.turn.getAndIncrement(), this.count);

		/** What each partition could give beyond what it gave. */
		private final long[][] more = new long[this.count][];

		/** When each has the first task that it cannot give yet. */
		private final long[] later = new long[this.count];

		private final List<Timed<LeasedTask>> tasks = new ArrayList<>();

		private long now;

		private boolean reached;

		private @Nullable RuntimeException failure;

		Rounds(ClaimRequest request, long offset) {
			this.request = request;
			this.offset = offset;
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
			this.tasks.sort(Comparator.comparingLong(Timed::time));
			return new Claimed(this.tasks.stream().map(Timed::value).toList(), this.now, nextAt());
		}

		private boolean hasMore() {
			return Arrays.stream(this.more).anyMatch((times) -> times.length > 0);
		}

		private void ask(int[] shares, int told, boolean onlyShares) {
			List<ScriptCall> calls = new ArrayList<>();
			for (int i = 0; i < this.count; i++) {
				int partition = (this.first + i) % this.count;
				if (shares[partition] > 0 || !onlyShares) {
					calls.add(call(partition, shares[partition], told));
				}
			}
			List<ScriptReply> replies = ClaimRounds.this.scripts.run(calls);
			for (int i = 0; i < calls.size(); i++) {
				read(calls.get(i).partition(), replies.get(i));
			}
		}

		private ScriptCall call(int partition, int share, int told) {
			return ScriptCall
				.of(Script.CLAIM, partition, this.offset, share, told, Times.millis(this.request.lookAhead()),
						Times.millis(this.request.lease()), this.request.maxPayloadBytes())
				.with(this.request.names().toArray());
		}

		private void read(int partition, ScriptReply reply) {
			this.more[partition] = new long[0];
			if (reply.failure() != null) {
				// What the others gave is leased, so it is worth more than an exception.
				this.failure = reply.failure();
				return;
			}
			Fields fields = reply.fields();
			long now = fields.number(0);
			// The latest time of one clock, the earliest of several.
			this.now = (this.reached && ClaimRounds.this.cluster) ? Math.min(this.now, now) : Math.max(this.now, now);
			this.reached = true;
			this.later[partition] = (fields.number(1) >= 0) ? fields.number(1) : Long.MAX_VALUE;
			Fields times = fields.fields(2);
			this.more[partition] = new long[times.size()];
			for (int i = 0; i < times.size(); i++) {
				this.more[partition][i] = times.number(i);
			}
			for (int i = 3; i < fields.size(); i++) {
				Fields task = fields.fields(i);
				this.tasks.add(new Timed<>(TaskFields.foundAt(task), TaskFields.leased(partition, task)));
			}
		}

		/**
		 * Shares for the earliest tasks that are known of, and for what is missing then
		 * from those partitions that may have still more.
		 */
		private int[] allot(int missing) {
			int[] shares = new int[this.count];
			List<Timed<Integer>> known = new ArrayList<>();
			List<Integer> rich = new ArrayList<>();
			for (int i = 0; i < this.count; i++) {
				int partition = (this.first + i) % this.count;
				for (long time : this.more[partition]) {
					known.add(new Timed<>(time, partition));
				}
				if (this.more[partition].length > 0) {
					rich.add(partition);
				}
			}
			known.sort(Comparator.comparingLong(Timed::time));
			int left = missing;
			for (Timed<Integer> one : known.subList(0, Math.min(missing, known.size()))) {
				shares[one.value()]++;
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

}
