package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.Settlement.Bury;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store promises to operators: they list and count tasks, decide about dead ones,
 * pause names, and see the nodes.
 *
 * @since 0.1
 */
public abstract class OperatorContractTests extends StoreContract {

	/** A new task that is dead. */
	private LeasedTask dead(@Nullable String key) {
		LeasedTask task = running(key);
		assertThat(this.a.bury(task)).isEqualTo(Reply.DONE);
		return task;
	}

	// Listings

	@ParameterizedTest
	@EnumSource
	void aPageGoesOnAfterATaskThatIsGone(Order order) {
		for (int i = 0; i < 4; i++) {
			later(SOON);
			if (order == Order.PENDING) {
				enqueue("k" + i, HOUR);
			}
			else {
				dead("k" + i);
			}
		}
		StoredTask first = this.b.store().list(new ListQuery(NAME, order, null, 1)).tasks().get(0);
		boolean gone = (order == Order.PENDING) ? this.a.cancel(id(first.id()))
				: this.a.store().discard(List.of(first.id())) == 1;
		assertThat(gone).isTrue();
		assertThat(pages(this.b.store(), new ListQuery(NAME, order, first.position(), 10))).hasSize(3);
		assertThat(this.b.store().list(new ListQuery("unknown", order, null, 3)))
			.isEqualTo(new ListQuery.Page(List.of(), false));
	}

	// Dead tasks

	@Test
	void manyDeadTasksAreRequeuedExceptThoseWhoseKeysArePending() {
		List<String> ids = new ArrayList<>();
		for (String key : Arrays.asList("pending", "twice", "twice", "free", null, null)) {
			ids.add(dead(key).id());
		}
		ids.add(2, enqueue("pending", HOUR).id());
		ids.add(3, "unknown");
		assertThat(this.b.store().requeue(ids)).containsExactly(Requeue.KEY_PENDING, Requeue.REQUEUED, Requeue.NOT_DEAD,
				Requeue.NOT_DEAD, Requeue.KEY_PENDING, Requeue.REQUEUED, Requeue.REQUEUED, Requeue.REQUEUED);
		assertThat(this.a.list(Order.DEAD_LATEST_FIRST)).extracting(StoredTask::key)
			.containsExactlyInAnyOrder("pending", "twice");
		assertThat(this.a.claim()).extracting(LeasedTask::id)
			.containsExactlyInAnyOrder(ids.get(1), ids.get(5), ids.get(6), ids.get(7));
		assertThat(this.a.cancel(key("pending"))).isTrue();
		assertThat(this.b.requeue(ids.get(0))).as("its key is free").isEqualTo(Requeue.REQUEUED);
	}

	@Test
	void theDeadAreDiscardedInSmallSteps() {
		this.a.store().enqueue(Stream.generate(() -> task(null, NOW)).limit(200).toList());
		this.a.store()
			.settle(this.a.claim().stream().<Settlement>map((task) -> new Bury(task.ref(), "hopeless")).toList());
		later(HOUR);
		int discarded = 0;
		while (discarded < 200) {
			int step = this.b.store().discardOlder(SOON, 32);
			assertThat(step).isBetween(1, 64);
			discarded += step;
		}
		assertThat(this.a.store().counts(List.of())).isEmpty();
	}

	// Counts and forecast

	@Test
	void tasksAreCountedByNameAndState() {
		dead("dead");
		running("running");
		enqueue("overdue", NOW);
		leased("leased");
		enqueue("pending", HOUR);
		this.a.enqueue(taskOf("other", SOON.multipliedBy(2)));
		later(Duration.ofSeconds(1));
		StoredCounts counts = new StoredCounts(2, 0, 2, 1);
		assertThat(this.b.store().counts(List.of()))
			.isEqualTo(Map.of(NAME, counts, "other", new StoredCounts(1, 0, 0, 0)));
		assertThat(this.b.store().counts(List.of(NAME, "absent", NAME))).isEqualTo(Map.of(NAME, counts));
		assertThat(this.b.store().counts(List.of("absent", "\u00fc".repeat(100)))).isEmpty();
		later(SOON);
		assertThat(this.b.counts()).isEqualTo(new StoredCounts(2, 1, 2, 1));
	}

