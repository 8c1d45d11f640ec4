package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.LeasedTask;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LaneTests {

	private final AtomicLong clock = new AtomicLong(1);

	private final List<DurableRun> released = new ArrayList<>();

	private final AtomicInteger calls = new AtomicInteger();

	private final Lane lane = new Lane(this.clock::get, this.released::add, this.calls::incrementAndGet);

	private void pass(Duration time) {
		this.clock.addAndGet(time.toNanos());
	}

	/**
	 * Begins as many tasks as the lane has room for.
	 * @return when each of them has begun
	 */
	private List<Long> fill() {
		List<Long> begun = new ArrayList<>();
		for (int room = this.lane.room(); room > 0; room--) {
			begun.add(this.lane.begun());
		}
		return begun;
	}

	@Test
	void theWindowDoublesAsLongAsAllItsTasksStartWithoutDelay() {
		for (int window = Lane.MIN_WINDOW; window <= 1024; window *= 2) {
			List<Long> begun = fill();
			assertThat(begun).hasSize(window);
			assertThat(this.lane.room()).isZero();
			pass(Duration.ofMillis(1));
			begun.forEach(this.lane::started);
		}
	}

	@Test
	void aWindowThatIsNotFullDoesNotGrow() {
		for (int i = 0; i < 100; i++) {
			this.lane.started(this.lane.begun());
		}
		assertThat(this.lane.room()).isEqualTo(Lane.MIN_WINDOW);
	}

	@Test
	void theWindowShrinksToWhatStartsWithinATenthOfASecond() {
		for (int i = 0; i < 7; i++) {
			fill().forEach(this.lane::started);
		}
		List<Long> begun = fill();
		assertThat(begun).hasSize(1024);
		for (long each : begun) {
			// 250 bodies start in a second.
			pass(Duration.ofMillis(4));
			this.lane.started(each);
		}
		assertThat(this.lane.room()).isBetween(24, 26);
		for (int i = 0; i < 10; i++) {
			for (long each : fill()) {
				pass(Duration.ofMillis(4));
				this.lane.started(each);
			}
			assertThat(this.lane.room()).isBetween(24, 52);
		}
	}

	@Test
	void theWindowOfSlowBodiesStaysSmall() {
		for (int i = 0; i < 10; i++) {
			for (long each : fill()) {
				pass(Duration.ofSeconds(1));
				this.lane.started(each);
			}
			assertThat(this.lane.room()).isEqualTo(Lane.MIN_WINDOW);
		}
	}

	@Test
	void thereIsNoRoomWhileNoTaskStarts() {
		for (int i = 0; i < 4; i++) {
			fill().forEach(this.lane::started);
		}
		for (int i = 0; i < Lane.MIN_WINDOW; i++) {
			this.lane.begun();
		}
		assertThat(this.lane.room()).isPositive();
		pass(Duration.ofMillis(101));
		assertThat(this.lane.room()).isZero();
	}

	@Test
	void theWindowIsForgottenWhenNoTaskHasStartedForLong() {
		for (int i = 0; i < 4; i++) {
			fill().forEach(this.lane::started);
		}
		pass(Duration.ofSeconds(11));
		assertThat(this.lane.room()).isEqualTo(Lane.MIN_WINDOW);
	}

	@Test
	void tasksWaitInTheQueueUntilHalfOfTheWindowIsFree() {
		List<DurableRun> runs = new ArrayList<>();
		for (int i = 0; i < Lane.MIN_WINDOW + 6; i++) {
			LeasedTask task = new LeasedTask("id" + i, 1, "name", null, "", null, 0, false, 1, 0, 0, false);
			DurableRun run = new DurableRun(task, null, null, this.lane, i);
			assertThat(this.lane.tryBegin(run)).isEqualTo(i < Lane.MIN_WINDOW);
			runs.add(run);
		}
		assertThat(this.lane.hasBacklog()).isTrue();
		assertThat(this.lane.room()).isZero();
		assertThat(this.lane.removeQueued(runs.get(Lane.MIN_WINDOW + 1))).isTrue();
		assertThat(this.lane.removeQueued(runs.get(Lane.MIN_WINDOW + 1))).isFalse();
		List<Long> begun = new ArrayList<>();
		for (int i = 0; i < Lane.MIN_WINDOW; i++) {
			begun.add(this.lane.begun());
			this.lane.triedToBegin();
		}
		begun.subList(0, 3).forEach(this.lane::started);
		assertThat(this.released).isEmpty();
		this.lane.started(begun.get(3));
		assertThat(this.released).containsExactly(runs.get(8), runs.get(10), runs.get(11), runs.get(12));
		assertThat(this.calls).hasValue(0);
	}

	@Test
	void aClaimThatHadNoRoomIsToldOfRoom() {
		assertThat(this.lane.expectRoom()).isFalse();
		List<Long> begun = fill();
		assertThat(this.lane.expectRoom()).isTrue();
		begun.subList(0, 3).forEach(this.lane::started);
		assertThat(this.calls).hasValue(0);
		this.lane.dropped();
		assertThat(this.calls).hasValue(1);
		begun.subList(4, 8).forEach(this.lane::started);
		assertThat(this.calls).hasValue(1);
	}

	/**
	 * Begins tasks for which the store has places, while it holds back others.
	 */
	private List<Long> beginLimited() {
		this.lane.claiming();
		List<Long> begun = fill();
		begun.forEach((each) -> this.lane.added());
		this.lane.holdInStore();
		return begun;
	}

	@Test
	void aLimitedNameIsClaimedAgainWhenHalfOfItsTasksHaveStarted() {
		List<Long> begun = beginLimited();
		for (int i = 0; i < begun.size() / 2; i++) {
			assertThat(this.calls).as("the threads still have work").hasValue(0);
			this.lane.started(begun.get(i));
			this.lane.removed();
		}
		assertThat(this.calls).hasPositiveValue();
	}

	@Test
	void aPlaceThatIsFreeBeforeHalfOfTheTasksHaveStartedIsUsedThen() {
		List<Long> begun = beginLimited();
		this.lane.started(begun.get(0));
		this.lane.removed();
		begun.subList(1, begun.size()).forEach(this.lane::started);
		assertThat(this.calls).hasValue(1);
	}

	@Test
	void eachPlaceIsUsedAtOnceWhileNoTaskWaitsForAThread() {
		List<Long> begun = beginLimited();
		begun.forEach(this.lane::started);
		for (int i = 1; i <= begun.size(); i++) {
			this.lane.removed();
			assertThat(this.calls).hasValue(i);
			this.lane.claiming();
			this.lane.holdInStore();
		}
	}

	@Test
	void thereIsOneCallForAllPlacesThatAreFreeUntilTheNextClaim() {
		List<Long> begun = beginLimited();
		begun.forEach(this.lane::started);
		begun.forEach((each) -> this.lane.removed());
		assertThat(this.calls).hasValue(1);
	}

	@Test
	void aPlaceThatIsFreeDuringAClaimIsUsedAfterIt() {
		List<Long> begun = beginLimited();
		this.lane.claiming();
		this.lane.started(begun.get(0));
		this.lane.removed();
		this.lane.holdInStore();
		assertThat(this.calls).hasValue(0);
		begun.subList(1, begun.size()).forEach(this.lane::started);
		assertThat(this.calls).hasValue(1);
	}

	@Test
	void placesThatAreFreeDuringAClaimAreUsedOnceAtItsEnd() {
		List<Long> begun = beginLimited();
		this.lane.claiming();
		begun.forEach(this.lane::started);
		begun.forEach((each) -> this.lane.removed());
		assertThat(this.calls).as("the claim itself may still find these places").hasValue(0);
		this.lane.holdInStore();
		assertThat(this.calls).hasValue(1);
	}

	@Test
	void afterAClaimThatHasHeldBackNothingNoPlaceIsClaimed() {
		List<Long> begun = beginLimited();
		this.lane.claiming();
		begun.forEach(this.lane::started);
		begun.forEach((each) -> this.lane.removed());
		this.lane.setBacklog(false);
		this.lane.started(this.lane.begun());
		this.lane.removed();
		assertThat(this.calls).hasValue(0);
	}

}
