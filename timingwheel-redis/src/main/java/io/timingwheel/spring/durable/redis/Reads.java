package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.Forecast.DueCounts;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.Position;
import io.timingwheel.spring.durable.store.TaskLimits;

/** What operators read of the partitions that answer. Thread-safe. */
final class Reads {

	private static final int COUNTS_WIDTH = 5;

	private final Partitions partitions;

	private final PartitionOutages scripts;

	Reads(Partitions partitions, PartitionOutages scripts) {
		this.partitions = partitions;
		this.scripts = scripts;
	}

	ListQuery.Page list(ListQuery query) {
		int limit = query.limit();
		Call call = Script.LIST.on(this.partitions.of(query.name()), query.name(), query.order(), limit + 1);
		Position after = query.after();
		if (after != null) {
			call.with(after.time(), Partitions.localId(after.id()));
		}
		Comparator<Position> byPosition = Comparator.comparingLong(Position::time)
			.thenComparing((position) -> Partitions.bytes(Partitions.localId(position.id())), Arrays::compareUnsigned);
		Comparator<Position> inOrder = (query.order() == Order.DEAD_LATEST_FIRST) ? byPosition.reversed() : byPosition;
		List<StoredTask> tasks = this.scripts.run(List.of(call))
			.get(0)
			.lists(0)
			.stream()
			.flatMap((list) -> list.lists(0).stream())
			.map(ScriptReply::storedTask)
			.filter((task) -> after == null || inOrder.compare(task.position(), after) > 0)
			.sorted(Comparator.comparing(StoredTask::position, inOrder))
			.toList();
		return new ListQuery.Page(tasks.subList(0, Math.min(limit, tasks.size())), tasks.size() > limit);
	}

	Map<String, StoredCounts> counts(Collection<String> names) {
		List<Call> calls = names.isEmpty() ? Script.COUNTS.onEach(this.partitions)
				: onEach(Script.COUNTS, names.stream().distinct().filter(TaskLimits::isStorableName).toList());
		Map<String, StoredCounts> counts = new TreeMap<>();
		for (ScriptReply reply : this.scripts.answers(calls)) {
			for (int i = 0; i < reply.size(); i += COUNTS_WIDTH) {
				counts.put(reply.text(i), new StoredCounts(reply.number(i + 1), reply.number(i + 2),
						reply.number(i + 3), reply.number(i + 4)));
			}
		}
		counts.values().removeIf(StoredCounts.NONE::equals);
		return counts;
	}

	/** Calls on the partitions of some names, which are the last arguments. */
	private List<Call> onEach(Script script, Collection<String> names, Object... arguments) {
		Map<Integer, Call> calls = new TreeMap<>();
		names.forEach((name) -> calls
			.computeIfAbsent(this.partitions.of(name), (partition) -> script.on(partition, arguments))
			.with(name));
		return List.copyOf(calls.values());
	}

	Forecast forecast(Forecast.Query query) {
		long from = now();
		Map<String, DueCounts> counts = new HashMap<>();
		List<Call> calls = onEach(Script.FORECAST, query.pending().keySet(), from, query.span(), query.spans());
		for (ScriptReply reply : this.scripts.answers(calls)) {
			for (int i = 0; i < reply.size(); i += 2) {
				counts.put(reply.text(i), new DueCounts(reply.list(i + 1).numbers(), false));
			}
		}
		return new Forecast(from, counts);
	}

	long now() {
		int partition = this.scripts.open().get(0);
		return this.scripts.run(List.of(Script.CLAIM.on(partition, Claim.NOTHING))).get(0).number(0);
	}

	void heartbeat(NodeState state) {
		int partition = this.partitions.of(state.nodeId());
		Call call = Script.NODES.on(partition, DelayedTaskStore.NODE_RETENTION, state.nodeId(), state.activity(),
				state.inFlight());
		RuntimeException failure = this.scripts.run(List.of(call)).get(0).failure();
		if (failure != null && this.scripts.partial() == null) {
			throw failure;
		}
	}

	List<NodeState.Reported> nodes() {
		List<Call> calls = Script.NODES.onEach(this.partitions, DelayedTaskStore.NODE_RETENTION);
		List<NodeState.Reported> nodes = new ArrayList<>();
		for (ScriptReply reply : this.scripts.answers(calls)) {
			for (int i = 0; i < reply.size(); i += 4) {
				NodeState state = new NodeState(reply.text(i), NodeState.Activity.valueOf(reply.text(i + 1)),
						reply.integer(i + 2));
				nodes.add(new NodeState.Reported(state, Duration.ofMillis(reply.number(i + 3))));
			}
		}
		return nodes.stream()
			.sorted(Comparator.comparing(NodeState.Reported::age).thenComparing((node) -> node.state().nodeId()))
			.limit(DelayedTaskStore.MAX_NODES)
			.toList();
	}

}
