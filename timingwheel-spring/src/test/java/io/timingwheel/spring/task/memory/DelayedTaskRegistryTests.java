package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot.Position;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.timingwheel.spring.task.memory.VirtualTasks.NAME;
import static org.assertj.core.api.Assertions.assertThat;

/** What operators see of tasks in memory, and do to them. */
class DelayedTaskRegistryTests {

	private static final Duration DELAY = Duration.ofSeconds(10);

	private final VirtualTasks tasks = new VirtualTasks();

	private final DelayedTaskRegistry registry = this.tasks.registry;

	private final MemoryTaskReader reader = new MemoryTaskReader(this.registry);

	@Test
	void readsThePendingTasksPageByPageInDueOrder() {
		for (int i = 24; i >= 0; i--) {
			this.tasks.schedule("" + i, 60_000 * (1 + i / 10));
		}
		List<PendingTaskSnapshot> all = this.reader.page(NAME, null, 100);
		assertThat(all.stream().map((task) -> Integer.parseInt(task.key()) / 10).toList()).hasSize(25).isSorted();
		List<PendingTaskSnapshot> read = new ArrayList<>();
		List<PendingTaskSnapshot> page = this.reader.page(NAME, null, 4);
		while (!page.isEmpty()) {
			read.addAll(page);
			PendingTaskSnapshot last = page.get(page.size() - 1);
			// The next page begins behind the position, whether its task is there or not.
			this.registry.cancel(NAME, last.id());
			page = this.reader.page(NAME, new Position(last.dueAt(), last.id()), 4);
		}
		assertThat(read).isEqualTo(all);
		assertThat(this.reader.page("unknown", null, 100)).isEmpty();
	}

	@Test
	void pagesAndForecastsOfVeryManyTasksMissNone() {
		int count = 200_000;
		for (int i = 0; i < count; i++) {
			this.tasks.schedule("" + i, count - i);
		}
		this.tasks.template.schedule(Duration.ofSeconds(15), () -> {
		});
		List<PendingTaskSnapshot> page = this.reader.page(NAME, null, 100);
		assertThat(page).extracting(PendingTaskSnapshot::key).containsExactlyElementsOf(keys(count - 1));
		Position end = new Position(page.get(99).dueAt(), page.get(99).id());
		assertThat(this.reader.page(NAME, end, 100)).extracting(PendingTaskSnapshot::key)
			.containsExactlyElementsOf(keys(count - 101));
		Map<String, List<Long>> forecast = this.reader.forecast(this.registry.clock().now(), DELAY, 5);
		assertThat(forecast.get("unnamed")).containsExactly(0L, 1L, 0L, 0L, 0L);
		assertThat(forecast.get(NAME)).hasSize(5).allSatisfy((due) -> assertThat(due).isBetween(9_990L, 10_010L));
	}

	private static List<String> keys(int first) {
		return IntStream.range(0, 100).mapToObj((i) -> String.valueOf(first - i)).toList();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Aa", "BB" })
	void anIdFindsItsTaskAlsoIfTheKeyHasTheHashCodeOfAnother(String key) {
		String id = this.tasks.schedule(key, 10_000).id();
		this.tasks.schedule("Aa".equals(key) ? "BB" : "Aa", 10_000);
		assertThat(this.reader.find(NAME, id).orElseThrow().key()).isEqualTo(key);
	}

	@Test
	void findsMovesAndCancelsByKeyOrId() {
		DelayedTask<?> keyed = this.tasks.schedule("a/b", 10_000);
		DelayedTask<?> unkeyed = this.tasks.template.task(() -> {
		}).name(NAME).after(DELAY);
		assertThat(this.reader.find(NAME, "a/b").orElseThrow().id()).isEqualTo(keyed.id());
		assertThat(this.reader.find(NAME, keyed.id()).orElseThrow().key()).isEqualTo("a/b");
		assertThat(this.reader.find(NAME, unkeyed.id()).orElseThrow().key()).isNull();
		assertThat(this.reader.find("other", keyed.id())).isEmpty();
		for (String absent : List.of("x", "", keyed.id() + "0", "00000000-1", "1", keyed.id().replace('-', '+'))) {
			assertThat(this.reader.find(NAME, absent)).as(absent).isEmpty();
			assertThat(this.registry.cancel(NAME, absent)).as(absent).isFalse();
			assertThat(this.registry.reschedule(NAME, absent, Duration.ZERO)).as(absent).isFalse();
		}
		assertThat(this.registry.reschedule(NAME, "a/b", Duration.ofHours(2))).isTrue();
		assertThat(this.registry.reschedule(NAME, unkeyed.id(), Duration.ofHours(1))).isTrue();
		assertThat(this.reader.page(NAME, null, 9)).extracting(PendingTaskSnapshot::id)
			.containsExactly(unkeyed.id(), keyed.id());
		assertThat(this.registry.cancel(NAME, keyed.id())).isTrue();
		assertThat(this.registry.cancel(NAME, unkeyed.id())).isTrue();
		assertThat(this.registry.cancel(NAME, unkeyed.id())).isFalse();
		assertThat(keyed.isCancelled()).isTrue();
		assertThat(this.registry.pendingCount()).isZero();
	}

}
