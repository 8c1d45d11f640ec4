package io.timingwheel.spring.durable.support;

import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The schedules of a node that starts while a part of its store does not answer, and of a
 * store that loses schedules.
 */
@ExtendWith(OutputCaptureExtension.class)
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
	}

	@Test
	void whatTheStoreHasLostIsStoredAgainWithinAMinute(CapturedOutput output) {
		declare("a", "b", "c");
		this.schedules.start();
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.stored).containsExactly("a", "b", "c");
		assertThat(output).doesNotContain("had lost");
		this.stored.removeAll(List.of("a", "b"));
		this.unreachable.add("b");
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.stored).containsExactly("c", "a");
		this.unreachable.clear();
		this.stored.remove("a");
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.stored).containsExactly("c", "a", "b");
		this.time.advance(Duration.ofMinutes(5));
		assertThat(output).containsOnlyOnce("had lost the schedules of [name],")
			.containsOnlyOnce("had lost the schedules of [name, name],");
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

	private static StoredTask found(String key) {
		return new StoredTask("id", "name", key, 0, StoredTask.State.PENDING, 1, 0, null,
				new StoredSchedule("every PT1H", 0), null);
	}

	private DelayedTaskStore store() {
		return (DelayedTaskStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("find")) {
						String key = ((TaskId) arguments[0]).key();
						return Optional.of(key).filter(this.stored::contains).map(DeclaredSchedulesTests::found);
					}
					NewSchedule schedule = (NewSchedule) arguments[0];
					if (this.unreachable.contains(schedule.key())) {
						throw new IllegalStateException("This part does not answer");
					}
					this.stored.add(schedule.key());
					return method.getName().equals("restore") ? (Object) true
							: new Enqueued(Outcome.INSERTED, schedule.id(), 0, HOUR.toMillis(), 0, false);
				});
	}

}
