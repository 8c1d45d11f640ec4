package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A task on its way through a node. */
class DurableNodeTests extends NodeTestSupport {

	private final List<Long> times = new ArrayList<>();

	private void count(int number) {
		this.runs.add(number);
		this.times.add(storeNow());
	}

	@Test
	void aTaskRunsWhenItIsDueAndIsGone() {
		handle(NAME, this::count);
		long due = storeNow() + 5_000;
		String id = enqueue(7, Duration.ofSeconds(5));
		node();
		advanceMillis(4_999);
		assertThat(this.runs).isEmpty();
		assertThat(find(id).state()).isEqualTo(State.LEASED);
		advanceMillis(1);
		assertThat(this.runs).containsExactly(7);
		assertThat(this.times).containsExactly(due);
		advanceMillis(0);
		assertThat(this.store.find(Target.of(id))).isEmpty();
		assertThat(counts().completed()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aTaskThatTheNodeStoresItselfStartsInTimeWithoutAPoll(boolean limited) {
		if (limited) {
			this.policies.declare(NAME, new PolicySettings(null, BackoffSettings.NONE, 2, null, null, null));
		}
		handle(NAME, this::count);
		DurableNode node = node();
		advanceMillis(1_500);
		List<Long> due = new ArrayList<>();
		for (int delay : List.of(0, 1, 20, 100, 400, 30)) {
			advanceMillis(7);
			due.add(storeNow() + delay);
			enqueue(delay, Duration.ofMillis(delay));
			node.expect(NAME, delay);
		}
		advanceMillis(450);
		assertThat(this.runs).containsExactlyInAnyOrder(0, 1, 20, 100, 400, 30);
		due.sort(null);
		for (int i = 0; i < due.size(); i++) {
			assertThat(this.times.get(i) - due.get(i)).isBetween(0L, 1L);
		}
	}

	@Test
	void aBacklogRunsAtOnceAndTheNextTaskIsInTime() {
		handle(NAME, this::count);
		IntStream.range(0, 3_000).forEach((number) -> enqueue(number, Duration.ZERO));
		enqueue(-1, Duration.ofMillis(1_500));
		DurableNode node = node();
		advanceMillis(100);
		assertThat(this.runs).hasSize(3_000);
		assertThat(node.figures().claims()).isLessThan(40);
		advanceMillis(1_400);
		assertThat(this.runs).hasSize(3_001);
	}

	@Test
	void aBacklogBesideAnIdleNameGoesOnAsSoonAsTasksHaveEnded() {
		boolean[] busy = { true };
		use(new InMemoryTaskStore() {

			@Override
			public List<Reply> settle(List<Settlement> settlements) {
				return busy[0] ? Collections.nCopies(settlements.size(), Reply.BUSY) : super.settle(settlements);
			}

		});
		this.maxInFlight = 16;
		handle(NAME, this::count);
		handle("idle", this::count);
		IntStream.range(0, 40).forEach((number) -> enqueue(number, Duration.ZERO));
		DurableNode node = node();
		advanceMillis(30);
		// What the backlog may take of the room; the rest is for the idle name.
		assertThat(node.inFlight()).isEqualTo(12);
		busy[0] = false;
		advanceMillis(POLL.toMillis() / 2);
		assertThat(this.runs).hasSize(40);
	}

	@Test
	void anIdleNodeClaimsOncePerPollInterval() {
		handle(NAME, this::count);
		DurableNode node = node();
		advance(Duration.ofSeconds(100));
		assertThat(node.figures().claims()).isBetween(99L, 102L);
	}

	@Test
	void aFailureIsTriedAgainAndThenDead() {
		handle(NAME, (number) -> {
			count(number);
			throw new IllegalStateException("expected");
		});
		String id = enqueue(7, Duration.ZERO);
		node();
		advanceMillis(1);
		assertThat(find(id).attempt()).isEqualTo(2);
		assertThat(find(id).error()).isEqualTo("java.lang.IllegalStateException: expected");
		advance(Duration.ofSeconds(5));
		assertThat(this.runs).hasSize(2);
		advance(Duration.ofSeconds(10));
		assertThat(this.runs).hasSize(3);
		advanceMillis(10);
		assertThat(find(id).state()).isEqualTo(State.DEAD);
		assertThat(counts().failed()).isEqualTo(3);
		assertThat(this.times.get(2) - this.times.get(0)).isBetween(15_000L, 15_010L);
	}

	@Test
	void whateverAnExceptionDoesItsTaskIsSettled() {
		handle(NAME, (number) -> {
			throw new RuntimeException() {

				@Override
				public String toString() {
					return toString() + ".";
				}

			};
		});
		String id = enqueue(7, Duration.ZERO);
		DurableNode node = node();
		advance(Duration.ofSeconds(16));
		assertThat(find(id).state()).isEqualTo(State.DEAD);
		assertThat(node.inFlight()).isZero();
	}

	@Test
	void aTaskThatThisReleaseCannotReadIsNotTriedAgainBeforeAllOtherNodesHavePolled() {
		this.backoff = new BackoffSettings(Duration.ofMillis(10), 1.0, Duration.ofMillis(10), 0.0);
		handle(NAME, this::count);
		String id = enqueue(NAME, "no number", Duration.ZERO);
		node();
		advanceMillis(1_900);
		assertThat(find(id).attempt()).isEqualTo(2);
		advanceMillis(200);
		assertThat(find(id).attempt()).isEqualTo(3);
	}

	@Test
	void aRunThatFailsIsTriedAgainUntilItIsGivenUpAndTheScheduleGoesOn() {
		handle(NAME, (number) -> {
			count(number);
			throw new IllegalStateException("it failed");
		});
		long first = storeNow() + 1_000;
		recur("every(PT1M)", Duration.ofSeconds(1));
		node();
		advance(Duration.ofSeconds(50));
		assertThat(this.times).hasSize(3);
		assertThat(onlyPending().dueAt()).isEqualTo(first + 60_000);
		assertThat(onlyPending().error()).contains("it failed");
		assertThat(onlyPending().attempt()).isEqualTo(1);
		advance(Duration.ofMinutes(1));
		assertThat(this.times).hasSize(6);
		assertThat(this.store.counts(List.of()).get(NAME).dead()).isZero();
	}

	@Test
	void aRunWhoseScheduleThisReleaseDoesNotKnowComesBackAndNothingIsLost() {
		handle(NAME, this::count);
		recur("lunar(full)", Duration.ZERO);
		DurableNode node = node();
		for (int i = 0; i < 10; i++) {
			advance(Duration.ofSeconds(60));
			assertThat(onlyPending().error()).contains("lunar(full)");
			assertThat(onlyPending().schedule().text()).isEqualTo("lunar(full)");
		}
		assertThat(this.runs).isEmpty();
		assertThat(node.figures().lostLeases()).isZero();
		assertThat(node.figures().claimed()).isBetween(10L, 40L);
	}

	@Test
	void aTaskThatIsTooLateDoesNotRun() {
		handle(NumberHandler.of(NAME, this::count, Runnable::run, Duration.ofSeconds(10), Missed.ONCE));
		enqueue(1, Duration.ZERO);
		advance(Duration.ofSeconds(11));
		enqueue(2, Duration.ZERO);
		node();
		advanceMillis(100);
		assertThat(this.runs).containsExactly(2);
		assertThat(counts().expired()).isEqualTo(1);
		assertThat(list(Order.PENDING)).isEmpty();
	}

	/**
	 * The backlog of an outage: more tasks than a claim takes, and a schedule whose run
	 * has expired.
	 */
	@Test
	void whatHasExpiredCountsForNoRateAndHoldsUpNoFreshTask() {
		this.policies.declare(NAME,
				new PolicySettings(null, BackoffSettings.NONE, null, null, StartRate.parse("1/h"), null));
		handle(NumberHandler.of(NAME, this::count, Runnable::run, Duration.ofMinutes(1), Missed.ONCE));
		IntStream.range(0, 150).forEach((number) -> enqueue(number, Duration.ZERO));
		recur("every(PT1H)", Duration.ZERO);
		advance(Duration.ofMinutes(2));
		node();
		advance(Duration.ofSeconds(10));
		assertThat(counts().expired()).isEqualTo(151);
		enqueue(1, Duration.ZERO);
		advance(POLL);
		enqueue(2, Duration.ZERO);
		advance(POLL);
		assertThat(this.runs).containsExactly(1);
		assertThat(list(Order.PENDING)).hasSize(2)
			.filteredOn((task) -> task.schedule() != null)
			.allMatch((task) -> task.dueAt() > storeNow());
	}

	@Test
	void aNodeComesBackWhenTheRateAllowsTheNextStart() {
		this.policies.declare(NAME,
				new PolicySettings(null, BackoffSettings.NONE, null, null, StartRate.parse("4/s"), null));
		handle(NAME, this::count);
		IntStream.range(0, 20).forEach((number) -> enqueue(number, Duration.ZERO));
		long start = storeNow();
		node();
		advance(POLL.multipliedBy(2));
		assertThat(this.times)
			.containsExactlyElementsOf(IntStream.rangeClosed(0, 8).mapToObj((i) -> start + 250L * i).toList());
	}

	@Test
	void aNameThatThePolicyPausesIsNotStartedByThisNode() {
		this.policies.declare(NAME, new PolicySettings(null, BackoffSettings.NONE, null, null, null, true));
		handle(NAME, this::count);
		handle("other", (number) -> this.runs.add(-number));
		String id = enqueue(1, Duration.ZERO);
		enqueue("other", "2", Duration.ZERO);
		node();
		advance(POLL.multipliedBy(3));
		assertThat(this.runs).containsExactly(-2);
		assertThat(find(id).state()).isEqualTo(State.SCHEDULED);
	}

	@Test
	void aFailedClaimHoldsNoRoom() {
		boolean[] fails = { true };
		use(new InMemoryTaskStore() {

			@Override
			public Claimed claim(ClaimRequest request) {
				if (fails[0]) {
					throw new IllegalStateException("down");
				}
				return super.claim(request);
			}

		});
		handle(NAME, this::count);
		enqueue(7, Duration.ZERO);
		DurableNode node = node();
		advance(Duration.ofSeconds(3));
		assertThat(node.inFlight()).isZero();
		assertThat(node.outage().error()).hasToString("java.lang.IllegalStateException: down");
		fails[0] = false;
		advance(Duration.ofSeconds(6));
		assertThat(node.outage()).isNull();
		assertThat(this.runs).containsExactly(7);
	}

	@Test
	void aSuspectRunsAloneAndLeavesTheOthersTheirBacklog() {
		handle(NAME, this::count);
		enqueue(0, Duration.ZERO);
		claimAndForget();
		advance(LEASE.plusSeconds(1));
		IntStream.range(1, 1_000).forEach((number) -> enqueue(number, Duration.ZERO));
		DurableNode node = node();
		advanceMillis(100);
		assertThat(this.runs).hasSize(1_000);
		assertThat(node.figures().claims()).isLessThan(30);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aTaskThatHasLostItsNodesTooOftenIsDeadAndARunIsGivenUpAndTheNextComes(boolean run) {
		handle(NAME, this::count);
		long first = storeNow();
		if (run) {
			recur("every(PT1H)", Duration.ZERO);
		}
		else {
			enqueue(0, Duration.ZERO);
		}
		for (int i = 0; i < 3; i++) {
			claimAndForget();
			advance(LEASE.plusSeconds(1));
		}
		node();
		advanceMillis(100);
		assertThat(this.runs).isEmpty();
		assertThat(list(run ? Order.PENDING : Order.DEAD_LATEST_FIRST)).singleElement()
			.satisfies((task) -> assertThat(task.error()).startsWith("Nodes ended 3 times"));
		advance(Duration.ofHours(1));
		assertThat(this.times).isEqualTo(run ? List.of(first + 3_600_000) : List.of());
		assertThat(this.store.counts(List.of()).get(NAME).dead()).isEqualTo(run ? 0 : 1);
	}

	@ParameterizedTest
	@CsvSource({ "false, false", "true, false", "true, true" })
	void aMissedRunIsSkippedUnlessItsBodyHasStarted(boolean givenBack, boolean started) {
		handle(NumberHandler.of(NAME, this::count, Runnable::run, null, Missed.SKIP));
		recur("every(PT1H)", Duration.ZERO);
		if (givenBack) {
			this.store.settle(List.of(new Settlement.Release(claimAndForget(), started)));
		}
		advance(LEASE.multipliedBy(2).plusSeconds(1));
		node();
		advanceMillis(10);
		assertThat(this.runs).hasSize(started ? 1 : 0);
		assertThat(counts().expired()).isEqualTo(started ? 0 : 1);
		assertThat(onlyPending().dueAt()).isGreaterThan(storeNow());
	}

	/** Claims and begins the only task, as a node that ends then. */
	private TaskRef claimAndForget() {
		ClaimRequest request = new ClaimRequest("other", Map.of(NAME, new ClaimRequest.Share(1, 0)), 1, true,
				Duration.ZERO, LEASE, 1000);
		List<LeasedTask> tasks = this.store.claim(request).tasks();
		if (tasks.isEmpty()) {
			tasks = this.store.claim(request).tasks();
		}
		assertThat(tasks).hasSize(1);
		this.store.begin(List.of(tasks.get(0).ref()), LEASE);
		return tasks.get(0).ref();
	}

	@Test
	void pausedNamesAreGivenBackAndRunAfterTheirPause() {
		handle(NAME, this::count);
		handle("other", (number) -> this.runs.add(-number));
		String id = enqueue(7, Duration.ofMillis(1_800));
		enqueue("other", "8", Duration.ofMillis(1_800));
		DurableNode node = node();
		advanceMillis(100);
		assertThat(find(id).state()).isEqualTo(State.LEASED);
		this.store.setPaused(NAME, true);
		advanceMillis(1_900);
		assertThat(this.runs).containsExactly(-8);
		assertThat(node.isPaused(NAME)).isTrue();
		assertThat(find(id).state()).isEqualTo(State.SCHEDULED);
		node.setPaused(NAME, false);
		advanceMillis(1);
		assertThat(this.runs).containsExactly(-8, 7);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aPauseOrAResumeDuringAClaimHoldsInSpiteOfTheReply(boolean pause) {
		DurableNode[] node = new DurableNode[1];
		List<Boolean> seen = new ArrayList<>();
		use(new InMemoryTaskStore() {

			@Override
			public Claimed claim(ClaimRequest request) {
				seen.add(node[0].isPaused(NAME));
				Claimed claimed = super.claim(request);
				if (seen.size() == 1) {
					node[0].setPaused(NAME, pause);
				}
				return claimed;
			}

		});
		this.store.setPaused(NAME, !pause);
		handle(NAME, this::count);
		node[0] = node();
		advance(POLL.multipliedBy(2));
		assertThat(seen.subList(1, seen.size())).isNotEmpty().containsOnly(pause);
	}

	@ParameterizedTest
	@CsvSource({ "10, false", "1010, false", "1010, true" })
	void aPausedNodeGivesBackWhatHasNotStartedAndClaimsNothing(long afterMillis, boolean refused) {
		use(new InMemoryTaskStore() {

			@Override
			public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
				throw new IllegalStateException("down");
			}

			@Override
			public boolean isRefusal(Throwable error) {
				return refused;
			}

		});
		handle(NAME, this::count);
		String id = enqueue(7, Duration.ofSeconds(1));
		DurableNode node = node();
		advanceMillis(afterMillis);
		assertThat(node.outage() != null).isEqualTo(afterMillis > 1_000);
		node.pause();
		assertThat(find(id).state()).isEqualTo(State.SCHEDULED);
		assertThat(node.isClaiming()).isFalse();
		advance(Duration.ofSeconds(10));
		assertThat(this.runs).isEmpty();
		assertThat(node.outage()).as("the begin that failed is forgotten").isNull();
		node.resume();
		advanceMillis(1);
		assertThat(this.runs).containsExactly(7);
	}

	@Test
	void aTaskThatTheStoreRefusesToSettleHoldsUpNoOther() {
		boolean[] refuses = { true };
		use(new InMemoryTaskStore() {

			@Override
			public List<Reply> settle(List<Settlement> settlements) {
				if (refuses[0] && settlements.stream().anyMatch(Settlement.Retry.class::isInstance)) {
					throw new UnsupportedOperationException("character");
				}
				return super.settle(settlements);
			}

			@Override
			public boolean isRefusal(Throwable error) {
				return error instanceof UnsupportedOperationException;
			}

		});
		handle(NAME, (number) -> {
			count(number);
			if (number == 7) {
				throw new IllegalStateException("expected");
			}
		});
		String id = enqueue(7, Duration.ZERO);
		enqueue(8, Duration.ZERO);
		DurableNode node = node();
		advanceMillis(100);
		assertThat(this.runs).containsExactly(7, 8);
		assertThat(counts().completed()).isEqualTo(1);
		assertThat(find(id).state()).isEqualTo(State.RUNNING);
		assertThat(node.outage()).isNotNull();
		refuses[0] = false;
		advance(Duration.ofSeconds(3));
		assertThat(find(id).error()).contains("expected");
	}

	@Test
	void theNodeReportsItsStateAndLooksAfterSchedules() throws Exception {
		List<Long> looks = new ArrayList<>();
		this.schedules = () -> {
			looks.add(this.time.nanoTime() / 1_000_000_000);
			return looks.size() > 2;
		};
		DurableNode node = node();
		advance(Duration.ofSeconds(64));
		assertThat(looks).containsExactly(0L, 1L, 2L, 32L, 62L);
		assertThat(this.store.nodes()).extracting(NodeState.Reported::state)
			.containsExactly(new NodeState("node", Activity.CLAIMING, 0));
		assertThat(this.store.nodes().get(0).age()).isLessThan(Duration.ofSeconds(5));
		node.pause();
		advance(Duration.ofSeconds(5));
		assertThat(this.store.nodes().get(0).state().activity()).isEqualTo(Activity.PAUSED);
		node.shutdown(Duration.ZERO);
		assertThat(this.store.nodes()).isEmpty();
	}

	@Test
	void deadTasksAreDeletedAfterTheirRetention() {
		this.deadRetention = Duration.ofHours(1);
		handle(NAME, (number) -> {
			throw new IllegalStateException("expected");
		});
		IntStream.range(0, 1_200).forEach((number) -> enqueue(number, Duration.ZERO));
		DurableNode node = node();
		advance(Duration.ofMinutes(30));
		assertThat(this.store.counts(List.of()).get(NAME).dead()).isEqualTo(1_200);
		advance(Duration.ofMinutes(50));
		assertThat(this.store.counts(List.of())).isEmpty();
		assertThat(node.figures().expiredDead()).isEqualTo(1_200);
	}

	@Test
	void aTaskThatWasMovedOrCancelledDoesNotStart() {
		handle(NAME, this::count);
		String cancelled = enqueue(1, Duration.ofSeconds(1));
		String moved = enqueue(2, Duration.ofSeconds(1));
		DurableNode node = node();
		advanceMillis(500);
		this.store.cancel(Target.of(cancelled));
		this.store.move(Target.of(moved), DueTime.after(Duration.ofSeconds(5)));
		advanceMillis(1_000);
		assertThat(this.runs).isEmpty();
		assertThat(node.figures().refused()).isEqualTo(2);
		StoredTask task = find(moved);
		advance(Duration.ofMillis(task.dueAt() - storeNow()));
		assertThat(this.runs).containsExactly(2);
	}

}
