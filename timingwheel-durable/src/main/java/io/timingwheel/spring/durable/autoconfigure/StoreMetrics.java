package io.timingwheel.spring.durable.autoconfigure;

import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timingwheel.spring.actuate.internal.StoreNode.Figures;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.StoredTasks.StoredTaskCounts;
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
		gauge(registry, "up", "How many stores this node can reach: 1, or 0 during an outage", "stores",
				(stored) -> (stored.node().outage() == null) ? 1 : 0);
		gauge(registry, "in.flight", "Durable tasks that this node has claimed and that wait or run", BaseUnits.TASKS,
				(stored) -> stored.node().inFlight());
		gauge(registry, "unknown", "Pending durable tasks for which this node has no handler", BaseUnits.TASKS,
				(stored) -> stored.counts().unknown());
		counter(registry, "claims", "Requests for durable tasks", "requests", Figures::claims);
		counter(registry, "claimed", "Durable tasks that this node has claimed", BaseUnits.TASKS, Figures::claimed);
		counter(registry, "retries", "Failures that led to another attempt", "failures", Figures::retried);
		counter(registry, "released", "Durable tasks that this node has claimed and returned to the store",
				BaseUnits.TASKS, Figures::released);
		counter(registry, "refused", "Durable tasks that were cancelled or moved before they began", BaseUnits.TASKS,
				Figures::refused);
		counter(registry, "leases.lost", "Leases that ended before their tasks were settled", "leases",
				Figures::lostLeases);
		String deleted = "Dead tasks that this node has deleted at the end of their retention, or beyond the limit";
		counter(registry, "dead.deleted", deleted, BaseUnits.TASKS, Figures::expiredDead, "reason", "retention");
		counter(registry, "dead.deleted", deleted, BaseUnits.TASKS, Figures::droppedDead, "reason", "limit");
		this.tasks.onName((name) -> {
			if (this.storedTasks.owns(name)) {
				gauge(registry, "overdue", "Stored tasks that are past their due time and have not begun",
						BaseUnits.TASKS, (stored) -> counts(stored, name).overdue(), "name", name);
				gauge(registry, "dead", "Stored tasks that have failed for good", BaseUnits.TASKS,
						(stored) -> counts(stored, name).dead(), "name", name);
			}
		});
	}

	private static StoredTaskCounts counts(StoredTasks stored, String name) {
		return stored.counts().recent().getOrDefault(name, StoredTaskCounts.NONE);
	}

	private void gauge(MeterRegistry registry, String meter, String description, String unit,
			ToDoubleFunction<StoredTasks> value, String... tags) {
		Gauge.builder("timingwheel.store." + meter, this.storedTasks, value)
			.description(description)
			.tags(tags)
			.baseUnit(unit)
			.register(registry);
	}

	private void counter(MeterRegistry registry, String meter, String description, String unit,
			ToLongFunction<Figures> figure, String... tags) {
		FunctionCounter
			.builder("timingwheel.store." + meter, this.storedTasks,
					(stored) -> figure.applyAsLong(stored.node().figures()))
			.description(description)
			.tags(tags)
			.baseUnit(unit)
			.register(registry);
	}

}
