package io.timingwheel.spring.durable.admin;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import io.timingwheel.spring.actuate.internal.RefusedRequest;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadSelection;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/** How many dead tasks are requeued, deleted and grouped, in small steps. */
class DeadTasksTests {

	private static final String NAME = "close-order";

	private static final DeadSelection ALL = new DeadSelection(null, null);

	private final MemoryStore store = new MemoryStore();

	private final DeadTasks dead = new DeadTasks(this.store, this.store::list, this.store::requeue);

	private long seconds;

	@Test
	void aStepChangesAtMost500TasksThoseThatDiedLastAndTheLoopEndsAlsoWithoutTheCursor() {
		bury(1700, (key) -> key, (key) -> "failed");
		List<String> ids = allDead();
		StepDescriptor first = this.dead.change(NAME, true, ALL, null);
		assertThat(first.affected()).isEqualTo(500);
		assertThat(first.remaining()).isTrue();
		assertThat(allDead()).isEqualTo(ids.subList(500, 1700));
		assertThat(this.dead.change(NAME, true, ALL, first.cursor()).affected()).isEqualTo(500);
		assertThat(this.store.pending(NAME, 2000)).hasSize(1000);
		assertThat(IntStream.range(0, 2).mapToObj((i) -> this.dead.change(NAME, false, ALL, null)))
			.extracting(StepDescriptor::affected, StepDescriptor::remaining)
			.containsExactly(tuple(500, true), tuple(200, false));
	}

	@Test
	void theStepsFindTheTasksWithTheText() {
		bury(3000, (key) -> key, (key) -> key.endsWith("999") ? "timed out after 5 s" : "refused");
		assertThat(requeueAll("timed out")).isEqualTo(3);
		assertThat(this.store.pending(NAME, 10)).extracting(StoredTask::key)
			.containsExactlyInAnyOrder("k999", "k1999", "k2999");
		assertThat(requeueAll("Timed")).isZero();
		assertThat(this.dead.change(NAME, false, new DeadSelection("refused", null), null).affected()).isEqualTo(500);
	}

	private int requeueAll(String text) {
		int affected = 0;
		String cursor = null;
		do {
			StepDescriptor step = this.dead.change(NAME, true, new DeadSelection(text, null), cursor);
			affected += step.affected();
			cursor = step.cursor();
		}
		while (cursor != null);
		return affected;
	}

	@Test
	void aTaskWhoseKeyIsPendingIsSkippedAndStaysDead() {
		bury(500, (key) -> key, (key) -> "failed");
		IntStream.range(0, 400).forEach((i) -> this.store.insert(NAME, "k" + i, "newer"));
		assertThat(this.dead.change(NAME, true, ALL, null)).isEqualTo(new StepDescriptor(100, 400, false, null));
		assertThat(this.dead.change(NAME, true, ALL, null)).isEqualTo(new StepDescriptor(0, 400, false, null));
		assertThat(allDead()).hasSize(400);
	}

	@Test
	void ofTwoDeadTasksWithOneKeyTheOneThatDiedLastIsRequeued() {
		bury(1, (key) -> "same", (key) -> "failed");
		List<String> last = bury(1, (key) -> "same", (key) -> "failed");
		assertThat(this.dead.change(NAME, true, ALL, null)).isEqualTo(new StepDescriptor(1, 1, false, null));
		assertThat(this.store.pending(NAME, 10)).extracting(StoredTask::id).isEqualTo(last);
	}

