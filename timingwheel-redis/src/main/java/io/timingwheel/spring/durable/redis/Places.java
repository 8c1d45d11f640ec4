package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.redis.Script.Call;

/**
 * The places that this node has taken. A limited name has a number of places for the
 * tasks that run at once on all nodes. All places of a name are in one key, so their
 * number is exact over all partitions.
 *
 * <p>
 * A place has a lease. A task never runs without a place, by the clock of Redis: the
 * lease of the task ends at the same time as the lease of its place. So the order of the
 * writes is:
 * <ol>
 * <li>to start: take a place, then begin the task with the end of the place,</li>
 * <li>to renew: renew the place, then renew the task with the new end of the place,</li>
 * <li>to end: acknowledge, repeat, retry, release or bury the task, then give the place
 * back.</li>
 * </ol>
 * If a reply is lost, or the node ends between the two writes, the place stays taken
 * after the end of its task, at most until the lease of the place ends. Thread-safe.
 */
final class Places {

	private final Partitions partitions;

	private final PartitionOutages scripts;

	/**
	 * The places of the tasks that this node runs. If the node ends a run because the
	 * lease has ended, and never asks the store about the task again, the entry stays.
	 */
	private final Map<TaskRef, Place> held = new ConcurrentHashMap<>();

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
	 * Takes places, and starts from the rate.
	 * @param wanted how many at most
	 * @param left how many places to leave free
	 */
	Grant take(String name, StartLimits limits, int wanted, int left, Duration lease) {
		List<String> places = new ArrayList<>();
		for (int i = 0; i < wanted; i++) {
			places.add(this.prefix + Long.toString(this.number.getAndIncrement(), 36));
		}
		Call call = call(Script.TAKE_PLACES, name)
			.with(name, limits.concurrent(), limits.intervalMicros(), limits.burst(), left, lease)
			.with(places.toArray());
		ScriptReply reply = this.scripts.run(List.of(call)).get(0);
		return new Grant(reply.number(0), places.subList(0, reply.integer(1)), reply.number(2), reply.integer(3),
				reply.integer(4), reply.number(5), reply.number(6));
	}

	/**
	 * A lease that ends at a time, as an argument of a script.
	 * @param end the end, in milliseconds since the epoch
	 */
	static String until(long end) {
		return "=" + end;
	}

	/**
	 * Remembers the place of a task.
	 */
	void hold(TaskRef task, String name, String place) {
		this.held.put(task, new Place(name, place));
	}

	/**
	 * Gives back places that were not used, with their starts. A place that could not be
	 * given back is free when its lease ends.
	 * @param grant the places that were taken
	 * @param unused those of them that were not used
	 */
	void giveBack(String name, StartLimits limits, Grant grant, List<String> unused) {
		if (!unused.isEmpty()) {
			free(List.of(call(Script.FREE_PLACES, name)
				.with(name, unused.size() * limits.intervalMicros(), grant.nextStart(), grant.givenBack())
				.with(unused.toArray())));
		}
	}

	/**
	 * Gives back the places of tasks that have ended.
	 */
	void ended(List<TaskRef> tasks) {
		Map<String, Call> calls = new HashMap<>();
		for (TaskRef task : tasks) {
			Place place = this.held.remove(task);
			if (place != null) {
				calls.computeIfAbsent(place.name(), (name) -> call(Script.FREE_PLACES, name).with(name, 0, 0, 0))
					.with(place.id());
			}
		}
		if (!calls.isEmpty()) {
			free(List.copyOf(calls.values()));
		}
	}

	private void free(List<Call> calls) {
		try {
			this.scripts.run(calls);
		}
		catch (RuntimeException ex) {
			// The places are free when their leases end
		}
	}

	boolean isHeld(TaskRef task) {
		return !this.held.isEmpty() && this.held.containsKey(task);
	}

	/**
	 * Renews the places of tasks.
	 * @param tasks tasks that have places
	 * @return the tasks whose places were renewed, by the ends of the new leases, in
	 * milliseconds since the epoch. A task whose place was not renewed, because its lease
	 * had ended, has no place any more
	 */
	Map<Long, List<TaskRef>> keep(List<TaskRef> tasks, Duration lease) {
		Map<String, List<TaskRef>> byName = new HashMap<>();
		Map<String, Call> calls = new HashMap<>();
		for (TaskRef task : tasks) {
			Place place = this.held.get(task);
			if (place != null) {
				byName.computeIfAbsent(place.name(), (name) -> new ArrayList<>()).add(task);
				calls.computeIfAbsent(place.name(), (name) -> call(Script.KEEP_PLACES, name).with(lease))
					.with(place.id());
			}
		}
		List<String> names = List.copyOf(byName.keySet());
		List<ScriptReply> replies = this.scripts
			.run(names.stream().map((name) -> Objects.requireNonNull(calls.get(name))).toList());
		Map<Long, List<TaskRef>> kept = new HashMap<>();
		for (int i = 0; i < names.size(); i++) {
			ScriptReply reply = replies.get(i);
			List<TaskRef> ofName = Objects.requireNonNull(byName.get(names.get(i)));
			for (int j = 0; j < ofName.size() && reply.failure() == null; j++) {
				if (reply.flag(j + 1)) {
					kept.computeIfAbsent(reply.number(0), (end) -> new ArrayList<>()).add(ofName.get(j));
				}
				else {
					this.held.remove(ofName.get(j));
				}
			}
		}
		return kept;
	}

	private Call call(Script script, String name) {
		int partition = this.partitions.of(Partitions.bytes(name));
		return script.on(partition).withKeys(this.partitions.limitKeys(partition, name));
	}

	/**
	 * Places that were taken.
	 *
	 * @param now the time, in milliseconds since the epoch
	 * @param places the places
	 * @param ends when their leases end, in milliseconds since the epoch
	 * @param free how many places were free
	 * @param starts how many starts the rate allowed
	 * @param nextStart the new value of the next start, see {@link StartLimits}
	 * @param givenBack the microseconds of all starts of the name that were given back
	 */
	record Grant(long now, List<String> places, long ends, int free, int starts, long nextStart, long givenBack) {

	}

	private record Place(String name, String id) {

	}

}
