package io.timingwheel.spring.durable.support;

import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.HandOverExecutors;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The schedules of a node that starts while a part of its store does not answer.
 */
class DeclaredSchedulesTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final DueTime NOW = DueTime.after(Duration.ZERO);

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	/** The schedules whose part of the store does not answer. */
	private final Set<String> unreachable = new HashSet<>();

	/** The schedules that were stored, in order. */
	private final List<String> stored = new ArrayList<>();

	private final DeclaredSchedules schedules = new DeclaredSchedules(NodeTurns.simulated(this.wheel),
			new ScheduleEditor(store(), new CallerTransaction(store()), new DurableHandlerRegistry(),
					new DelayedTaskRegistry(this.wheel, this.time, Clock.systemUTC(), new HandOverExecutors(), null,
							null),
					() -> {
					}, Duration.ofSeconds(1)));

	@Test
	void eachScheduleIsStoredOnceAndAPartThatDoesNotAnswerHoldsUpNoOther() {
		declare("a", "b", "c");
		this.unreachable.add("b");
		this.schedules.start();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.stored).containsExactly("a", "c");
		this.unreachable.clear();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.stored).containsExactly("a", "c", "b");
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aSecondStartAndAStopStoreNothing() {
		declare("a", "b");
		this.unreachable.add("b");
		this.schedules.start();
		this.schedules.stop();
		this.unreachable.clear();
		this.schedules.start();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.stored).containsExactly("a");
	}

	private void declare(String... keys) {
		for (String key : keys) {
			this.schedules.add(() -> submission(key), Schedule.every(HOUR), Duration.ZERO);
		}
	}

	private static DurableSubmission submission(String key) {
		return new DurableSubmission(new DurableTaskHandle(null, "name", key, NOW), null, IfPending.REPLACE, null, NOW,
				"{}", null, new Object[0]);
	}

	private DelayedTaskStore store() {
		return (DelayedTaskStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> {
					assertThat(method.getName()).isEqualTo("recur");
					NewSchedule schedule = (NewSchedule) arguments[0];
					if (this.unreachable.contains(schedule.key())) {
						throw new IllegalStateException("This part does not answer");
					}
					this.stored.add(schedule.key());
					return new Enqueued(Outcome.INSERTED, schedule.id(), 0, HOUR.toMillis(), 0, false);
				});
	}

}
