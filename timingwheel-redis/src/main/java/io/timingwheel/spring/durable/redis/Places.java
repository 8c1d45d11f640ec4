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
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.StartLimits;

/**
 * The places of limited names. A name has a number of places for the tasks that run at
 * once on all nodes. All places of a name are in one key, in the partition of the name,
 * so their number is exact over all partitions. The head of a task has its place.
 *
 * <p>
 * A place has a lease. A body runs only while its node knows that neither the lease of
 * the task nor that of its place has ended:
 * <ol>
 * <li>to start: take a place, then begin the task, unless the place has ended,</li>
 * <li>to renew: renew the task, then its place; the reply to the node is that of the
 * second step,</li>
 * <li>to end: settle the task, then give its place back.</li>
 * </ol>
 * If a reply is lost, or the node ends between two steps, the place stays taken until its
 * lease ends. Thread-safe.
 */
final class Places {

	private final Partitions partitions;

	private final PartitionOutages scripts;

	/**
	 * Random, so that no two nodes take the same place. Redis compares, copies and logs
	 * the id of each place several times, so ids are short.
	 */
	private final String prefix = Long.toUnsignedString(UUID.randomUUID().getLeastSignificantBits(), 36) + ":";

	private final AtomicLong number = new AtomicLong();

	Places(Partitions partitions, PartitionOutages scripts) {
		this.partitions = partitions;
		this.scripts = scripts;
	}

	/**
	 * Takes places, and starts from the rates.
	 * @return the reply for each name
	 */
	List<Grant> take(List<Wanted> wanted, Duration lease) {
		List<Call> calls = new ArrayList<>();
		List<Long> first = new ArrayList<>();
		for (Wanted one : wanted) {
			StartLimits limits = one.limits();
			int count = one.tasks().size();
			long number = this.number.getAndAdd(count);
			first.add(number);
			calls.add(call("take", one.name()).with(limits.concurrent(), limits.intervalMicros(), limits.burst(),
					one.left(), lease, count, this.prefix, number));
		}
		List<ScriptReply> replies = this.scripts.run(calls);
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			grants.add(new Grant(wanted.get(i), (wanted.get(i).limits().concurrent() > 0) ? this.prefix : "",
					first.get(i), replies.get(i)));
		}
		return grants;
	}

	/**
	 * Gives back places, and starts, that were not used. A place that could not be given
	 * back is free when its lease ends.
	 * @param from the first place, counted from the first one of the grant
	 * @param to the place behind the last one
	 */
	void giveBack(Grant grant, int from, int to) {
		Wanted wanted = grant.wanted();
		run(List.of(call("free", wanted.name()).with((to - from) * wanted.limits().intervalMicros(), grant.nextStart())
			.with(IntStream.range(from, to).mapToObj((i) -> this.prefix + (grant.first() + i)).toArray())));
	}

	/**
	 * Gives back the places of tasks that have ended.
	 */
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
	 * The place of a task.
	 *
	 * @param position the position of the task in the call of the node
	 */
	record Held(int position, String name, String place) {

	}

	/**
	 * The places that were taken.
	 *
	 * @param prefix what their ids begin with, empty if the tasks need none
	 * @param first the number of the first place
	 * @param reply the reply of the script, or its failure
	 */
	record Grant(Wanted wanted, String prefix, long first, ScriptReply reply) {

		/**
		 * How many places were taken, 0 if the partition of the name does not answer.
		 */
		int taken() {
			return (this.reply.failure() != null) ? 0 : this.reply.integer(0);
		}

		/**
		 * How many further starts the rate allows.
		 */
		int starts() {
			return this.reply.integer(1);
		}

		/**
		 * The new value of the next start, see {@link StartLimits}.
		 */
		long nextStart() {
			return this.reply.number(2);
		}

	}

}
