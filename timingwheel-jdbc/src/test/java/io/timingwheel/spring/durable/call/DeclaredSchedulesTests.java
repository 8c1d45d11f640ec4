package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The schedules of methods are stored once, and come back if the store has lost them.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeclaredSchedulesTests {

	private static final DueTime NOW = DueTime.after(Duration.ZERO);

	/** The names whose part of the store does not answer. */
	private final Set<String> unreachable = new HashSet<>();

	private final InMemoryTaskStore store = new InMemoryTaskStore() {

		@Override
		public Enqueued recur(NewSchedule schedule) {
			if (DeclaredSchedulesTests.this.unreachable.contains(schedule.name())) {
				throw new IllegalStateException("This part does not answer");
			}
			return super.recur(schedule);
		}

	};

	private final CallParts parts = new CallParts(this.store, new DurableHandlers(), (name) -> new TaskRecorder(),
			System::nanoTime, (name, dueAt, now) -> {
			});

	private final Pending pending = new Pending(this.parts);

	private final Schedules schedules = new Schedules(this.parts);

	@Test
	void eachScheduleIsStoredOnceAndAPartThatDoesNotAnswerHoldsUpNoOther() {
		declare("a", "b", "c");
		this.unreachable.add("b");
		assertThat(this.schedules.lookAfter()).as("the start waits for one failing request at most").isFalse();
		assertThat(this.schedules.lookAfter()).isFalse();
		assertThat(stored()).containsExactly("a", "c");
		this.unreachable.clear();
		assertThat(this.schedules.lookAfter()).isTrue();
		assertThat(stored()).containsExactly("a", "b", "c");
	}

	@Test
	void whatTheStoreHasLostIsStoredAgainWithAWarning(CapturedOutput output) {
		declare("a", "b", "c");
		assertThat(this.schedules.lookAfter()).isTrue();
		assertThat(this.schedules.lookAfter()).isTrue();
		assertThat(output).doesNotContain("had lost");
		this.store.testing().deleteAll();
		this.unreachable.add("b");
		this.schedules.lookAfter();
		assertThat(stored()).containsExactly("a", "c");
		this.unreachable.clear();
		this.schedules.lookAfter();
		assertThat(stored()).containsExactly("a", "b", "c");
		this.schedules.lookAfter();
		assertThat(output).containsOnlyOnce("had lost the schedules of [a, c],")
			.containsOnlyOnce("had lost the schedules of [b],");
	}

	@Test
	void whatIsCancelledStaysCancelled(CapturedOutput output) {
		declare("a", "b");
		this.schedules.lookAfter();
		assertThat(this.store.cancel(target("a"))).isTrue();
		this.schedules.lookAfter();
		assertThat(stored()).containsExactly("b");
		assertThat(output).doesNotContain("had lost");
	}

	private void declare(String... names) {
		for (String name : names) {
			this.schedules.declare(() -> submission(name), Schedule.every(Duration.ofHours(1)), Duration.ZERO);
		}
	}

	private Submission submission(String name) {
		return new Submission(this.pending,
				new NewTask(name, name, DelayedTaskStore.DECLARED_KEY, "{}", null, NOW, IfPending.REPLACE, null),
				Kind.SCHEDULE, null, new Object[0]);
	}

	private List<String> stored() {
		return Stream.of("a", "b", "c").filter((name) -> this.store.find(target(name)).isPresent()).toList();
	}

	private static Target target(String name) {
		return Target.of(new TaskId(name, DelayedTaskStore.DECLARED_KEY), Kind.SCHEDULE);
	}

}