	@Test
	void tasksThatDieAgainAreLeftToTheNextLoop() {
		bury(501, (key) -> key, (key) -> "failed");
		StepDescriptor step = this.dead.change(NAME, true, ALL, null);
		Set<String> requeued = new HashSet<>(this.store.pending(NAME, 2000).stream().map(StoredTask::id).toList());
		buryClaimed((key) -> "failed again");
		assertThat(allDead()).hasSize(501);
		assertThat(this.dead.change(NAME, true, ALL, step.cursor())).isEqualTo(new StepDescriptor(1, 0, false, null));
		assertThat(new HashSet<>(allDead())).isEqualTo(requeued);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "x", "0", "0-", "-1-1", "9999999999999999999-1", "0-a\nb" })
	void aCursorOfNoReplyIsRefused(String cursor) {
		assertThatExceptionOfType(RefusedRequest.class).isThrownBy(() -> this.dead.change(NAME, true, ALL, cursor))
			.withMessageContaining("cursor");
		assertThatExceptionOfType(RefusedRequest.class).isThrownBy(() -> this.dead.byError(NAME, cursor))
			.withMessageContaining("cursor");
	}

	@Test
	void theDeadAreGroupedByTheirErrorsTheLatestFirst() {
		List<String> ids = bury(10, (key) -> key, (key) -> key.compareTo("k4") < 0 ? "refused" : "timed out");
		DeadDescriptor groups = this.dead.byError(NAME, null);
		assertThat(groups.examined()).isEqualTo(10);
		assertThat(groups.complete()).isTrue();
		assertThat(groups.groups()).extracting(DeadDescriptor.Group::error).containsExactly("timed out", "refused");
		assertThat(groups.groups()).extracting(DeadDescriptor.Group::count).containsExactly(6, 4);
		assertThat(groups.groups()).extracting(DeadDescriptor.Group::id).containsExactly(ids.get(0), ids.get(6));
		assertThat(groups.groups().get(1).first()).isBefore(groups.groups().get(1).last());
		assertThat(this.dead.byError("unknown", null))
			.isEqualTo(new DeadDescriptor("unknown", List.of(), 0, true, null));
	}

	@Test
	void manyErrorsAndLongOnesAreCutOff() {
		String error = "x".repeat(249) + "\ud83d\ude97";
		bury(150, (key) -> key, (key) -> key + error);
		DeadDescriptor groups = this.dead.byError(NAME, null);
		assertThat(groups.groups()).hasSize(100)
			.allSatisfy((group) -> assertThat(group.error()).hasSizeBetween(249, 250));
		assertThat(groups.groups().get(0).error()).startsWith("k149x");
		assertThat(groups.examined()).isEqualTo(100);
		assertThat(groups.complete()).isFalse();
		DeadDescriptor older = this.dead.byError(NAME, groups.cursor());
		assertThat(older.groups()).hasSize(50);
		assertThat(older.groups().get(0).error()).startsWith("k49x");
		assertThat(older.complete()).isFalse();
		assertThat(older.cursor()).isNull();
	}

	@Test
	void allOfVeryManyAreGroupedPageByPage() {
		bury(4500, (key) -> key, (key) -> key.endsWith("7") ? "timed out" : "refused");
		int examined = 0;
		int timedOut = 0;
		String cursor = null;
		do {
			DeadDescriptor page = this.dead.byError(NAME, cursor);
			assertThat(page.examined()).isBetween(500, 2000);
			assertThat(page.complete()).isFalse();
			examined += page.examined();
			timedOut += page.groups()
				.stream()
				.filter((group) -> group.error().equals("timed out"))
				.mapToInt(DeadDescriptor.Group::count)
				.sum();
			cursor = page.cursor();
		}
		while (cursor != null);
		assertThat(examined).isEqualTo(4500);
		assertThat(timedOut).isEqualTo(450);
	}

	/**
	 * Makes dead tasks, each a second later than the one before.
	 * @return their ids, the latest first
	 */
	private List<String> bury(int tasks, UnaryOperator<String> key, UnaryOperator<String> error) {
		List<String> before = allDead();
		IntStream.range(0, tasks).forEach((i) -> this.store.insert(NAME, key.apply("k" + i), "payload"));
		buryClaimed(error);
		return allDead().stream().filter((id) -> !before.contains(id)).toList();
	}

	private void buryClaimed(UnaryOperator<String> error) {
		List<LeasedTask> claimed = this.store
			.claim(new ClaimRequest("node", Map.of(NAME, new Share(10_000, 0)), 10_000, false, Duration.ZERO,
					Duration.ofDays(9), 100))
			.tasks();
		for (LeasedTask task : claimed) {
			this.store.setClockOffset(Duration.ofSeconds(++this.seconds));
			this.store.settle(List.of(new Settlement.Bury(task.ref(), error.apply(task.key()))));
		}
	}

	private List<String> allDead() {
		ListQuery query = new ListQuery(NAME, Order.DEAD_LATEST_FIRST, null, 5000);
		return this.store.list(query).tasks().stream().map(StoredTask::id).toList();
	}

}
