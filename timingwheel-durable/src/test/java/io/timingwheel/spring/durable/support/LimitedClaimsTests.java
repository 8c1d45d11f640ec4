package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StartLimits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LimitedClaims}.
 */
class LimitedClaimsTests {

	private static final long NOW = 1_000;

	private static final long LATER = 2_000;

	private final Names claims = new Names();

	@Test
	void aBusyNameNeedsNoLookButNowAndThenOneAllTheSame() {
		this.claims.due("a", 1);
		IntStream.range(0, 18).forEach((i) -> this.claims.claim(request(false, "a")));
		assertThat(this.claims.looks).isEqualTo(2);
		assertThat(this.claims.taken).hasSize(18).containsOnly("a");
	}

	@Test
	void aNameThatWasNotBusyIsLookedAt() {
		this.claims.due("a", 1);
		this.claims.busy = false;
		IntStream.range(0, 5).forEach((i) -> this.claims.claim(request(false, "a")));
		assertThat(this.claims.looks).isEqualTo(5);
	}

	@Test
	void aNameThatIsNotBusyAnyMoreIsLookedAtAgain() {
		this.claims.due("a", 1);
		this.claims.claim(request(false, "a"));
		this.claims.busy = false;
		this.claims.claim(request(false, "a"));
		assertThat(this.claims.looks).isEqualTo(1);
		this.claims.claim(request(false, "a"));
		assertThat(this.claims.looks).isEqualTo(2);
	}

	@Test
	void aClaimOfASuspectLooks() {
		this.claims.due("a", 1);
		this.claims.claim(request(false, "a"));
		this.claims.claim(request(true, "a"));
		assertThat(this.claims.looks).isEqualTo(2);
	}

	@Test
	void theNameWhoseTaskIsDueFirstComesFirst() {
		this.claims.due("a", 3).due("b", 1).due("c", 2);
		this.claims.claim(request(false, "a", "b", "c"));
		assertThat(this.claims.taken).containsExactly("b", "c", "a");
	}

	@Test
	void withoutALookEachNameHasItsTurnToBeTheFirst() {
		this.claims.due("a", 1).due("b", 1).due("c", 1);
		this.claims.claim(request(false, "a", "b", "c"));
		this.claims.taken.clear();
		IntStream.range(0, 6).forEach((i) -> this.claims.claim(request(false, "a", "b", "c")));
		Map<String, Long> firsts = IntStream.range(0, 6)
			.mapToObj((i) -> this.claims.taken.get(3 * i))
			.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
		assertThat(firsts).isEqualTo(Map.of("a", 2L, "b", 2L, "c", 2L));
		assertThat(this.claims.looks).isEqualTo(1);
	}

	@Test
	void withoutALookEachOfTwoNamesHasItsTurnToComeBeforeAllOthers() {
		this.claims.due("a", 1).due("b", 1);
		this.claims.claim(request(false, "a", "b", "other"));
		this.claims.taken.clear();
		IntStream.range(0, 8).forEach((i) -> this.claims.claim(request(false, "a", "b", "other")));
		Map<String, Long> firsts = IntStream.range(0, 8)
			.mapToObj((i) -> this.claims.taken.get(3 * i))
			.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
		assertThat(firsts).isEqualTo(Map.of("a", 2L, "b", 2L, "other", 4L));
	}

	@Test
	void aNameThatALookShowsEmptyIsNotBusy() {
		this.claims.due("a", 1);
		this.claims.claim(request(false, "a"));
		this.claims.due("a", Long.MAX_VALUE);
		this.claims.busy = null;
		this.claims.claim(request(true, "a"));
		assertThat(this.claims.looks).isEqualTo(2);
		this.claims.claim(request(false, "a"));
		assertThat(this.claims.looks).isEqualTo(3);
	}

	@Test
	void limitedAndOtherNamesComeFirstInTurn() {
		this.claims.due("a", 1);
		IntStream.range(0, 4).forEach((i) -> this.claims.claim(request(false, "a", "other")));
		assertThat(this.claims.taken).containsExactly("a", "other", "other", "a", "a", "other", "other", "a");
	}

	@Test
	void aClaimWithoutTimeLooksToLearnIt() {
		this.claims.due("a", 1);
		this.claims.claim(request(false, "a"));
		ClaimRequest noRoom = new ClaimRequest("node", Map.of("a", new Limit(0, 0)), 10, false, Duration.ZERO,
				Duration.ZERO, 0, Map.of("a", new StartLimits(1, 0, 0, 1)));
		Claimed claimed = this.claims.claim(noRoom);
		assertThat(claimed.tasks()).isEmpty();
		assertThat(claimed.now()).isEqualTo(NOW);
		assertThat(claimed.startAt()).isEqualTo(LATER);
	}

	@Test
	void aClaimThatFailsAfterItHasTakenTasksReturnsThese() {
		this.claims.due("a", 1).due("broken", 2);
		Claimed claimed = this.claims.claim(request(false, "a", "broken"));
		assertThat(claimed.tasks()).extracting(LeasedTask::name).containsExactly("a");
		assertThat(claimed.nextAt()).isEqualTo(claimed.now());
		assertThatIllegalStateException().isThrownBy(() -> this.claims.claim(request(false, "broken")));
	}

	private static ClaimRequest request(boolean suspect, String... names) {
		return new ClaimRequest("node",
				Stream.of(names).collect(Collectors.toMap(Function.identity(), (name) -> new Limit(10, 0))), 10,
				suspect, Duration.ZERO, Duration.ZERO, 0,
				Stream.of(names)
					.filter((name) -> !name.equals("other"))
					.collect(Collectors.toMap(Function.identity(), (name) -> new StartLimits(1, 0, 0, 1))));
	}

	private record TestLook(long dueAt) implements LimitedClaims.Look {

		@Override
		public long now() {
			return NOW;
		}

		@Override
		public long laterAt() {
			return LATER;
		}

	}

	private static final class Names extends LimitedClaims<TestLook> {

		private final Map<String, TestLook> names = new HashMap<>();

		private final List<String> taken = new ArrayList<>();

		private int looks;

		/** What a claim says of the name, {@code null} for nothing. */
		private @Nullable Boolean busy = true;

		Names due(String name, long dueAt) {
			this.names.put(name, new TestLook(dueAt));
			return this;
		}

		@Override
		protected Map<String, TestLook> look(ClaimRequest request) {
			this.looks++;
			return this.names;
		}

		@Override
		protected @Nullable Claimed claimSuspect(ClaimRequest request, Map<String, TestLook> looks) {
			return null;
		}

		@Override
		protected boolean claimExpired(ClaimRequest request, String name, TestLook look, Duration expireAfter, int room,
				PartialClaim claim) {
			return false;
		}

		@Override
		protected Claimed claimOthers(ClaimRequest request) {
			return new Claimed(List.of(task("other")), NOW, Long.MAX_VALUE);
		}

		@Override
		protected void claimLimited(ClaimRequest request, String name, @Nullable TestLook look, int room,
				PartialClaim claim) {
			if (name.equals("broken")) {
				throw new IllegalStateException("broken");
			}
			if (room > 0) {
				if (Boolean.TRUE.equals(this.busy)) {
					if (look != null) {
						setBusy(name);
					}
				}
				else if (this.busy != null) {
					setIdle(name);
				}
				claim.heard(NOW);
				claim.add(List.of(task(name)));
			}
		}

		private LeasedTask task(String name) {
			this.taken.add(name);
			return new LeasedTask("id" + this.taken.size(), 1, name, null, "", null, NOW, true, 1, 1, 0, false, null);
		}

	}

}
