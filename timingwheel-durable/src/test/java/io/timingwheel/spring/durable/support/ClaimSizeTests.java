package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.task.internal.Backoff;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ClaimSizeTests {

	private static final long QUICK = TimeUnit.MILLISECONDS.toNanos(5);

	private static ClaimSize size(int batchSize, int maxInFlight) {
		return new ClaimSize(settings(batchSize, maxInFlight));
	}

	private static DurableSettings settings(int batchSize, int maxInFlight) {
		return new DurableSettings("node", Duration.ofSeconds(30), Duration.ofSeconds(2), Duration.ofSeconds(1),
				batchSize, maxInFlight, 16, 5, new Backoff(Duration.ofSeconds(1), 2, Duration.ofMinutes(10), 0.2), 1000,
				null);
	}

	/**
	 * Claims all that each claim asks for.
	 */
	private static List<Integer> claimFull(ClaimSize size, int claims, long nanos) {
		List<Integer> sizes = new ArrayList<>();
		for (int i = 0; i < claims; i++) {
			sizes.add(size.next());
			claim(size, size.next(), size.next(), nanos);
		}
		return sizes;
	}

	/**
	 * Claims of one name.
	 */
	private static void claim(ClaimSize size, int limit, int due, long nanos) {
		size.claimed(size.next(), Map.of("a", new Limit(limit, 0)), tasks(due, Set.of()), nanos);
	}

	private static Claimed tasks(int due, Set<String> heldBack) {
		LeasedTask task = new LeasedTask("id", 1, "a", null, "", null, 0, true, 1, 1, 0, false, null);
		return new Claimed(Collections.nCopies(due, task), 0, Long.MAX_VALUE, Long.MAX_VALUE, heldBack);
	}

	@Test
	void fullClaimsGrowToHalfOfTheRoomOfTheNode() {
		assertThat(claimFull(size(100, 1000), 5, QUICK)).containsExactly(100, 200, 400, 500, 500);
	}

	@Test
	void claimsGrowToEightTimesTheBatchSizeAtMost() {
		assertThat(claimFull(size(10, 1000), 5, QUICK)).containsExactly(10, 20, 40, 80, 80);
	}

	@Test
	void aNodeWithLittleRoomKeepsItsBatchSize() {
		assertThat(claimFull(size(100, 30), 3, QUICK)).containsExactly(100, 100, 100);
		assertThat(claimFull(size(100, 150), 3, QUICK)).containsExactly(100, 100, 100);
	}

	@Test
	void aBatchSizeOfOneStaysOne() {
		assertThat(claimFull(size(1, 1000), 3, QUICK)).containsExactly(1, 1, 1);
		assertThat(ClaimSize.max(settings(1, 1000))).isEqualTo(1);
	}

	@Test
	void aClaimThatLeavesRoomEndsTheGrowth() {
		ClaimSize size = size(100, 1000);
		claimFull(size, 4, QUICK);
		claim(size, 500, 499, QUICK);
		assertThat(size.next()).isEqualTo(100);
	}

	@Test
	void aClaimDoesNotGrowIfItsTasksAreLimitedByTheirNames() {
		ClaimSize size = size(100, 1000);
		claim(size, 40, 40, QUICK);
		assertThat(size.next()).isEqualTo(100);
	}

	@Test
	void aNameThatMayTakeLessDoesNotEndTheGrowth() {
		ClaimSize size = size(100, 1000);
		claimFull(size, 3, QUICK);
		claim(size, 40, 40, QUICK);
		assertThat(size.next()).isEqualTo(500);
	}

	@Test
	void namesWithoutTasksDoNotEndTheGrowthOfANameWithABacklog() {
		ClaimSize size = size(100, 1000);
		claimFull(size, 4, QUICK);
		size.claimed(500, Map.of("a", new Limit(350, 0), "idle", new Limit(8, 8)), tasks(350, Set.of()), QUICK);
		assertThat(size.next()).isEqualTo(500);
	}

	@Test
	void namesThatShareTheRoomDoNotEndTheGrowth() {
		ClaimSize size = size(100, 1000);
		claimFull(size, 4, QUICK);
		size.claimed(500, Map.of("a", new Limit(501, 0), "b", new Limit(400, 0)), tasks(500, Set.of()), QUICK);
		assertThat(size.next()).isEqualTo(500);
	}

	@Test
	void aNameWithoutFreePlacesDoesNotEndTheGrowth() {
		ClaimSize size = size(100, 1000);
		claimFull(size, 4, QUICK);
		size.claimed(500, Map.of("a", new Limit(500, 0)), tasks(50, Set.of("a")), QUICK);
		assertThat(size.next()).isEqualTo(500);
		size.claimed(500, Map.of("a", new Limit(500, 0)), tasks(50, Set.of()), QUICK);
		assertThat(size.next()).isEqualTo(100);
	}

	@Test
	void slowClaimsShrinkToTheBatchSize() {
		ClaimSize size = size(100, 1000);
		claimFull(size, 4, QUICK);
		assertThat(claimFull(size, 5, ClaimSize.SLOW_NANOS + 1)).containsExactly(500, 250, 125, 100, 100);
	}

	@Test
	void claimsThatAreNeitherQuickNorSlowKeepTheirSize() {
		ClaimSize size = size(100, 1000);
		claimFull(size, 2, QUICK);
		assertThat(claimFull(size, 3, ClaimSize.QUICK_NANOS + 1)).containsExactly(400, 400, 400);
	}

}
