package io.timingwheel.spring.actuate;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.internal.NameTags;
import io.timingwheel.spring.actuate.internal.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Meters of the wheel and of delayed tasks: {@code timingwheel.tasks.pending},
 * {@code timingwheel.tasks.lateness} and {@code timingwheel.tasks.duration} by name,
 * {@code timingwheel.tasks} by name and outcome, and {@code timingwheel.lag}.
 *
 * @since 0.1
 */
public class TimingWheelMetrics implements MeterBinder {

	private final TimingWheel wheel;

	private final DelayedTaskRegistry tasks;

	private final @Nullable StoredTasks storedTasks;

	private final int maxNames;

	/**
	 * Creates the binder.
	 * @param wheel the wheel
	 * @param tasks its tasks
	 * @param storedTasks the stored tasks, {@code null} if there is no store
	 * @param maxNames how many names of tasks become tags, at least 1. All further names
	 * share the last one of these tags, {@code other}
	 */
	public TimingWheelMetrics(TimingWheel wheel, DelayedTaskRegistry tasks, @Nullable StoredTasks storedTasks,
			int maxNames) {
		this.wheel = wheel;
		this.tasks = tasks;
		this.storedTasks = storedTasks;
		this.maxNames = maxNames;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		TimeGauge
			.builder("timingwheel.lag", this.wheel, TimeUnit.NANOSECONDS, (wheel) -> wheel.snapshot().lag().toNanos())
			.description("How far the wheel is behind its clock")
			.register(registry);
		NameTags tags = new NameTags(this.maxNames, (tag, names) -> bindTo(registry, tag, names));
		this.tasks.onName((name) -> bindTimes(registry, name, tags.add(name)));
	}

	private void bindTimes(MeterRegistry registry, String name, String tag) {
		Timer lateness = timer(registry, "lateness", "How long after their due times delayed tasks have begun", tag);
		Timer duration = timer(registry, "duration", "How long delayed tasks have run", tag);
		this.tasks.recorder(name).onExecution((latenessNanos, durationNanos) -> {
			lateness.record(latenessNanos, TimeUnit.NANOSECONDS);
			duration.record(durationNanos, TimeUnit.NANOSECONDS);
		});
	}

	private static Timer timer(MeterRegistry registry, String meter, String description, String tag) {
		return Timer.builder("timingwheel.tasks." + meter).description(description).tag("name", tag).register(registry);
	}

	private void bindTo(MeterRegistry registry, String tag, Collection<String> names) {
		Gauge
			.builder("timingwheel.tasks.pending", this, (metrics) -> names.stream().mapToDouble(metrics::pending).sum())
			.description("Delayed tasks that have not begun")
			.baseUnit(BaseUnits.TASKS)
			.tag("name", tag)
			.register(registry);
		bindTo(registry, tag, names, "completed", TaskCounts::completed);
		bindTo(registry, tag, names, "failed", TaskCounts::failed);
		bindTo(registry, tag, names, "cancelled", TaskCounts::cancelled);
		bindTo(registry, tag, names, "expired", TaskCounts::expired);
		bindTo(registry, tag, names, "replaced", TaskCounts::replaced);
		bindTo(registry, tag, names, "superseded", TaskCounts::superseded);
	}

	private double pending(String name) {
		StoredTaskCounts stored = (this.storedTasks != null) ? this.storedTasks.counts().recent().get(name) : null;
		return (stored != null) ? stored.pending() : this.tasks.counts(name).pending();
	}

	private void bindTo(MeterRegistry registry, String tag, Collection<String> names, String outcome,
			ToLongFunction<TaskCounts> count) {
		FunctionCounter
			.builder("timingwheel.tasks", this.tasks,
					(tasks) -> names.stream().mapToLong((name) -> count.applyAsLong(tasks.counts(name))).sum())
			.description("Delayed tasks that have ended")
			.baseUnit(BaseUnits.TASKS)
			.tag("name", tag)
			.tag("outcome", outcome)
			.register(registry);
	}

}
