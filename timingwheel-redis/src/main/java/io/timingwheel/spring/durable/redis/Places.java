package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.redis.Script.Call;
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
	 * @return the reply for each request
	 */
	List<Grant> take(List<Request> requests, Duration lease) {
		List<Call> calls = new ArrayList<>();
		List<Long> first = new ArrayList<>();
		for (Request request : requests) {
			StartLimits limits = request.limits();
			long number = this.number.getAndAdd(request.wanted());
			first.add(number);
			calls.add(call("take", request.name()).with(limits.concurrent(), limits.intervalMicros(), limits.burst(),
					request.left(), lease, request.wanted(), this.prefix, number));
		}
		List<ScriptReply> replies = this.scripts.run(calls);
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			grants.add(new Grant(requests.get(i), (requests.get(i).limits().concurrent() > 0) ? this.prefix : "",
					first.get(i), replies.get(i)));
		}
		return grants;
	}

	/**
	 * Gives back places, and starts, that were not used. A place that could not be given
	 * back is free when its lease ends.
	 * @param unused the numbers of the places
	 */
	void giveBack(Grant grant, List<Long> unused) {
		run(List.of(call("free", grant.request().name())
			.with(unused.size() * grant.request().limits().intervalMicros(), grant.nextStart())
			.with(unused.stream().map((number) -> this.prefix + number).toArray())));
	}

	/**
	 * Gives back the places of tasks that have ended.
	 * @param places the places by name
	 */
	void free(Map<String, List<String>> places) {
		List<Call> calls = new ArrayList<>();
		places.forEach((name, ofName) -> calls.add(call("free", name).with(0, 0).with(ofName.toArray())));
		run(calls);
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
	 * @param places the places by name
	 * @return the replies by name, with 1 or 0 for each place
	 */
	Map<String, ScriptReply> keep(Map<String, List<String>> places, Duration lease) {
		List<String> names = List.copyOf(places.keySet());
		List<ScriptReply> replies = this.scripts.run(names.stream()
			.map((name) -> call("keep", name).with(lease).with(places.getOrDefault(name, List.of()).toArray()))
			.toList());
		Map<String, ScriptReply> byName = new HashMap<>();
		for (int i = 0; i < names.size(); i++) {
			byName.put(names.get(i), replies.get(i));
		}
		return byName;
	}

	private Call call(String event, String name) {
		int partition = this.partitions.of(name);
		return Script.PLACES.on(partition, event, name)
			.withKeys(this.partitions.key(partition, "places:" + name), this.partitions.key(partition, "rates"));
	}

	/**
	 * The places of the tasks of a call.
	 *
	 * @param prefix what the ids of the places begin with, empty if the tasks need none
	 * @param first the number of the first place
	 */
	record Hold(String prefix, long first) {

		static final Hold NONE = new Hold("", 0);

	}

	/**
	 * The request for places.
	 *
	 * @param name the limited name
	 * @param limits its limits
	 * @param wanted how many places at most
	 * @param left how many places to leave free
	 */
	record Request(String name, StartLimits limits, int wanted, int left) {

	}

	/**
	 * The places that were taken.
	 *
	 * @param request the request
	 * @param prefix what their ids begin with, empty if the tasks need none
	 * @param first the number of the first place
	 * @param reply the reply of the script, or its failure
	 */
	record Grant(Request request, String prefix, long first, ScriptReply reply) {

		/**
		 * How many places were taken, 0 if the partition of the name does not answer.
		 */
		int taken() {
			return (this.reply.failure() != null) ? 0 : this.reply.integer(0);
		}

		/**
		 * The places without the first ones.
		 * @param from how many that are
		 */
		Hold hold(int from) {
			return new Hold(this.prefix, this.first + from);
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
