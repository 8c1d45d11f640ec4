package io.timingwheel.spring.actuate;

import java.util.Collection;
import java.util.Map;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.durable.support.NodeFigures;
import io.timingwheel.spring.durable.support.StoredTaskReader;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;

/**
 * Meters of durable tasks, {@code timingwheel.store.*}: how many tasks are stored under
 * each name, in counts that are at most a few seconds old, and the work of this node.
 *
 * @since 0.1
 */
public class StoreMetrics implements MeterBinder {

	private final DurableTaskManager durableTasks;

	private final DelayedTaskRegistry tasks;

	private final int maxNames;

	/**
	 * Creates the binder.
	 * @param durableTasks the durable tasks
	 * @param tasks gives the names
	 * @param maxNames how many names of tasks become tags, at least 1. All further names
	 * share the last one of these tags, {@code other}
	 */
	public StoreMetrics(DurableTaskManager durableTasks, DelayedTaskRegistry tasks, int maxNames) {
		this.durableTasks = durableTasks;
		this.tasks = tasks;
		this.maxNames = maxNames;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("timingwheel.store.up", this.durableTasks, (durable) -> durable.storeError().isEmpty() ? 1 : 0)
			.description("How many stores this node can reach: 1, or 0 during an outage")
			.baseUnit("stores")
			.register(registry);
		Gauge.builder("timingwheel.store.in.flight", this.durableTasks, DurableTaskManager::inFlight)
			.description("Durable tasks that this node has claimed and that wait or run")
			.baseUnit(BaseUnits.TASKS)
			.register(registry);
		Gauge.builder("timingwheel.store.unknown", this.durableTasks.storedTasks(), StoredTaskReader::unknownCount)
			.description("Pending durable tasks for which this node has no handler")
			.baseUnit(BaseUnits.TASKS)
			.register(registry);
		bindTo(registry, "claims", "Requests for durable tasks", "requests", NodeFigures::claims);
		bindTo(registry, "claimed", "Durable tasks that this node has claimed", BaseUnits.TASKS, NodeFigures::claimed);
		bindTo(registry, "retries", "Failures that led to another attempt", "failures", NodeFigures::retried);
		bindTo(registry, "released", "Durable tasks that this node has claimed and returned to the store",
				BaseUnits.TASKS, NodeFigures::released);
		bindTo(registry, "refused", "Durable tasks that were cancelled or moved before they began", BaseUnits.TASKS,
				NodeFigures::refusedBegins);
		bindTo(registry, "leases.lost", "Leases that ended before their tasks were settled", "leases",
				NodeFigures::lostLeases);
		bindToDeleted(registry, "retention", (durable) -> durable.figures().expiredDead());
		bindToDeleted(registry, "limit", (durable) -> durable.deadTasks().dropped());
		NameTags tags = new NameTags(this.maxNames, (tag, names) -> {
			bindTo(registry, tag, names, "overdue", "Stored tasks that are past their due time and have not begun",
					StoredCounts::overdue);
			bindTo(registry, tag, names, "dead", "Stored tasks that have failed for good", StoredCounts::dead);
		});
		this.tasks.onName((name) -> {
			if (this.durableTasks.owns(name)) {
				tags.add(name);
			}
		});
	}

	private void bindToDeleted(MeterRegistry registry, String reason, ToLongFunction<DurableTaskManager> count) {
		FunctionCounter.builder("timingwheel.store.dead.deleted", this.durableTasks, count::applyAsLong)
			.description("Dead tasks that this node has deleted at the end of their retention, or beyond the limit")
			.tag("reason", reason)
			.baseUnit(BaseUnits.TASKS)
			.register(registry);
	}

	private void bindTo(MeterRegistry registry, String meter, String description, String unit,
			ToLongFunction<NodeFigures> figure) {
		FunctionCounter.builder("timingwheel.store." + meter, this.durableTasks.figures(), figure::applyAsLong)
			.description(description)
			.baseUnit(unit)
			.register(registry);
	}

	private void bindTo(MeterRegistry registry, String tag, Collection<String> names, String meter, String description,
			ToLongFunction<StoredCounts> count) {
		Gauge
			.builder("timingwheel.store." + meter, this.durableTasks.storedTasks(),
					(stored) -> sum(stored.recentCounts(), names, count))
			.description(description)
			.baseUnit(BaseUnits.TASKS)
			.tag("name", tag)
			.register(registry);
	}

	private static long sum(Map<String, StoredCounts> counts, Collection<String> names,
			ToLongFunction<StoredCounts> count) {
		return names.stream()
			.mapToLong((name) -> count.applyAsLong(counts.getOrDefault(name, StoredCounts.NONE)))
			.sum();
	}

}
