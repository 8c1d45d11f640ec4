package io.timingwheel.spring.actuate;

import java.lang.reflect.Method;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.StoredTasks.StoredTaskCounts;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Meters of the wheel, of delayed tasks, and of the calls that exceeded their limits:
 * {@code timingwheel.tasks.pending}, {@code timingwheel.tasks.lateness} and
 * {@code timingwheel.tasks.duration} by name, {@code timingwheel.tasks} by name and
 * outcome, {@code timingwheel.lag}, and {@code timingwheel.timeouts} by class and method.
 *
 * @since 0.1
 */
public class TimingWheelMetrics implements MeterBinder {

	private final TimingWheel wheel;

	private final DelayedTaskRegistry tasks;

	private final TimeoutMethodRegistry timeouts;

	private final @Nullable StoredTasks storedTasks;

	/**
	 * Creates the binder. There are no stored tasks if {@code storedTasks} is
	 * {@code null}.
	 */
	public TimingWheelMetrics(TimingWheel wheel, DelayedTaskRegistry tasks, TimeoutMethodRegistry timeouts,
			@Nullable StoredTasks storedTasks) {
		this.wheel = wheel;
		this.tasks = tasks;
		this.timeouts = timeouts;
		this.storedTasks = storedTasks;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		TimeGauge
			.builder("timingwheel.lag", this.wheel, TimeUnit.NANOSECONDS, (wheel) -> wheel.snapshot().lag().toNanos())
			.description("How far the wheel is behind its clock")
			.register(registry);
		this.tasks.onName((name) -> bindTo(registry, name));
		this.timeouts.methods().forEach((method) -> timeouts(registry, method));
		this.timeouts.onTimeout((method) -> timeouts(registry, method).increment());
	}

	private void bindTo(MeterRegistry registry, String name) {
		Timer lateness = timer(registry, "lateness", "How long after their due times delayed tasks have begun", name);
		Timer duration = timer(registry, "duration", "How long delayed tasks have run", name);
		this.tasks.recorder(name).onExecution((latenessNanos, durationNanos) -> {
			lateness.record(latenessNanos, TimeUnit.NANOSECONDS);
			duration.record(durationNanos, TimeUnit.NANOSECONDS);
		});
		Gauge.builder("timingwheel.tasks.pending", this, (metrics) -> metrics.pending(name))
			.description("Delayed tasks that have not begun")
			.baseUnit(BaseUnits.TASKS)
			.tag("name", name)
			.register(registry);
		bindTo(registry, name, "completed", TaskCounts::completed);
		bindTo(registry, name, "failed", TaskCounts::failed);
		bindTo(registry, name, "cancelled", TaskCounts::cancelled);
		bindTo(registry, name, "expired", TaskCounts::expired);
		bindTo(registry, name, "replaced", TaskCounts::replaced);
		bindTo(registry, name, "superseded", TaskCounts::superseded);
	}

	private static Timer timer(MeterRegistry registry, String meter, String description, String name) {
		return Timer.builder("timingwheel.tasks." + meter)
			.description(description)
			.tag("name", name)
			.register(registry);
	}

	private double pending(String name) {
		StoredTaskCounts stored = (this.storedTasks != null) ? this.storedTasks.counts().recent().get(name) : null;
		return (stored != null) ? stored.pending() : this.tasks.counts(name).pending();
	}

	private void bindTo(MeterRegistry registry, String name, String outcome, ToLongFunction<TaskCounts> count) {
		FunctionCounter.builder("timingwheel.tasks", this.tasks, (tasks) -> count.applyAsLong(tasks.counts(name)))
			.description("Delayed tasks that have ended")
			.baseUnit(BaseUnits.TASKS)
			.tag("name", name)
			.tag("outcome", outcome)
			.register(registry);
	}

	/** Classes of several packages may have the same simple name. */
	private static Counter timeouts(MeterRegistry registry, Method method) {
		Class<?> type = method.getDeclaringClass();
		return Counter.builder("timingwheel.timeouts")
			.description("Calls that exceeded their limit")
			.baseUnit("calls")
			.tag("class", type.getName())
			.tag("method", type.getSimpleName() + "." + method.getName())
			.register(registry);
	}

}
