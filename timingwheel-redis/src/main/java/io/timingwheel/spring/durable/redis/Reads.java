package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
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

/**
 * What operators read of all partitions that answer: pages, counts, forecasts, and the
 * reports of the nodes. Thread-safe.
 */
final class Reads {

	/** A script that reads more tasks would hold up Redis. */
	private static final int MAX_PAGE = 5000;

	private static final int COUNTS_WIDTH = 5;

	/** About how many positions the partitions look up for names with many tasks. */
	private static final int MAX_LOOK_UPS = 16_000;

	private static final int FEW = 16;

	private final Partitions partitions;

	private final PartitionOutages scripts;

	Reads(Partitions partitions, PartitionOutages scripts) {
		this.partitions = partitions;
		this.scripts = scripts;
	}

	/**
	 * Reads a page. Each partition gives about its share of twice the limit. The page
	 * ends with the first of the last tasks of the lists that may be cut off.
	 */
	ListQuery.Page list(ListQuery query) {
		int size = 2 * Math.min(query.limit(), MAX_PAGE) / this.partitions.count() + 8;
		String order = switch (query.order()) {
			case PENDING -> "pending";
			case DEAD_OLDEST_FIRST -> "oldest";
			case DEAD_LATEST_FIRST -> "latest";
		};
		List<Call> calls = Script.LIST.onEach(this.partitions, query.name(), order, size);
		Position after = query.after();
		if (after != null) {
			calls.forEach((call) -> call.with(after.time(), Partitions.localId(after.id())));
		}
		Comparator<Position> byPosition = order(query.order());
		List<StoredTask> tasks = new ArrayList<>();
		List<Position> cut = new ArrayList<>();
		for (ScriptReply reply : this.scripts.answers(calls)) {
			for (int i = 0; i < reply.size(); i++) {
				List<StoredTask> list = reply.list(i).lists(0).stream().map(ScriptReply::storedTask).toList();
				if (i < 2 && list.size() >= size) {
					cut.add(list.get(list.size() - 1).position());
				}
				list.stream()
					.filter((task) -> after == null || byPosition.compare(task.position(), after) > 0)
					.forEach(tasks::add);
			}
		}
		Position end = cut.stream().min(byPosition).orElse(null);
		List<StoredTask> page = tasks.stream()
			.filter((task) -> end == null || byPosition.compare(task.position(), end) <= 0)
			.sorted(Comparator.comparing(StoredTask::position, byPosition))
			.limit(query.limit())
			.toList();
		return new ListQuery.Page(page, page.size() < tasks.size() || end != null);
	}

	/**
	 * The order of all partitions, each of which knows only a part of the id.
	 */
	private static Comparator<Position> order(Order order) {
		Comparator<Position> byPosition = Comparator.comparingLong(Position::time)
			.thenComparing((position) -> Partitions.bytes(Partitions.localId(position.id())), Arrays::compareUnsigned)
			.thenComparing(Position::id);
		return (order == Order.DEAD_LATEST_FIRST) ? byPosition.reversed() : byPosition;
	}

	Map<String, StoredCounts> counts(Collection<String> names) {
		Object[] storable = new HashSet<>(names).stream().filter(TaskLimits::isStorableName).toArray();
		Map<String, StoredCounts> counts = new TreeMap<>();
		if (storable.length == 0 && !names.isEmpty()) {
			return counts;
		}
		List<ScriptReply> replies = this.scripts.answers(Script.COUNTS.onEach(this.partitions, storable));
		boolean lowerBounds = replies.size() < this.partitions.count();
		for (ScriptReply reply : replies) {
			for (int i = 0; i < reply.size(); i += COUNTS_WIDTH) {
				StoredCounts count = new StoredCounts(reply.number(i + 1), reply.number(i + 2), reply.number(i + 3),
						reply.number(i + 4), lowerBounds);
				counts.merge(reply.text(i), count, StoredCounts::plus);
			}
		}
		counts.values().removeIf((count) -> count.pending() == 0 && count.running() == 0 && count.dead() == 0);
		return counts;
	}

	/**
	 * Counts the pending tasks in spans. If there are many names, only some partitions
	 * count those with many tasks: a hash spreads the tasks evenly.
	 */
	Forecast forecast(Forecast.Query query) {
		long from = now();
		int count = this.partitions.count();
		List<String> few = new ArrayList<>();
		List<String> many = new ArrayList<>();
		query.pending().forEach((name, pending) -> ((pending <= (long) FEW * count) ? few : many).add(name));
		int asked = Math.max(1, Math.min(count, MAX_LOOK_UPS / (2 * query.spans() * Math.max(1, many.size()))));
		List<String> all = new ArrayList<>(many);
		all.addAll(few);
		List<Call> calls = new ArrayList<>();
		for (int partition = 0; partition < count; partition++) {
			List<String> names = (partition < asked) ? all : few;
			if (!names.isEmpty()) {
				calls.add(Script.FORECAST.on(partition, from, query.span(), query.spans()).with(names.toArray()));
			}
		}
		Map<String, long[]> counts = new LinkedHashMap<>();
		query.pending().keySet().forEach((name) -> counts.put(name, new long[query.spans()]));
		int reached = 0;
		for (ScriptReply reply : calls.isEmpty() ? List.<ScriptReply>of() : this.scripts.answers(calls)) {
			reached += (reply.partition() < asked) ? 1 : 0;
			add(reply, (reply.partition() < asked) ? all : few, counts);
		}
		double factor = (double) count / Math.max(1, reached);
		Map<String, DueCounts> result = new LinkedHashMap<>();
		counts.forEach((name, spans) -> {
			boolean estimated = factor > 1 && many.contains(name);
			result.put(name, new DueCounts(
					Arrays.stream(spans).map((span) -> estimated ? Math.round(span * factor) : span).boxed().toList(),
					estimated));
		});
		return new Forecast(from, result);
	}

	private static void add(ScriptReply reply, List<String> names, Map<String, long[]> counts) {
		int position = 0;
		for (String name : names) {
			long[] spans = counts.getOrDefault(name, new long[0]);
			for (int i = 0; i < spans.length; i++) {
				spans[i] += reply.number(position++);
			}
		}
	}

	long now() {
		int partition = this.scripts.open().get(0);
		return this.scripts.run(List.of(Script.CLAIM.on(partition, Claim.NOTHING))).get(0).number(0);
	}

	void heartbeat(NodeState state) {
		int partition = this.partitions.of(state.nodeId());
		Call call = node(partition).with(state.nodeId(), state.activity(), state.inFlight());
		RuntimeException failure = this.scripts.run(List.of(call)).get(0).failure();
		if (failure != null && this.scripts.partial() == null) {
			throw failure;
		}
	}

	List<NodeState.Reported> nodes() {
		List<Call> calls = new ArrayList<>();
		for (int partition = 0; partition < this.partitions.count(); partition++) {
			calls.add(node(partition));
		}
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

	private Call node(int partition) {
		return Script.NODES.on(partition, DelayedTaskStore.NODE_RETENTION)
			.withKeys(this.partitions.key(partition, "nodes"));
	}

}
