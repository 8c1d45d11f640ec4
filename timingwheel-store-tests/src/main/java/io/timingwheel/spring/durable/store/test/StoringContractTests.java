package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Moved;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store promises to applications about what they store. {@link ModelContractTests}
 * makes all calls about stored tasks and schedules, and has their combinations.
 *
 * @since 0.1
 */
public abstract class StoringContractTests extends StoreContract {

	private static final Duration TWO_HOURS = HOUR.multipliedBy(2);

	private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

	@Test
	void aStoreWithTasksIsReady() {
		enqueue("k", HOUR);
		this.b.store().check();
		assertThat(this.b.store().joinsTransaction()).as("there is no transaction").isFalse();
		assertThat(this.b.store().now()).isEqualTo(now());
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "k")
	void aStoredTaskIsFound(@Nullable String key) {
		NewTask task = task(key, HOUR);
		Enqueued stored = this.a.enqueue(task);
		assertThat(stored.id()).startsWith(task.id());
		assertThat(stored).isEqualTo(new Enqueued(Outcome.INSERTED, stored.id(), in(HOUR), now()));
		StoredTask expected = new StoredTask(stored.id(), NAME, key, in(HOUR), State.SCHEDULED, 1, 0, null, null, null);
		assertThat(this.b.find(id(stored.id()))).isEqualTo(expected);
		assertThat(this.b.pending()).containsExactly(expected);
		if (key != null) {
			assertThat(this.b.find(key(key))).isEqualTo(expected);
			assertThat(this.b.find(once(key))).isEqualTo(expected);
			assertThat(this.b.has(schedule(key))).isFalse();
		}
	}

	@Test
	void whatIsNotStoredIsNotFound() {
		enqueue("k", HOUR);
		List<Target> absent = List.of(key("l"), Target.of(new TaskId("another", "k"), Kind.EITHER), id("unknown"),
				id("\ud83d\ude97"));
		for (Target target : absent) {
			assertThat(this.b.has(target)).isFalse();
			assertThat(this.b.cancel(target)).isFalse();
			assertThat(this.b.move(target, NOW)).isNull();
		}
		assertThat(this.b.pending()).hasSize(1);
	}

	// Keys

