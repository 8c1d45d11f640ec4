package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.Settlement.Bury;
import io.timingwheel.spring.durable.store.Settlement.Retry;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store promises to nodes: which tasks a claim takes, and who has a task.
 * {@link ModelContractTests} begins, renews and settles tasks in all ways.
 *
 * @since 0.1
 */
public abstract class DeliveryContractTests extends StoreContract {

	private static final Duration SECOND = Duration.ofSeconds(1);

	// Claims

	@Test
	void aTaskThatIsDueSoonIsLeased() {
		Enqueued soon = enqueue("soon", SOON);
		enqueue("late", HOUR);
		Claimed claimed = this.a.store().claim(this.a.request(NAME));
		assertThat(claimed.now()).isEqualTo(now());
		LeasedTask task = claimed.tasks().get(0);
		assertThat(claimed.tasks()).containsExactly(new LeasedTask(soon.id(), task.fence(), NAME, "soon",
				payloadOf(soon.id()), null, soon.dueAt(), false, 1, 0, 0, null));
		assertThat(task.fence()).as("microseconds").isGreaterThanOrEqualTo(now() * 1000);
		assertThat(this.b.find(key("soon")).state()).as("it holds its key").isEqualTo(State.LEASED);
		assertThat(this.b.claim()).isEmpty();
	}

	@Test
	void theEarliestTasksComeFirstAndNoMoreThanAskedFor() {
		List<String> ids = Stream.of(3, 1, 5, 2, 4)
			.map((minutes) -> this.a.enqueue(task(null, at(in(Duration.ofMinutes(-minutes))))).id())
			.toList();
		Map<String, Share> shares = Map.of(NAME, new Share(10, 10));
		assertThat(this.a.claim(shares, 2).tasks()).extracting(LeasedTask::id).containsExactly(ids.get(2), ids.get(4));
		assertThat(this.b.claim(shares, 2).tasks()).extracting(LeasedTask::id).containsExactly(ids.get(0), ids.get(3));
		assertThat(this.a.claim(shares, 2).tasks()).extracting(LeasedTask::id).containsExactly(ids.get(1));
	}

	@Test
	void aClaimTakesNoMoreOfANameThanItsShares() {
		this.a.store().enqueue(Stream.generate(() -> taskOf("slow", NOW)).limit(30).toList());
		this.a.store().enqueue(Stream.generate(() -> taskOf("slow", SOON)).limit(30).toList());
		this.a.store().enqueue(Stream.generate(() -> taskOf("quick", NOW)).limit(5).toList());
		this.a.enqueue(taskOf("idle", HOUR));
		Map<String, Share> shares = Map.of("slow", new Share(3, 2), "quick", new Share(20, 0), "idle", new Share(7, 7));
		Map<String, List<LeasedTask>> byName = this.a.claim(shares, 50)
			.tasks()
			.stream()
			.collect(Collectors.groupingBy(LeasedTask::name));
		assertThat(byName).containsOnlyKeys("slow", "quick");
		assertThat(byName.get("slow")).hasSizeBetween(3, 5).filteredOn(LeasedTask::begun).hasSize(3);
		assertThat(byName.get("quick")).hasSize(5).allMatch(LeasedTask::begun);
		assertThat(this.a.claim(Map.of("slow", new Share(0, 4)), 50).tasks()).as("none that is due")
			.noneMatch(LeasedTask::begun);
		for (int limit : List.of(1, 17, 40)) {
			Map<String, Share> all = Stream.of("slow", "quick", "idle", "d", "e", "f", "g", "h", "i")
				.collect(Collectors.toMap(Function.identity(), (name) -> new Share(limit, limit)));
			assertThat(this.b.claim(all, limit).tasks()).hasSizeBetween(1, limit);
		}
	}

	@Test
	void aClaimTellsWhetherThereMayBeMore() {
		this.a.store().enqueue(Stream.generate(() -> task(null, NOW)).limit(10).toList());
		this.a.store().enqueue(Stream.generate(() -> taskOf("other", NOW)).limit(3).toList());
		assertThat(this.a.claim(Map.of(NAME, new Share(4, 4)), 50).more()).as("a name has filled its share").isTrue();
		Map<String, Share> both = Map.of(NAME, new Share(9, 9), "other", new Share(9, 9));
		assertThat(this.a.claim(both, 5).more()).as("the claim is full").isTrue();
		Claimed last = this.a.claim(both, 50);
		assertThat(last.tasks()).hasSize(4);
		assertThat(last.more()).isFalse();
		assertThat(this.a.claim(both, 50).more()).isFalse();
	}