	@Test
	void aForecastCountsThePendingBySpansAndTakesManyNames() {
		this.a.store().enqueue(IntStream.range(0, 200).mapToObj((i) -> task(null, HOUR.plusMillis(i))).toList());
		enqueue("first", SOON.plusMinutes(1));
		enqueue("too late", HOUR.multipliedBy(3));
		leased("leased");
		running("running");
		dead("dead");
		enqueue("overdue", NOW);
		this.a.enqueue(taskOf("other", HOUR));
		later(Duration.ofMillis(1));
		Forecast forecast = this.b.store()
			.forecast(new Forecast.Query(Map.of(NAME, 204L, "other", 1L, "unknown", 0L), Duration.ofMinutes(1), 62));
		assertThat(forecast.from()).isBetween(now() - 60_000, now());
		assertThat(forecast.names()).containsOnlyKeys(NAME, "other", "unknown")
			.allSatisfy((name, counts) -> assertThat(counts.estimated()).isFalse());
		List<Long> counts = counts(forecast, NAME);
		assertThat(counts).hasSize(62).startsWith(0L, 1L, 1L, 0L);
		assertThat(counts.subList(59, 61).stream().mapToLong(Long::longValue).sum()).isEqualTo(200);
		assertThat(counts.stream().mapToLong(Long::longValue).sum()).isEqualTo(202);
		assertThat(counts(forecast, "other")).containsOnlyOnce(1L);
		assertThat(counts(forecast, "unknown")).hasSize(62).containsOnly(0L);
		Map<String, Long> names = IntStream.range(0, Forecast.Query.MAX_NAMES)
			.mapToObj((i) -> "name " + i)
			.collect(Collectors.toMap(Function.identity(), (name) -> 100L));
		assertThat(this.b.store().forecast(new Forecast.Query(names, Duration.ofMinutes(2), 60)).names())
			.containsOnlyKeys(names.keySet());
	}

	private static List<Long> counts(Forecast forecast, String name) {
		return Objects.requireNonNull(forecast.names().get(name)).counts();
	}

	// Paused names

	@Test
	void theTasksOfAPausedNameStayAsTheyAre() {
		Enqueued due = enqueue("k", NOW);
		enqueue("soon", SOON);
		Enqueued other = this.a.enqueue(taskOf("other", NOW));
		this.a.store().setPaused(NAME, true);
		this.a.store().setPaused(NAME, true);
		this.a.store().setPaused("without tasks", true);
		Claimed claimed = this.b.store().claim(this.b.request(NAME, "other"));
		assertThat(claimed.tasks()).extracting(LeasedTask::id).containsExactly(other.id());
		assertThat(claimed.pausedNames()).containsExactlyInAnyOrder(NAME, "without tasks");
		assertThat(this.a.store().claim(this.a.request(NAME, "other")).nextAt()).as("only that of the other name")
			.isEqualTo(in(StoreNode.LEASE));
		assertThat(this.b.store().claim(this.b.request(Map.of(), 1, false)).pausedNames())
			.containsExactlyInAnyOrder(NAME, "without tasks");
		this.b.store().setPaused(NAME, false);
		this.b.store().setPaused("never paused", false);
		Claimed resumed = this.a.store().claim(this.a.request(NAME));
		assertThat(resumed.pausedNames()).containsExactly("without tasks");
		assertThat(resumed.tasks()).hasSize(2).extracting(LeasedTask::id).contains(due.id());
	}

	// Nodes

	@Test
	void theNodeThatReportedLastIsListedFirstAndOneThatReportsNoMoreIsForgotten() {
		this.a.store().heartbeat(new NodeState("a", Activity.CLAIMING, 7));
		this.a.store().heartbeat(new NodeState("gone", Activity.CLAIMING, 1));
		later(SOON);
		this.b.store().heartbeat(new NodeState("b", Activity.PAUSED, 0));
		later(SOON);
		this.a.store().heartbeat(new NodeState("a", Activity.CLAIMING, 9));
		this.b.store().heartbeat(new NodeState("gone", Activity.ENDED, 0));
		this.b.store().heartbeat(new NodeState("unknown", Activity.ENDED, 0));
		later(SOON);
		assertThat(this.b.store().nodes()).containsExactly(
				new NodeState.Reported(new NodeState("a", Activity.CLAIMING, 9), SOON),
				new NodeState.Reported(new NodeState("b", Activity.PAUSED, 0), SOON.multipliedBy(2)));
		later(DelayedTaskStore.NODE_RETENTION);
		this.b.store().heartbeat(new NodeState("b", Activity.CLAIMING, 1));
		assertThat(this.a.store().nodes()).extracting((node) -> node.state().nodeId()).containsExactly("b");
	}

	@Test
	void theListOfNodesIsLimited() {
		for (int i = 0; i < DelayedTaskStore.MAX_NODES + 5; i++) {
			later(Duration.ofMillis(1));
			this.a.store().heartbeat(new NodeState("node " + i, Activity.CLAIMING, i));
		}
		assertThat(this.b.store().nodes()).hasSize(DelayedTaskStore.MAX_NODES)
			.extracting((node) -> node.state().inFlight())
			.startsWith(DelayedTaskStore.MAX_NODES + 4)
			.doesNotContain(0, 4);
	}

	// The clock

	@Test
	void theClockOfATestIsThatOfOneStoreObject() {
		long before = this.b.store().now();
		this.a.store().testing().setClock(() -> before + HOUR.toMillis());
		assertThat(this.a.store().now()).isEqualTo(before + HOUR.toMillis());
		assertThat(this.b.store().now()).isEqualTo(before);
		enqueue("k", NOW);
		assertThat(this.b.claim()).isEmpty();
		this.b.store().testing().setClock(null);
		assertThat(this.b.store().now()).as("the clock of the server")
			.isBetween(System.currentTimeMillis() - 60_000, System.currentTimeMillis() + 60_000);
		assertThat(this.a.claim()).hasSize(1);
	}

}
