package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.PartlyStoredException;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.IfPending;

import org.springframework.dao.QueryTimeoutException;

/**
 * A store in memory that takes part in no transaction, to test the callers of a store.
 */
public class MemoryStore extends InMemoryTaskStore {

	/** All tasks that were ever stored, by their ids. */
	private final Map<String, NewTask> stored = Collections.synchronizedMap(new LinkedHashMap<>());

	private final Set<String> refused = Collections.synchronizedSet(new HashSet<>());

	private final List<List<String>> counted = new CopyOnWriteArrayList<>();

	private volatile PartialOutage partialOutage;

	/** {@code null} makes the part available again. */
	public void partialOutage(PartialOutage outage) {
		this.partialOutage = outage;
	}

	@Override
	public PartialOutage partialOutage() {
		return this.partialOutage;
	}

	@Override
	public ListQuery.Page list(ListQuery query) {
		if (this.partialOutage != null) {
			throw new QueryTimeoutException("no answer");
		}
		return super.list(query);
	}

	/**
	 * Makes the store refuse to store tasks with these keys, and to cancel tasks with
	 * these names.
	 */
	public void refuse(String... keysAndNames) {
		this.refused.addAll(List.of(keysAndNames));
	}

	/** Stores a task as another node would. */
	public void insert(String name, String key, String payload) {
		enqueueOne(new NewTask(UUID.randomUUID().toString(), name, key, payload, null, new DueTime(0, false),
				IfPending.REPLACE, null));
	}

	public List<String> payloads(String name) {
		return List.copyOf(this.stored.values())
			.stream()
			.filter((task) -> task.name().equals(name) && find(Target.of(task.id())).isPresent())
			.map(NewTask::payload)
			.toList();
	}

	private Enqueued enqueueOne(NewTask task) {
		Enqueued enqueued = super.enqueue(List.of(task)).get(0);
		if (enqueued.outcome() != Enqueued.Outcome.PENDING) {
			this.stored.put(task.id(), task);
		}
		return enqueued;
	}

	/** Stores tasks like a store with partitions when some partitions do not answer. */
	@Override
	public List<Enqueued> enqueue(List<NewTask> requests) {
		RuntimeException failure = new IllegalStateException("refused");
		List<Enqueued> enqueued = new ArrayList<>();
		for (NewTask request : requests) {
			enqueued.add(this.refused.contains(request.key()) ? null : enqueueOne(request));
		}
		if (enqueued.stream().allMatch(Objects::isNull)) {
			throw failure;
		}
		if (enqueued.contains(null)) {
			throw new PartlyStoredException(enqueued, failure);
		}
		return enqueued;
	}

	@Override
	public synchronized boolean cancel(Target target) {
		if (target instanceof Target.ByKey byKey && this.refused.contains(byKey.taskId().name())) {
			throw new IllegalStateException("refused");
		}
		return super.cancel(target);
	}

	@Override
	public Map<String, StoredCounts> counts(Collection<String> names) {
		this.counted.add(List.copyOf(names));
		return super.counts(names);
	}

	public int countsOfAllNames() {
		return (int) this.counted.stream().filter(List::isEmpty).count();
	}

	/** The names that were counted without the others, by call. */
	public List<List<String>> countedNames() {
		return this.counted.stream().filter((names) -> !names.isEmpty()).toList();
	}

	public List<StoredTask> dead(String name, int limit) {
		return list(new ListQuery(name, ListQuery.Order.DEAD_LATEST_FIRST, null, limit)).tasks();
	}

	public List<StoredTask> pending(String name, int limit) {
		return list(new ListQuery(name, ListQuery.Order.PENDING, null, limit)).tasks();
	}

	public Set<String> pausedNames() {
		return claim(new ClaimRequest("test", Map.of(), 1, false, Duration.ZERO, Duration.ofSeconds(1), 0))
			.pausedNames();
	}

	/** Makes the clock differ from that of the JVM. */
	public void setClockOffset(Duration offset) {
		testing().setClock(() -> System.currentTimeMillis() + offset.toMillis());
	}

	@Override
	public List<NodeState.Reported> nodes() {
		return super.nodes().stream()
			.map((node) -> new NodeState.Reported(node.state(), Duration.ofSeconds(2)))
			.toList();
	}

}