	@Test
	void aTaskThatIsReplacedAllTheTimeIsDueWithinItsLongestWait() {
		long limit = in(HOUR);
		for (int minutes = 0; minutes < 60; minutes += 10) {
			assertThat(this.b.enqueue(debounced("k", HOUR.dividedBy(2), HOUR)).dueAt())
				.isEqualTo(Math.min(in(HOUR.dividedBy(2)), limit));
			later(Duration.ofMinutes(10));
		}
		assertThat(this.a.claim()).hasSize(1);
		assertThat(this.a.enqueue(debounced("k", HOUR.dividedBy(2), HOUR)).dueAt()).as("the wait begins anew")
			.isEqualTo(in(HOUR.dividedBy(2)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "retried", "released", "requeued" })
	void aTaskThatHasRunForgetsTheFirstCall(String end) {
		this.a.enqueue(debounced("k", NOW, HOUR));
		LeasedTask task = this.a.claim().get(0);
		switch (end) {
			case "retried" -> this.a.retry(task, NOW);
			case "released" -> this.a.release(task);
			default -> {
				this.a.bury(task);
				assertThat(this.a.requeue(task.id())).isEqualTo(Requeue.REQUEUED);
			}
		}
		later(TWO_HOURS);
		assertThat(this.a.enqueue(debounced("k", HOUR.dividedBy(2), HOUR)).dueAt()).isEqualTo(in(HOUR.dividedBy(2)));
	}

	private static NewTask debounced(@Nullable String key, Duration delay, Duration maxWait) {
		NewTask task = task(key, delay);
		return new NewTask(task.id(), NAME, key, task.payload(), null, task.due(), IfPending.REPLACE, maxWait);
	}

	@Test
	void keysAreComparedByteByByte() {
		List<String> keys = List.of("A", "a", "A ", " A", "\u00c4", "A\u0308", "\ud83d\ude97", "\ud83d\ude98", "",
				"a\\", "a'", "a\"", "a%", "a_", "{a}", "a:b", "\u212a", "K", "k", "\u00df", "ss");
		List<Enqueued> stored = this.a.store().enqueue(keys.stream().map((key) -> task(key, HOUR)).toList());
		assertThat(stored).extracting(Enqueued::outcome).containsOnly(Outcome.INSERTED);
		for (int i = 0; i < keys.size(); i++) {
			assertThat(this.b.find(key(keys.get(i)))).extracting(StoredTask::id, StoredTask::key)
				.containsExactly(stored.get(i).id(), keys.get(i));
		}
		for (String key : keys) {
			assertThat(this.b.cancel(key(key))).as(key).isTrue();
			assertThat(this.b.has(key(key))).as(key).isFalse();
		}
	}

	@Test
	void namesAreComparedByteByByte() {
		List<String> names = List.of("A", "a", "A ", "\u00c4", "A\u0308", "\ud83d\ude97");
		for (String name : names) {
			this.a.enqueue(task(name, "k", DueTime.after(NOW), IfPending.REPLACE));
		}
		assertThat(this.b.store().counts(List.of())).containsOnlyKeys(names);
		for (String name : names) {
			assertThat(this.b.claim(Map.of(name, new Share(10, 10)), 10).tasks()).as(name)
				.singleElement()
				.extracting(LeasedTask::name)
				.isEqualTo(name);
		}
	}

	@Test
	void namesAndKeysMayBeAsLongAsStated() {
		String name = "\u00c4".repeat(TaskLimits.MAX_NAME_BYTES / 2) + "n";
		String key = "\ud83d\ude97".repeat(TaskLimits.MAX_KEY_BYTES / 4 - 1) + "long";
		String sibling = key.substring(0, key.length() - 1) + "h";
		this.a.enqueue(task(name, key, DueTime.after(HOUR), IfPending.REPLACE));
		assertThat(this.a.enqueue(task(name, sibling, DueTime.after(HOUR), IfPending.REPLACE)).outcome())
			.isEqualTo(Outcome.INSERTED);
		assertThat(this.b.find(Target.of(new TaskId(name, key), Kind.EITHER)))
			.extracting(StoredTask::name, StoredTask::key)
			.containsExactly(name, key);
		String ascii = "x".repeat(TaskLimits.MAX_KEY_BYTES);
		enqueue(ascii, HOUR);
		assertThat(this.b.cancel(key(ascii))).isTrue();
	}

	// Payloads, traces and times

	@Test
	void aPayloadComesBackAsItWas() {
		String payload = "{\"v\":1,\"args\":[\"\u00c4 \ud83d\ude97 \\\\ \\\" ' \\u0000\"]}" + "x".repeat(300_000);
		this.a.enqueue(withPayload("large", payload, null));
		assertThat(this.b.claim()).singleElement().extracting(LeasedTask::payload).isEqualTo(payload);
	}

	@Test
	void aPayloadLargerThanAskedForIsNotReadAndATraceDoesNotCount() {
		String payload = "\u00c4".repeat(500);
		this.a.store().enqueue(List.of(withPayload(null, payload + ".", TRACE), withPayload("fits", payload, TRACE)));
		ClaimRequest all = this.b.request(NAME);
		List<LeasedTask> tasks = this.b.store()
			.claim(new ClaimRequest("b", all.names(), 10, false, all.lookAhead(), all.lease(), 1000))
			.tasks();
		assertThat(tasks).hasSize(2).allSatisfy((task) -> {
			assertThat(task.payload()).isEqualTo("fits".equals(task.key()) ? payload : null);
			assertThat(task.traceparent()).isEqualTo(TRACE);
		});
	}

	private static NewTask withPayload(@Nullable String key, String payload, @Nullable String trace) {
		NewTask task = task(key, NOW);
		return new NewTask(task.id(), NAME, key, payload, trace, task.due(), IfPending.REPLACE, null);
	}

	@Test
	void aTimeMayBeAsLateAsStatedAndMayHavePassed() {
		Enqueued late = enqueue("k", Duration.ofMillis(Long.MAX_VALUE));
		assertThat(late.dueAt()).isEqualTo(DelayedTaskStore.MAX_TIME);
		Moved moved = this.a.store().move(key("k"), DueTime.at(Instant.MAX));
		assertThat(moved).extracting(Moved::dueAt).isEqualTo(DelayedTaskStore.MAX_TIME);
		assertThat(this.a.find(key("k")).dueAt()).isEqualTo(DelayedTaskStore.MAX_TIME);
		assertThat(this.a.store().claim(this.a.request(NAME)).nextAt()).isEqualTo(DelayedTaskStore.MAX_TIME);
		assertThat(this.a.enqueue(task("past", at(42))).dueAt()).isEqualTo(42);
		assertThat(this.b.claim()).extracting(LeasedTask::dueAt).containsExactly(42L);
	}

	// Many at once

	@Test
	void manyTasksAreStoredAtOnce() {
		List<NewTask> tasks = IntStream.range(0, 2100)
			.mapToObj((i) -> task((i % 3 == 0) ? "k" + i : null, HOUR.plusMillis(i)))
			.toList();
		List<Enqueued> stored = this.a.store().enqueue(tasks);
		assertThat(stored).hasSameSizeAs(tasks);
		for (int i = 0; i < tasks.size(); i++) {
			assertThat(stored.get(i).id()).startsWith(tasks.get(i).id());
			assertThat(stored.get(i))
				.isEqualTo(new Enqueued(Outcome.INSERTED, stored.get(i).id(), in(HOUR) + i, now()));
		}
		assertThat(this.b.find(key("k99")).id()).isEqualTo(stored.get(99).id());
		assertThat(this.b.counts()).isEqualTo(new StoredCounts(2100, 0, 0, 0));
	}

	// Move

	@Test
	void aMoveChangesTheDueTimeAndEndsALease() {
		Enqueued scheduled = enqueue("k", HOUR);
		LeasedTask leased = leased("l");
		assertThat(this.b.move(key("k"), TWO_HOURS)).isEqualTo(new Moved(scheduled.id(), NAME, in(TWO_HOURS), now()));
		assertThat(this.b.move(id(leased), SOON.dividedBy(2)))
			.isEqualTo(new Moved(leased.id(), NAME, in(SOON.dividedBy(2)), now()));
		assertThat(this.a.find(key("k")).dueAt()).isEqualTo(in(TWO_HOURS));
		assertThat(this.a.find(key("l")).state()).isEqualTo(State.SCHEDULED);
		assertThat(this.a.begin(leased)).isEqualTo(Reply.REFUSED);
		LeasedTask again = this.b.claim().get(0);
		assertThat(again.id()).isEqualTo(leased.id());
		assertThat(again.fence()).isGreaterThan(leased.fence());
		assertThat(again.payload()).isEqualTo(leased.payload());
		assertThat(this.b.begin(again)).isEqualTo(Reply.DONE);
	}

	@Test
	void anOverdueTaskThatShallRunNowKeepsItsDueTimeAndPlace() {
		Enqueued overdue = enqueue("k", SOON);
		later(SOON.plusSeconds(1));
		assertThat(this.a.move(key("k"), NOW)).extracting(Moved::dueAt).isEqualTo(overdue.dueAt());
		assertThat(this.a.claim()).extracting(LeasedTask::dueAt).containsExactly(overdue.dueAt());
	}

	// Schedules

	@Test
	void aScheduleThatChangesDuringARunBeginsAfterTheRun() {
		LeasedTask run = runningSchedule("k");
		Enqueued changed = this.b.store()
			.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, "k", "new", "every(P1D)", DueTime.after(HOUR),
					false));
		assertThat(changed.outcome()).isEqualTo(Outcome.REPLACED);
		assertThat(changed.dueAt()).isEqualTo(in(HOUR));
		assertThat(this.a.renew(run)).as("the run goes on").isEqualTo(Reply.DONE);
		assertThat(this.a.repeat(run, DueTime.after(NOW))).isEqualTo(Reply.DONE);
		assertThat(this.b.find(schedule("k"))).isEqualTo(new StoredTask(run.id(), NAME, "k", in(HOUR), State.SCHEDULED,
				1, 0, null, new StoredSchedule("every(P1D)", in(HOUR)), null));
		later(HOUR);
		assertThat(this.b.claim().get(0).payload()).isEqualTo("new");
	}

	@Test
	void aRunOfACancelledScheduleIsNeitherTriedAgainNorGivenBackNorKept() {
		assertThat(this.a.retry(cancelledRun(), NOW)).isEqualTo(Reply.SUPERSEDED);
		assertThat(this.a.release(cancelledRun())).isEqualTo(Reply.SUPERSEDED);
		assertThat(this.a.bury(cancelledRun())).isEqualTo(Reply.DONE);
		cancelledRun();
		later(LEASES_OVER);
		assertThat(this.b.claimSuspect()).as("its node has ended").isNull();
		assertThat(this.b.store().counts(List.of())).isEmpty();
	}

	private LeasedTask cancelledRun() {
		LeasedTask run = runningSchedule("k");
		assertThat(this.b.cancel(schedule("k"))).isTrue();
		return run;
	}

	@Test
	void aDeclaredScheduleThatIsLostIsStoredAgain() {
		assertThat(declare(true).outcome()).isEqualTo(Outcome.INSERTED);
		assertThat(declare(true).outcome()).isEqualTo(Outcome.PENDING);
		LeasedTask run = this.a.claim().get(0);
		assertThat(declare(true).id()).as("it runs").isEqualTo(run.id());
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

	private Enqueued declare(boolean onlyIfLost) {
		return this.b.store()
			.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, DelayedTaskStore.DECLARED_KEY, "payload", HOURLY,
					DueTime.after(NOW), onlyIfLost));
	}

}
