package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.redis.ClaimReplies.Candidate;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.StartLimits;

/**
 * The places of limited names: one for each task that may run at once on all nodes. All
 * places of a name are in the partition of the name, so their number is exact.
 *
 * <p>
 * A place has a lease, and a body runs only while its node knows that neither this lease
 * nor that of the task has ended. A node therefore takes a place before it begins the
 * task, renews the task before its place, and gives the place back after it has settled
 * the task. If it fails between two steps, the place is free when its lease ends.
 * Thread-safe.
 */
final class Places {

	private final Partitions partitions;

	private final PartitionOutages scripts;

	/** Differs between nodes. Short, since Redis copies it for each place. */
	private final String prefix = Long.toUnsignedString(UUID.randomUUID().getLeastSignificantBits(), 36) + ":";

	private final AtomicLong number = new AtomicLong();

	Places(Partitions partitions, PartitionOutages scripts) {
		this.partitions = partitions;
		this.scripts = scripts;
	}

	List<Grant> take(List<Wanted> wanted, Duration lease) {
		List<Call> calls = new ArrayList<>();
		List<Long> first = new ArrayList<>();
		for (Wanted one : wanted) {
			StartLimits limits = one.limits();
			int count = one.tasks().size();
			first.add(this.number.getAndAdd(count));
			calls.add(call("take", one.name()).with(limits.concurrent(), limits.intervalMicros(), limits.burst(),
					one.left(), lease, count, this.prefix, first.get(first.size() - 1)));
		}
		Iterator<ScriptReply> replies = this.scripts.run(calls).iterator();
		Iterator<Long> numbers = first.iterator();
		return wanted.stream().map((one) -> new Grant(one, this.prefix, numbers.next(), replies.next())).toList();
	}

	/**
	 * Gives back places, and starts, that were not used.
	 * @param unused their positions in the grant
	 */
	void giveBack(Grant grant, List<Integer> unused) {
		run(List.of(call("free", grant.wanted().name())
			.with(unused.size() * grant.wanted().limits().intervalMicros(), grant.nextStart())
			.with(unused.stream().map(grant::place).toArray())));
	}

	void free(List<Held> ended) {
		run(byName(ended).entrySet()
			.stream()
			.map((one) -> call("free", one.getKey()).with(0, 0).with(places(one.getValue())))
			.toList());
	}

	private void run(List<Call> calls) {
		try {
			this.scripts.run(calls);
		}
		catch (RuntimeException ex) {
			// The places are free when their leases end
		}
	}

	/**
	 * Makes the leases of places last from now.
	 * @return the replies for those that may not be kept
	 */
	Map<Held, Reply> keep(List<Held> held, Duration lease) {
		Map<String, List<Held>> byName = byName(held);
		List<Call> calls = new ArrayList<>();
		byName.forEach((name, ofName) -> calls.add(call("keep", name).with(lease).with(places(ofName))));
		Iterator<ScriptReply> replies = this.scripts.run(calls).iterator();
		Map<Held, Reply> lost = new HashMap<>();
		byName.forEach((name, ofName) -> {
			ScriptReply reply = replies.next();
			for (int i = 0; i < ofName.size(); i++) {
				if (reply.failure() != null || !reply.flag(i)) {
					lost.put(ofName.get(i), (reply.failure() != null) ? Reply.BUSY : Reply.REFUSED);
				}
			}
		});
		return lost;
	}

	private static Map<String, List<Held>> byName(List<Held> held) {
		return held.stream().collect(Collectors.groupingBy(Held::name, LinkedHashMap::new, Collectors.toList()));
	}

	private static Object[] places(List<Held> held) {
		return held.stream().map(Held::place).toArray();
	}

	private Call call(String event, String name) {
		int partition = this.partitions.of(name);
		return Script.PLACES.on(partition, event, name)
			.withKeys(this.partitions.key(partition, "places:" + name), this.partitions.key(partition, "rates"));
	}

	/**
	 * Tasks of a name that need places.
	 *
	 * @param left how many places to leave free
	 */
	record Wanted(String name, StartLimits limits, List<Candidate> tasks, int left) {

	}

	/**
	 * The place of a task, which has this position in the call of the node.
	 */
	record Held(int position, String name, String place) {

	}

	/**
	 * The places that were taken: a prefix with a number from the first one on.
	 */
	record Grant(Wanted wanted, String prefix, long first, ScriptReply reply) {

		String place(int position) {
			return this.prefix + (this.first + position);
		}

		int taken() {
			return (this.reply.failure() != null) ? 0 : this.reply.integer(0);
		}

		int startsLeft() {
			return this.reply.integer(1);
		}

		long nextStart() {
			return this.reply.number(2);
		}

	}

}