	@Test
	void aClaimTellsTheNextTimeOfItsNames() {
		assertThat(nextAt()).as("there is no task").isEqualTo(Long.MAX_VALUE);
		this.a.enqueue(taskOf("other", SOON));
		assertThat(nextAt()).as("the task has another name").isEqualTo(Long.MAX_VALUE);
		enqueue("later", HOUR.multipliedBy(2));
		long next = enqueue("next", HOUR).dueAt();
		assertThat(nextAt()).as("a due time").isEqualTo(next);
		LeasedTask leased = leased("leased");
		assertThat(nextAt()).as("the end of a lease that begins with the due time")
			.isEqualTo(leased.dueAt() + StoreNode.LEASE.toMillis());
		running("running");
		assertThat(nextAt()).as("the end of a lease that has begun").isEqualTo(in(StoreNode.LEASE));
		enqueue("now", NOW);
		next = enqueue("soon", StoreNode.LOOK_AHEAD.plusSeconds(1)).dueAt();
		Claimed claimed = this.a.store().claim(this.a.request(NAME));
		assertThat(claimed.tasks()).hasSize(1);
		assertThat(claimed.nextAt()).as("of a claim with a task").isEqualTo(next);
	}

	private long nextAt() {
		Claimed claimed = this.b.store().claim(this.b.request(NAME));
		assertThat(claimed.tasks()).isEmpty();
		return claimed.nextAt();
	}

	@Test
	void aLeaseMayHaveAnyLength() {
		enqueue("k", NOW);
		Duration ever = Duration.ofMillis(Long.MAX_VALUE);
		ClaimRequest all = this.a.request(NAME);
		LeasedTask task = this.a.store()
			.claim(new ClaimRequest("a", all.names(), 10, false, ever, ever, Long.MAX_VALUE))
			.tasks()
			.get(0);
		assertThat(this.a.store().renew(List.of(task.ref()), ever)).containsExactly(Reply.DONE);
		assertThat(this.a.retry(task, ever)).isEqualTo(Reply.DONE);
		assertThat(this.a.find(id(task)).dueAt()).isEqualTo(DelayedTaskStore.MAX_TIME);
		assertThat(this.a.store().renew(List.of(running("l").ref()), Duration.ZERO)).containsExactly(Reply.DONE);
		assertThat(this.b.store().claim(this.b.request(NAME)).newSuspects()).as("a lease that ends at once").isTrue();
	}

	// Leases

	@Test
	void noClaimTakesALeaseOfAnotherNodeHoweverFarItLooksAhead() {
		LeasedTask leased = leased("k");
		LeasedTask running = running("l");
		ClaimRequest all = this.b.request(NAME);
		assertThat(this.b.store()
			.claim(new ClaimRequest("b", all.names(), 10, true, HOUR, Duration.ofMillis(1), Long.MAX_VALUE))
			.tasks()).isEmpty();
		assertThat(this.a.begin(leased)).isEqualTo(Reply.DONE);
		assertThat(this.a.acknowledge(running)).isEqualTo(Reply.DONE);
	}

	/** All messages of a node that does not have the task any more are refused. */
	private void assertRefused(LeasedTask stale) {
		assertThat(List.of(this.a.begin(stale), this.a.renew(stale), this.a.acknowledge(stale),
				this.a.repeat(stale, DueTime.after(NOW)), this.a.retry(stale, NOW), this.a.release(stale),
				this.a.releaseUnstarted(stale), this.a.bury(stale)))
			.containsOnly(Reply.REFUSED);
	}

