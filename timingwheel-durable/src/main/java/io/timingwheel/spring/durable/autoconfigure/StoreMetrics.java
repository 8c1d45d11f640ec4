package io.timingwheel.spring.durable.autoconfigure;

import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timingwheel.spring.actuate.internal.StoreNode.Figures;
import io.timingwheel.spring.actuate.internal.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

/**
 * Meters of durable tasks, {@code timingwheel.store.*}: how many tasks are stored under
 * each name, in counts that are at most a few seconds old, and the work of this node.
 *
 * @since 0.1
 */
public class StoreMetrics implements MeterBinder {

	private final StoredTasks storedTasks;

	private final DelayedTaskRegistry tasks;

	public StoreMetrics(StoredTasks storedTasks, DelayedTaskRegistry tasks) {
		this.storedTasks = storedTasks;
		this.tasks = tasks;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("timingwheel.store.up", this.storedTasks, (stored) -> (stored.node().outage() == null) ? 1 : 0)
			.description("How many stores this node can reach: 1, or 0 during an outage")
			.baseUnit("stores")
			.register(registry);
		Gauge.builder("timingwheel.store.in.flight", this.storedTasks, (stored) -> stored.node().inFlight())
			.description("Durable tasks that this node has claimed and that wait or run")
			.baseUnit(BaseUnits.TASKS)
			.register(registry);
		Gauge.builder("timingwheel.store.unknown", this.storedTasks, (tasks) -> tasks.counts().unknown())
			.description("Pending durable tasks for which this node has no handler")
			.baseUnit(BaseUnits.TASKS)
			.register(registry);
		bindTo(registry, "claims", "Requests for durable tasks", "requests", Figures::claims);
		bindTo(registry, "claimed", "Durable tasks that this node has claimed", BaseUnits.TASKS, Figures::claimed);
		bindTo(registry, "retries", "Failures that led to another attempt", "failures", Figures::retried);
		bindTo(registry, "released", "Durable tasks that this node has claimed and returned to the store",
				BaseUnits.TASKS, Figures::released);
		bindTo(registry, "refused", "Durable tasks that were cancelled or moved before they began", BaseUnits.TASKS,
				Figures::refused);
		bindTo(registry, "leases.lost", "Leases that ended before their tasks were settled", "leases",
				Figures::lostLeases);
		String deleted = "Dead tasks that this node has deleted at the end of their retention, or beyond the limit";
		bindTo(registry, "dead.deleted", deleted, BaseUnits.TASKS, Figures::expiredDead, "reason", "retention");
		bindTo(registry, "dead.deleted", deleted, BaseUnits.TASKS, Figures::droppedDead, "reason", "limit");
		this.tasks.onName((name) -> {
			if (this.storedTasks.owns(name)) {
				bindTo(registry, name, "overdue", "Stored tasks that are past their due time and have not begun",
						StoredTaskCounts::overdue);
				bindTo(registry, name, "dead", "Stored tasks that have failed for good", StoredTaskCounts::dead);
			}
		});
	}

	private void bindTo(MeterRegistry registry, String meter, String description, String unit,
			ToLongFunction<Figures> figure, String... tags) {
		FunctionCounter
			.builder("timingwheel.store." + meter, this.storedTasks,
					(stored) -> figure.applyAsLong(stored.node().figures()))
			.description(description)
			.tags(tags)
			.baseUnit(unit)
			.register(registry);
	}

	private void bindTo(MeterRegistry registry, String name, String meter, String description,
			ToLongFunction<StoredTaskCounts> count) {
		Gauge
			.builder("timingwheel.store." + meter, this.storedTasks,
					(stored) -> count.applyAsLong(stored.counts().recent().getOrDefault(name, StoredTaskCounts.NONE)))
			.description(description)
			.baseUnit(BaseUnits.TASKS)
			.tag("name", name)
			.register(registry);
	}

}
