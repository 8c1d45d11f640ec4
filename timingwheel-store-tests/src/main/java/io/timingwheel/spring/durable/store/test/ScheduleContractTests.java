package io.timingwheel.spring.durable.store.test;

import java.util.List;
import java.util.UUID;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store promises for recurring tasks: a schedule has one task, whose next run
 * follows from the run before. {@link ModelContractTests} has all changes of schedules.
 *
 * @since 0.1
 */
public abstract class ScheduleContractTests extends StoreContract {

	private static final String DAILY = "cron(0 0 3 * * *, Europe/Berlin)";

	@Test
	void aScheduleIsATaskThatIsFoundByItsKey() {
		Enqueued stored = this.b.store().recur(newSchedule("k", HOURLY, HOUR));
		assertThat(stored).isEqualTo(new Enqueued(Outcome.INSERTED, stored.id(), in(HOUR), now()));
		StoredTask expected = new StoredTask(stored.id(), NAME, "k", in(HOUR), State.SCHEDULED, 1, 0, null,
				new StoredSchedule(HOURLY, in(HOUR)), null);
		for (Target target : List.of(key("k"), schedule("k"), id(stored.id()))) {
			assertThat(this.a.find(target)).isEqualTo(expected);
		}
		assertThat(this.a.pending()).containsExactly(expected);
		assertThat(this.a.has(schedule("l"))).isFalse();
		assertThat(this.a.claim()).isEmpty();
	}

	@Test
	void aRunKeepsTheKeyOfItsSchedule() {
		LeasedTask run = runningSchedule("k");
		assertThat(run).isEqualTo(new LeasedTask(run.id(), run.fence(), NAME, "k", "payload of a run", null, now(),
				true, 1, 1, 0, new StoredSchedule(HOURLY, now())));
		assertThat(this.b.find(schedule("k")).state()).isEqualTo(State.RUNNING);
		assertThat(this.b.move(schedule("k"), HOUR)).as("a run that has begun").isNull();
	}

	@Test
	void aScheduleThatChangesDuringARunBeginsAfterTheRun() {
		LeasedTask run = runningSchedule("k");
		Enqueued changed = this.b.store()
			.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, "k", "new", null, DAILY, DueTime.after(HOUR),
					false));
		assertThat(changed.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(changed.dueAt()).isEqualTo(in(HOUR));
		assertThat(this.a.renew(run)).as("the run goes on").isEqualTo(Reply.DONE);
		assertThat(this.a.repeat(run, DueTime.after(NOW))).isEqualTo(Reply.DONE);
		assertThat(this.b.find(schedule("k"))).isEqualTo(new StoredTask(run.id(), NAME, "k", in(HOUR), State.SCHEDULED,
				1, 0, null, new StoredSchedule(DAILY, in(HOUR)), null));
		later(HOUR);
		assertThat(this.b.claim().get(0).payload()).isEqualTo("new");
	}

	@Test
	void theEndOfARunAndTheNextTimeAreOneStep() {
		LeasedTask run = runningSchedule("k");
		long next = in(HOUR);
		assertThat(this.a.repeat(run, at(next))).isEqualTo(Reply.DONE);
		assertThat(this.a.repeat(run, at(next))).as("repeated").isEqualTo(Reply.DONE);
		assertThat(this.b.find(schedule("k"))).isEqualTo(new StoredTask(run.id(), NAME, "k", next, State.SCHEDULED, 1,
				0, null, new StoredSchedule(HOURLY, next), null));
		later(HOUR);
		LeasedTask again = this.b.claim().get(0);
		assertThat(again.fence()).isGreaterThan(run.fence());
		assertThat(again.dueAt()).isEqualTo(next);
		assertThat(again.deliveries()).isEqualTo(1);
		assertThat(this.a.repeat(run, at(next))).as("another node has it").isEqualTo(Reply.REFUSED);
		assertThat(this.b.find(schedule("k")).state()).isEqualTo(State.RUNNING);
	}

	@Test
	void aRunOfACancelledScheduleIsNeitherTriedAgainNorGivenBackNorKept() {
		LeasedTask failed = cancelledRun();
		assertThat(this.a.retry(failed, NOW)).isEqualTo(Reply.SUPERSEDED);
		LeasedTask givenBack = cancelledRun();
		assertThat(this.a.release(givenBack)).isEqualTo(Reply.SUPERSEDED);
		LeasedTask givenUp = cancelledRun();
		assertThat(this.a.bury(givenUp)).isEqualTo(Reply.DONE);
		assertThat(this.b.store().counts(List.of())).isEmpty();
	}

	private LeasedTask cancelledRun() {
		LeasedTask run = runningSchedule("k");
		assertThat(this.b.cancel(schedule("k"))).isTrue();
		return run;
	}

	private Enqueued declare(boolean onlyIfLost) {
		return this.b.store()
			.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, DelayedTaskStore.DECLARED_KEY, "payload", null,
					HOURLY, DueTime.after(NOW), onlyIfLost));
	}

	@Test
	void aDeclaredScheduleThatIsLostIsStoredAgain() {
		assertThat(declare(true).outcome()).isEqualTo(Outcome.INSERTED);
		Enqueued kept = declare(true);
		assertThat(kept.outcome()).isEqualTo(Outcome.PENDING);
		assertThat(kept.id()).isEqualTo(this.a.find(schedule(DelayedTaskStore.DECLARED_KEY)).id());
		LeasedTask run = this.a.claim().get(0);
		assertThat(declare(true).id()).as("it runs").isEqualTo(run.id());
		this.a.repeat(run, DueTime.after(HOUR));
		this.a.store().testing().deleteAll();
		assertThat(declare(true).outcome()).isEqualTo(Outcome.INSERTED);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aDeclaredScheduleThatWasCancelledIsNotLost(boolean running) {
		Target schedule = schedule(DelayedTaskStore.DECLARED_KEY);
		declare(false);
		List<LeasedTask> runs = running ? this.a.claim() : List.of();
		assertThat(this.a.cancel(schedule)).isTrue();
		runs.forEach((run) -> this.a.repeat(run, DueTime.after(HOUR)));
		Enqueued restored = declare(true);
		assertThat(restored.outcome()).isEqualTo(Outcome.PENDING);
		assertThat(restored.id()).isEmpty();
		assertThat(this.a.has(schedule)).isFalse();
		assertThat(declare(false).outcome()).as("it takes the mark away").isEqualTo(Outcome.INSERTED);
	}

}
