package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.jdbc.ClaimFloors.Search;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where claims begin, by a clock that the test sets.
 */
class ClaimFloorsTests {

	private static final String NAME = "close-order";

	private static final String OTHER_NAME = "send-mail";

	private static final String LIMITED_NAME = "call-partner";

	private static final ClaimRequest REQUEST = new ClaimRequest("a", Set.of(NAME), 10, Duration.ZERO, Duration.ZERO,
			0);

	private final AtomicLong nanos = new AtomicLong();

	private final ClaimFloors floors = new ClaimFloors(this.nanos::get, Duration.ofSeconds(1));

	private Search search() {
		return this.floors.search(List.of(NAME));
	}

	private void searched(Search search, long now) {
		this.floors.searched(search, REQUEST, Map.of(), now);
	}

	private Search claimFor(Duration duration) {
		Search search = search();
		pass(duration);
		searched(search, 100_000);
		return search;
	}

	private long floor() {
		return search().floors().get(0);
	}

	private void look(long now, long dueAt) {
		Search look = this.floors.search(List.of(LIMITED_NAME));
		this.floors.looked(look, Map.of(LIMITED_NAME, new FirstTimes(now, dueAt, Long.MAX_VALUE, Long.MAX_VALUE)));
	}

	private long floorOfLook() {
		return this.floors.search(List.of(LIMITED_NAME)).floors().get(0);
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

	@Test
	void aClaimBeginsWhereTheEarlierOnesHaveLeftNoTaskAndEverySecondAtTheBeginning() {
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
		searched(search(), 100_000);
		assertThat(floor()).isEqualTo(99_000);
		this.nanos.addAndGet(Duration.ofSeconds(1).toNanos());
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
	}

	@Test
	void aSweepThatTakesLongDelaysTheNextOneByTenSecondsAtMost() {
		Search sweep = search();
		this.nanos.addAndGet(Duration.ofMillis(100).toNanos());
		searched(sweep, 100_000);
		this.nanos.addAndGet(Duration.ofMillis(1990).toNanos());
		assertThat(floor()).isEqualTo(99_000);
		this.nanos.addAndGet(Duration.ofMillis(10).toNanos());
		sweep = search();
		assertThat(sweep.floors()).containsExactly(ClaimFloors.NONE);
		this.nanos.addAndGet(Duration.ofSeconds(25).toNanos());
		searched(sweep, 200_000);
		this.nanos.addAndGet(Duration.ofSeconds(10).toNanos());
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
	}

	/**
	 * On a busy database each claim takes long.
	 */
	@Test
	void aSweepThatTakesAsLongAsOtherClaimsDelaysTheNextOneByASecond() {
		Duration busy = Duration.ofMillis(300);
		assertThat(claimFor(busy).swept()).containsExactly(NAME);
		assertThat(claimFor(busy).swept()).isEmpty();
		pass(Duration.ofSeconds(6));
		assertThat(claimFor(busy).swept()).containsExactly(NAME);
		pass(Duration.ofMillis(999));
		assertThat(floor()).isEqualTo(99_000);
		pass(Duration.ofMillis(1));
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
	}

	@Test
	void aSweepThatTakesLongerThanOtherClaimsDelaysTheNextOneByTheDifference() {
		Duration sweep = Duration.ofMillis(300);
		claimFor(sweep);
		claimFor(Duration.ofMillis(50));
		claimFor(Duration.ofMillis(150));
		pass(Duration.ofSeconds(6));
		assertThat(claimFor(sweep).swept()).containsExactly(NAME);
		pass(Duration.ofMillis(3999));
		assertThat(floor()).isEqualTo(99_000);
		pass(Duration.ofMillis(1));
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
	}

	@Test
	void aSweepThatFollowsAnotherWithoutAClaimBetweenDelaysTheNextOneByItsWholeTime() {
		Duration sweep = Duration.ofMillis(300);
		claimFor(sweep);
		claimFor(sweep);
		pass(Duration.ofSeconds(6));
		claimFor(sweep);
		pass(Duration.ofSeconds(1));
		assertThat(claimFor(sweep).swept()).containsExactly(NAME);
		pass(Duration.ofMillis(5999));
		assertThat(floor()).isEqualTo(99_000);
		pass(Duration.ofMillis(1));
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
	}

	@Test
	void aLookBeginsAtTheFirstTaskThatTheEarlierOneHasSeen() {
		assertThat(floorOfLook()).isEqualTo(ClaimFloors.NONE);
		look(100_000, Long.MAX_VALUE);
		assertThat(floorOfLook()).isEqualTo(99_000);
		look(110_000, 50_000);
		assertThat(floorOfLook()).isEqualTo(50_000);
		pass(Duration.ofSeconds(1));
		assertThat(floorOfLook()).isEqualTo(ClaimFloors.NONE);
	}

	@Test
	void aLookAtLimitedNamesDoesNotChangeWhenOtherNamesAreSwept() {
		Search sweep = search();
		pass(Duration.ofMillis(500));
		searched(sweep, 100_000);
		for (int i = 0; i < 9; i++) {
			pass(Duration.ofSeconds(1));
			look(100_000, Long.MAX_VALUE);
			assertThat(floor()).isEqualTo(99_000);
		}
		pass(Duration.ofSeconds(1));
		look(100_000, Long.MAX_VALUE);
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
	}

	@Test
	void aSweepAfterALookAtLimitedNamesIsMeasured() {
		look(100_000, Long.MAX_VALUE);
		Search sweep = search();
		assertThat(sweep.floors()).containsExactly(ClaimFloors.NONE);
		pass(Duration.ofMillis(500));
		searched(sweep, 100_000);
		pass(Duration.ofSeconds(9));
		look(100_000, Long.MAX_VALUE);
		assertThat(floor()).isEqualTo(99_000);
		pass(Duration.ofSeconds(1));
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
	}

	/**
	 * A claim that is full with the tasks of one name shows nothing of another name.
	 */
	@Test
	void aNameThatClaimsNeverReachDoesNotDelayTheSweepsOfAnother() {
		ClaimRequest both = new ClaimRequest("a", Set.of(NAME, OTHER_NAME), 2, Duration.ZERO, Duration.ZERO, 0);
		for (int i = 0; i < 4; i++) {
			Search search = this.floors.search(List.of(NAME, OTHER_NAME));
			assertThat(search.floors()).containsExactly((i == 0) ? ClaimFloors.NONE : 50_001, ClaimFloors.NONE);
			this.floors.searched(search, both, Map.of(NAME, List.of(50_000L, 50_001L)), 100_000);
			pass(Duration.ofMillis(250));
		}
		assertThat(floor()).isEqualTo(ClaimFloors.NONE);
	}

	@Test
	void namesOfOneClaimThatAreDueForASweepWithinASecondAreSweptTogether() {
		ClaimRequest other = new ClaimRequest("a", Set.of(OTHER_NAME), 10, Duration.ZERO, Duration.ZERO, 0);
		searched(search(), 100_000);
		pass(Duration.ofMillis(500));
		this.floors.searched(this.floors.search(List.of(OTHER_NAME)), other, Map.of(), 100_000);
		pass(Duration.ofMillis(499));
		List<String> both = List.of(NAME, OTHER_NAME);
		assertThat(this.floors.search(both).floors()).containsOnly(99_000L);
		pass(Duration.ofMillis(1));
		assertThat(this.floors.search(both).floors()).containsOnly(ClaimFloors.NONE);
	}

	@Test
	void aClaimThatBeganBeforeATaskBecameClaimableDoesNotPassItOver() {
		searched(search(), 100_000);
		Search before = search();
		this.floors.claimable(NAME, 5_000);
		searched(before, 110_000);
		assertThat(floor()).isEqualTo(5_000);
		searched(search(), 120_000);
		assertThat(floor()).isEqualTo(119_000);
	}

	@Test
	void aSweepThatBeganBeforeATaskBecameClaimableDoesNotPassItOver() {
		Search sweep = search();
		this.floors.claimable(NAME, 5_000);
		this.floors.claimable(NAME, 7_000);
		searched(sweep, 100_000);
		assertThat(floor()).isEqualTo(5_000);
	}

}
