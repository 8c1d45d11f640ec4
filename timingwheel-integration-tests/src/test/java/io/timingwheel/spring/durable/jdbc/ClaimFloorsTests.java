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

	private long floor() {
		return search().floors().get(0);
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