	@Test
	void aTaskThatBeginsCountsTheDeliveryOnceAndItsLeaseLastsFromItsLastBegin() {
		LeasedTask task = leased("k");
		later(SOON.plus(StoreNode.LEASE).minus(SECOND));
		assertThat(this.a.begin(task)).isEqualTo(Reply.DONE);
		later(SECOND);
		assertThat(this.a.begin(task)).as("repeated").isEqualTo(Reply.DONE);
		assertThat(this.b.find(id(task)).deliveries()).isEqualTo(1);
		later(StoreNode.LEASE.minus(SECOND));
		assertThat(this.b.store().claim(this.b.request(NAME)).newSuspects()).isFalse();
		later(SECOND.multipliedBy(2));
		assertThat(this.b.store().claim(this.b.request(NAME)).newSuspects()).isTrue();
	}

	@Test
	void aTaskThatNobodyHasLeasedDoesNotBegin() {
		Enqueued task = enqueue("k", NOW);
		for (TaskRef unknown : List.of(new TaskRef(task.id(), 0), new TaskRef(task.id(), now() * 1000),
				new TaskRef("unknown", 1))) {
			assertThat(this.a.begin(unknown)).isEqualTo(Reply.REFUSED);
			assertThat(this.a.store().renew(List.of(unknown), StoreNode.LEASE)).containsExactly(Reply.REFUSED);
		}
		assertThat(this.b.find(key("k")).state()).isEqualTo(State.SCHEDULED);
	}

	// Settlements

	@Test
	void ofTwoRunsWithOneKeyThatAreRetriedAtOnceOneIsDropped() {
		LeasedTask first = running("k");
		LeasedTask second = running("k");
		assertThat(this.a.store()
			.settle(List.of(new Retry(first.ref(), 2, HOUR, "x"), new Retry(second.ref(), 2, HOUR, "x"))))
			.containsExactlyInAnyOrder(Reply.DONE, Reply.SUPERSEDED);
		assertThat(this.b.counts()).isEqualTo(new StoredCounts(1, 0, 0, 0));
	}

	@Test
	void errorsMayBeAsLongAsStated() {
		String error = "\ud83d\ude97x".repeat(DelayedTaskStore.MAX_ERROR_LENGTH / 3);
		LeasedTask task = running("k");
		this.a.settle(new Retry(task.ref(), 2, NOW, error));
		assertThat(this.a.find(id(task)).error()).hasSameSizeAs(error).startsWith("\ud83d\ude97");
		this.a.settle(new Bury(this.a.claim().get(0).ref(), error));
		assertThat(this.a.find(id(task)).error()).hasSameSizeAs(error).startsWith("\ud83d\ude97");
	}

	// Lost deliveries

	@Test
	void aTaskWhoseDeliveryWasLostIsScheduledAndTakenOnlyByARequestForASuspect() {
		LeasedTask first = running("k");
		later(LEASES_OVER);
		Claimed found = this.b.store().claim(this.b.request(NAME));
		assertThat(found.tasks()).isEmpty();
		assertThat(found.newSuspects()).isTrue();
		assertThat(this.a.find(id(first)))
			.isEqualTo(new StoredTask(first.id(), NAME, "k", first.dueAt(), State.SCHEDULED, 1, 1, null, null, null));
		assertThat(this.a.has(key("k"))).as("it has no key").isFalse();
		assertThat(this.a.counts()).isEqualTo(new StoredCounts(1, 1, 0, 0));
		assertRefused(first);
		Claimed again = this.b.store().claim(this.b.request(NAME));
		assertThat(again.tasks()).isEmpty();
		assertThat(again.newSuspects()).as("it is known").isFalse();
		LeasedTask suspect = suspect(this.b);
		assertThat(suspect).isEqualTo(new LeasedTask(first.id(), suspect.fence(), NAME, "k", first.payload(), null,
				first.dueAt(), false, 1, 1, 1, null));
		assertThat(suspect.fence()).isGreaterThan(first.fence());
		assertThat(this.a.find(id(first)).state()).isEqualTo(State.LEASED);
		assertRefused(first);
		assertThat(this.b.begin(suspect)).isEqualTo(Reply.DONE);
		assertThat(this.b.begin(suspect)).as("repeated").isEqualTo(Reply.DONE);
		assertThat(this.a.find(id(first)).deliveries()).isEqualTo(2);
		assertThat(this.b.acknowledge(suspect)).isEqualTo(Reply.DONE);
		assertThat(this.a.store().counts(List.of())).isEmpty();
	}

}
