package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.Settlement.Repeat;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What a store promises for recurring tasks: a schedule has one task, whose next run
 * follows from the run before.
 *
 * @since 0.1
 */
public abstract class ScheduleContractTests extends StoreContract {

	private static final String DAILY = "cron(0 0 3 * * *, Europe/Berlin)";

	private Enqueued recur(String text, Duration first) {
		return recur("payload of a run", text, first);
	}

	/**
	 * Stores a schedule with the key k by the second node.
	 */
	private Enqueued recur(String payload, String text, Duration first) {
		return this.b.store()
			.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, "k", payload, null, text, DueTime.after(first),
					false));
	}

	@Test
	void aScheduleIsATaskThatIsFoundByItsKey() {
		Enqueued stored = recur(HOURLY, HOUR);
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

	// Another definition of a stored schedule

	@Test
	void theSameDefinitionLeavesTheNextTime() {
		Enqueued first = recur(HOURLY, HOUR);
		later(Duration.ofMinutes(10));
		assertThat(recur(HOURLY, HOUR)).isEqualTo(new Enqueued(Outcome.PENDING, first.id(), first.dueAt(), now()));
		assertThat(this.a.pending()).hasSize(1);
	}

	@Test
	void theSameScheduleWithAnotherPayloadKeepsItsTimeAndEndsALease() {
		Enqueued first = recur("old", HOURLY, SOON);
		LeasedTask leased = this.a.claim().get(0);
		Enqueued second = recur("new", HOURLY, HOUR);
		assertThat(second.outcome()).isEqualTo(Outcome.PENDING);
		assertThat(second.dueAt()).isEqualTo(first.dueAt());
		assertThat(this.a.begin(leased)).isEqualTo(Reply.REFUSED);
		assertThat(this.b.claim()).extracting(LeasedTask::payload, LeasedTask::dueAt)
			.containsExactly(tuple("new", first.dueAt()));
	}

	@Test
	void anotherScheduleTakesThePlaceOfTheStoredOne() {
		Enqueued first = recur(HOURLY, SOON);
		LeasedTask leased = this.a.claim().get(0);
		Enqueued second = recur(DAILY, HOUR);
		assertThat(second).isEqualTo(new Enqueued(Outcome.REPLACED, second.id(), in(HOUR), now()));
		assertThat(this.a.begin(leased)).isEqualTo(Reply.REFUSED);
		assertThat(this.a.has(id(first.id()))).isFalse();
		assertThat(this.a.find(schedule("k")).schedule()).isEqualTo(new StoredSchedule(DAILY, in(HOUR)));
		assertThat(this.a.pending()).hasSize(1);
	}

	@Test
	void anOverdueRunStaysDueWhenTheScheduleChanges() {
		Enqueued first = recur(HOURLY, SOON);
		later(HOUR);
		Enqueued second = recur("new", DAILY, HOUR);
		assertThat(second.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(second.dueAt()).isEqualTo(first.dueAt());
		long next = in(HOUR);
		LeasedTask run = this.a.claim().get(0);
		assertThat(run.begun()).isTrue();
		assertThat(run.dueAt()).isEqualTo(first.dueAt());
		assertThat(run.payload()).isEqualTo("new");
		assertThat(run.schedule()).isEqualTo(new StoredSchedule(DAILY, next));
		assertThat(this.a.settle(new Repeat(run.ref(), DAILY, at(next), null))).isEqualTo(Reply.DONE);
		assertThat(this.a.find(id(run)).dueAt()).isEqualTo(next);
	}

	@Test
	void anOverdueAttemptKeepsTheTimeOfItsRunWhenTheScheduleChanges() {
		LeasedTask run = runningSchedule("k");
		this.a.retry(run, SOON);
		later(SOON.plusSeconds(1));
		assertThat(recur(DAILY, HOUR).dueAt()).isEqualTo(run.dueAt());
		LeasedTask again = this.a.claim().get(0);
		assertThat(again.dueAt()).isEqualTo(run.dueAt());
		assertThat(again.schedule()).isEqualTo(new StoredSchedule(DAILY, in(HOUR)));
	}

	@Test
	void aNewScheduleThatIsDueAtOnceStandsForAnOverdueRun() {
		recur(HOURLY, SOON);
		later(HOUR);
		assertThat(recur(DAILY, NOW).dueAt()).isEqualTo(now());
		LeasedTask run = this.a.claim().get(0);
		assertThat(run.dueAt()).isEqualTo(now());
		assertThat(run.schedule()).isEqualTo(new StoredSchedule(DAILY, now()));
	}

	@Test
	void aScheduleThatChangesDuringARunBeginsAfterTheRun() {
		LeasedTask run = runningSchedule("k");
		Enqueued changed = recur("new", DAILY, HOUR);
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
	void anotherPayloadDuringARunIsForTheNextRun() {
		LeasedTask run = runningSchedule("k");
		assertThat(recur("new", HOURLY, NOW).outcome()).isEqualTo(Outcome.PENDING);
		assertThat(this.a.repeat(run, DueTime.after(HOUR))).isEqualTo(Reply.DONE);
		later(HOUR);
		assertThat(this.b.claim()).extracting(LeasedTask::payload).containsExactly("new");
	}

	// The end of a run

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
	void theDelayOfTheNextRunIsByTheClockOfTheStoreAndAnErrorIsKept() {
		LeasedTask run = runningSchedule("k");
		later(SOON);
		this.a.settle(new Repeat(run.ref(), HOURLY, DueTime.after(HOUR), "gave up"));
		StoredTask task = this.b.find(schedule("k"));
		assertThat(task.schedule()).isEqualTo(new StoredSchedule(HOURLY, in(HOUR)));
		assertThat(task.dueAt()).isEqualTo(in(HOUR));
		assertThat(task.error()).isEqualTo("gave up");
	}

	@Test
	void aRunThatHasNotBegunIsLeftOut() {
		recur(HOURLY, SOON);
		LeasedTask leased = this.a.claim().get(0);
		assertThat(leased.begun()).isFalse();
		assertThat(this.a.repeat(leased, at(in(HOUR)))).isEqualTo(Reply.DONE);
		assertThat(this.b.find(schedule("k"))).extracting(StoredTask::state, StoredTask::dueAt, StoredTask::deliveries)
			.containsExactly(State.SCHEDULED, in(HOUR), 0);
		assertThat(this.a.begin(leased)).isEqualTo(Reply.REFUSED);
	}

	@Test
	void aRunWithoutANextTimeIsTheLast() {
		LeasedTask run = runningSchedule("k");
		assertThat(this.a.repeat(run, null)).isEqualTo(Reply.DONE);
		assertThat(this.a.repeat(run, null)).as("repeated").isEqualTo(Reply.DONE);
		assertThat(this.b.has(id(run))).isFalse();
		assertThat(recur(HOURLY, HOUR).outcome()).isEqualTo(Outcome.INSERTED);
	}

	@Test
	void aRetryKeepsTheTimeOfTheScheduleAndTheNextRunStartsAnew() {
		LeasedTask run = runningSchedule("k");
		StoredSchedule schedule = new StoredSchedule(HOURLY, run.dueAt());
		this.a.retry(run, SOON);
		assertThat(this.b.find(schedule("k"))).extracting(StoredTask::attempt, StoredTask::schedule)
			.containsExactly(2, schedule);
		later(SOON);
		LeasedTask second = this.b.claim().get(0);
		assertThat(second.attempt()).isEqualTo(2);
		assertThat(second.schedule()).isEqualTo(schedule);
		assertThat(this.b.repeat(second, DueTime.after(HOUR))).isEqualTo(Reply.DONE);
		assertThat(this.a.find(schedule("k")))
			.extracting(StoredTask::attempt, StoredTask::deliveries, StoredTask::error)
			.containsExactly(1, 0, null);
	}

	@Test
	void aRunThatIsGivenBackOrLostKeepsItsSchedule() {
		LeasedTask run = runningSchedule("k");
		StoredSchedule schedule = new StoredSchedule(HOURLY, run.dueAt());
		assertThat(this.a.releaseUnstarted(run)).isEqualTo(Reply.DONE);
		assertThat(this.b.find(schedule("k"))).extracting(StoredTask::schedule, StoredTask::deliveries)
			.containsExactly(schedule, 0);
		assertThat(this.a.claim()).hasSize(1);
		later(LEASES_OVER);
		this.b.claim();
		assertThat(this.b.find(schedule("k"))).as("it keeps its key when it is lost")
			.extracting(StoredTask::state, StoredTask::schedule)
			.containsExactly(State.SCHEDULED, schedule);
		LeasedTask lost = suspect(this.b);
		assertThat(lost.schedule()).isEqualTo(schedule);
		this.b.begin(lost);
		assertThat(this.b.repeat(lost, DueTime.after(SOON))).isEqualTo(Reply.DONE);
		later(SOON);
		LeasedTask next = this.a.claim().get(0);
		assertThat(next.lost()).isZero();
		assertThat(next.deliveries()).isEqualTo(1);
	}

	@Test
	void aSuspectRunIsGivenUpBeforeItBegins() {
		LeasedTask run = runningSchedule("k");
		later(LEASES_OVER);
		this.b.claim();
		LeasedTask suspect = suspect(this.b);
		assertThat(this.b.settle(new Repeat(suspect.ref(), HOURLY, DueTime.after(NOW), "lost too often")))
			.isEqualTo(Reply.DONE);
		assertThat(this.a.find(id(run)).error()).isEqualTo("lost too often");
		assertThat(this.a.claim()).singleElement().matches((next) -> next.begun() && !next.suspect());
	}

	@Test
	void manyRunsEndAtOnce() {
		List<LeasedTask> runs = IntStream.range(0, 50).mapToObj((i) -> runningSchedule("k" + i)).toList();
		List<Settlement> ends = runs.stream()
			.<Settlement>map((run) -> new Repeat(run.ref(), HOURLY, at(run.dueAt() + HOUR.toMillis()), null))
			.toList();
		assertThat(this.a.store().settle(ends)).hasSize(50).containsOnly(Reply.DONE);
		assertThat(this.b.counts()).isEqualTo(new StoredCounts(50, 0, 0, 0));
	}

	// Cancel

	@Test
	void aScheduleIsCancelledByItsKeyOrItsId() {
		for (boolean running : List.of(false, true)) {
			for (boolean byKey : List.of(true, false)) {
				Enqueued schedule = recur(HOURLY, running ? NOW : HOUR);
				List<LeasedTask> runs = this.a.claim();
				Target target = byKey ? schedule("k") : id(schedule.id());
				assertThat(this.b.cancel(target)).isTrue();
				assertThat(this.b.cancel(target)).as("again").isFalse();
				assertThat(this.b.has(schedule("k"))).isFalse();
				runs.forEach((run) -> assertThat(this.a.acknowledge(run)).isEqualTo(Reply.DONE));
				assertThat(this.b.store().counts(List.of())).isEmpty();
			}
		}
	}

	@Test
	void aRunGoesOnWhenItsScheduleIsCancelledAndIsTheLast() {
		LeasedTask run = cancelledRun();
		assertThat(this.a.renew(run)).isEqualTo(Reply.DONE);
		assertThat(this.b.find(id(run)).state()).isEqualTo(State.RUNNING);
		Enqueued next = recur(HOURLY, HOUR);
		assertThat(next.outcome()).as("the key is free").isEqualTo(Outcome.INSERTED);
		assertThat(this.a.repeat(run, DueTime.after(HOUR))).isEqualTo(Reply.DONE);
		assertThat(this.b.pending()).extracting(StoredTask::id).containsExactly(next.id());
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

	@Test
	void aLostRunOfACancelledScheduleIsRepeatedOnce() {
		LeasedTask run = cancelledRun();
		later(LEASES_OVER);
		this.b.claim();
		LeasedTask lost = suspect(this.b);
		assertThat(lost.id()).isEqualTo(run.id());
		assertThat(lost.schedule()).isNull();
		assertThat(this.b.begin(lost)).isEqualTo(Reply.DONE);
		assertThat(this.b.retry(lost, NOW)).isEqualTo(Reply.SUPERSEDED);
		assertThat(this.b.store().counts(List.of())).isEmpty();
	}

	private LeasedTask cancelledRun() {
		LeasedTask run = runningSchedule("k");
		assertThat(this.b.cancel(schedule("k"))).isTrue();
		return run;
	}

	// A task that runs once, with the key of the schedule

	@ParameterizedTest
	@EnumSource
	void aTaskThatRunsOnceMayHaveTheKeyOfASchedule(IfPending ifPending) {
		Enqueued schedule = recur(HOURLY, HOUR);
		Enqueued once = this.a.enqueue(task("k", HOUR, ifPending));
		assertThat(once.outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(recur(HOURLY, HOUR).id()).isEqualTo(schedule.id());
		assertThat(this.b.find(once("k")).id()).isEqualTo(once.id());
		assertThat(this.b.find(schedule("k")).id()).isEqualTo(schedule.id());
	}

	@Test
	void aCallByKeyMeansTheTaskThatRunsOnceBeforeTheSchedule() {
		Enqueued schedule = recur(HOURLY, HOUR);
		Enqueued once = enqueue("k", HOUR);
		assertThat(this.b.find(key("k")).id()).isEqualTo(once.id());
		assertThat(this.b.move(key("k"), SOON)).isNotNull();
		assertThat(this.b.find(schedule("k")).dueAt()).isEqualTo(schedule.dueAt());
		assertThat(this.b.cancel(key("k"))).isTrue();
		assertThat(this.b.find(key("k")).id()).isEqualTo(schedule.id());
		assertThat(this.b.move(key("k"), SOON)).isNotNull();
		assertThat(this.b.cancel(key("k"))).isTrue();
		assertThat(this.b.cancel(key("k"))).isFalse();
	}

	@Test
	void aCallMayMeanOnlyTheTaskThatRunsOnceOrOnlyTheSchedule() {
		Enqueued schedule = recur(HOURLY, HOUR);
		assertThat(this.b.has(once("k"))).isFalse();
		assertThat(this.b.cancel(once("k"))).isFalse();
		assertThat(this.b.move(once("k"), SOON)).isNull();
		Enqueued once = enqueue("k", HOUR);
		assertThat(this.b.move(schedule("k"), SOON)).isNotNull();
		assertThat(this.a.find(id(schedule.id())).dueAt()).isEqualTo(in(SOON));
		assertThat(this.a.find(id(once.id())).dueAt()).isEqualTo(once.dueAt());
		assertThat(this.b.cancel(schedule("k"))).isTrue();
		assertThat(this.b.cancel(schedule("k"))).isFalse();
		assertThat(this.b.cancel(once("k"))).isTrue();
		runningSchedule("k");
		assertThat(this.b.cancel(once("k"))).as("the schedule runs").isFalse();
		assertThat(this.b.cancel(schedule("k"))).isTrue();
	}

	@Test
	void aMoveChangesOnlyTheNextRun() {
		Enqueued schedule = recur(HOURLY, HOUR);
		assertThat(this.a.move(schedule("k"), SOON)).isNotNull();
		LeasedTask run = this.a.claim().get(0);
		assertThat(run.dueAt()).isEqualTo(in(SOON));
		assertThat(run.schedule()).as("the time by the schedule stays")
			.isEqualTo(new StoredSchedule(HOURLY, schedule.dueAt()));
	}

	// Declared schedules

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

	@Test
	void aDeclaredScheduleThatWasCancelledIsNotLost() {
		Target schedule = schedule(DelayedTaskStore.DECLARED_KEY);
		for (boolean running : List.of(false, true)) {
			for (boolean byKey : List.of(true, false)) {
				Enqueued declared = declare(false);
				assertThat(declared.outcome()).as("it takes the mark away").isEqualTo(Outcome.INSERTED);
				List<LeasedTask> runs = running ? this.a.claim() : List.of();
				assertThat(this.a.cancel(byKey ? schedule : id(declared.id()))).isTrue();
				runs.forEach((run) -> this.a.repeat(run, DueTime.after(HOUR)));
				Enqueued restored = declare(true);
				assertThat(restored.outcome()).isEqualTo(Outcome.PENDING);
				assertThat(restored.id()).isEmpty();
				assertThat(this.a.has(schedule)).isFalse();
			}
		}
		assertThat(declare(false).outcome()).isEqualTo(Outcome.INSERTED);
	}

}
