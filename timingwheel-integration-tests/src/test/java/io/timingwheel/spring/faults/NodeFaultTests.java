package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.faults.Executions.Execution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tasks of nodes that die, hang, or close. */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "REDIS" })
class NodeFaultTests extends FaultTestSupport {

	/**
	 * How long the other node may need on a busy machine, beyond the lease and a poll, to
	 * work off the tasks of both nodes.
	 */
	private static final Duration TOLERANCE = Duration.ofMinutes(1);

	private static final long A_MINUTE = Duration.ofMinutes(1).toMillis();

	@Test
	void tasksOfAKilledNodeRunOnTheOtherNode() {
		NodeProcess killed = startNode("killed");
		NodeProcess other = startNode("other", LONG_LEASE).awaitReady();
		killed.awaitReady();
		int tasks = 1000;
		this.client.enqueue(0, tasks, Instant.now().plus(SOON), Duration.ofMillis(4L * tasks), 40);
		await(() -> this.executions.started() > tasks / 5);
		killWithTasks(killed);
		long killedAt = System.currentTimeMillis();
		Set<String> begun = this.client.isRelational() ? this.client.begunBy(killed) : Set.of();
		int leased = this.client.isRelational() ? this.client.leasedBy(killed) : 1;
		awaitEnded(tasks);
		assertThat(leased).isPositive().isLessThanOrEqualTo(MAX_IN_FLIGHT);
		Map<Long, List<Execution>> runs = runs();
		assertThat(runs).hasSize(tasks);
		List<List<Execution>> again = runs.values().stream().filter((all) -> all.size() > 1).toList();
		assertThat(again).hasSizeLessThanOrEqualTo(MAX_IN_FLIGHT).allSatisfy((all) -> {
			assertThat(all).extracting(Execution::node).containsExactly(killed.id(), other.id());
			assertThat(all).extracting(Execution::deliveries).containsExactly(1, 2);
			assertThat(all).extracting(Execution::attempt).containsExactly(1, 1);
			if (this.client.isRelational()) {
				assertThat(begun).contains(all.get(0).taskId());
			}
		});
		assertNeverEarly();
		assertThat(this.executions.all()).allSatisfy((run) -> assertThat(run.startedAt())
			.isLessThanOrEqualTo(Math.max(run.dueAt(), killedAt) + millis(LEASE, POLL_INTERVAL, TOLERANCE)));
	}

	/**
	 * Kills a node when it has tasks. The node is stopped before the store is asked, so
	 * that the node cannot end its last task in between.
	 */
	private void killWithTasks(NodeProcess node) {
		await(() -> {
			node.stop();
			if (this.client.isRelational() && this.client.leasedBy(node) == 0) {
				node.goOn();
				return false;
			}
			node.kill();
			return true;
		});
	}

	@Test
	void ofTheTasksThatWaitBesideATaskThatKillsItsNodeNoneDies() {
		String[] properties = { "spring.task.execution.pool.core-size=1", "spring.task.execution.pool.max-size=1",
				"timingwheel.store.lease=4s", "timingwheel.store.max-lost-deliveries=1" };
		this.client.enqueue(0, 1, Instant.now().minusSeconds(1), Duration.ZERO, Worker.HALT);
		this.client.enqueue(1, 9, Instant.now(), Duration.ZERO, 0);
		// The first run was not alone on its node, so only the second one counts.
		for (int deaths = 0; deaths < 2; deaths++) {
			startNode("dies" + deaths, properties).awaitEnd();
		}
		startNode("last", properties);
		await(() -> this.executions.numbersEnded() == 9 && this.client.counts().equals(new StoredCounts(0, 0, 0, 1)));
		assertThat(this.client.dead()).singleElement()
			.matches((task) -> "0".equals(task.key()) && task.error().contains("max-lost-deliveries"));
		assertThat(runs().get(0L)).hasSize(2);
	}

	@Test
	void reportsOfANodeThatWasStoppedBeyondItsLeaseAreRefused() {
		NodeProcess other = paused(startNode("other", LONG_LEASE));
		NodeProcess stopped = startNode("stopped", "timingwheel.store.look-ahead=20s").awaitReady();
		Instant later = Instant.now().plusSeconds(12);
		this.client.enqueue(20, 5, later, Duration.ZERO, 0);
		this.client.enqueue(0, 5, Instant.now(), Duration.ZERO, 10_000);
		this.client.enqueue(10, 5, Instant.now(), Duration.ZERO, A_MINUTE);
		await(() -> this.executions.started() == 10 && stopped.ask("in-flight") == 15);
		stopped.stop();
		assertThat(Instant.now()).as("the machine is too slow for this test").isBefore(later);
		this.client.template().enqueue(key(20), Duration.ZERO, 120L, 0L);
		this.client.template().enqueue(key(10), Duration.ZERO, 110L, 0L);
		other.tell("hold");
		other.tell("resume");
		// The other node tries the ten tasks that were running on the first node one at a
		// time.
		await(() -> this.executions.startedOn("other") == 7 && this.client.counts().running() == 7);
		stopped.goOn();
		await(() -> stopped.ask("lost-leases") == 10 && stopped.ask("refused-begins") == 5);
		if (this.client.isRelational()) {
			assertThat(this.client.begunBy(other)).hasSize(7);
		}
		other.tell("let-go");
		awaitEmptyStore();
		assertThat(runs().keySet()).containsExactlyInAnyOrderElementsOf(
				List.of(0L, 1L, 2L, 3L, 4L, 10L, 11L, 12L, 13L, 14L, 21L, 22L, 23L, 24L, 110L, 120L));
		// Both nodes have run those ten tasks.
		assertThat(this.executions.all()).hasSize(26)
			.filteredOn((run) -> run.node().equals("other"))
			.hasSizeGreaterThanOrEqualTo(7)
			.allSatisfy((run) -> assertThat(run.endedAt()).isNotNull());
		assertNeverEarly();
	}

	@Test
	void aClosingNodeFinishesItsTasksOrGivesThemToTheOtherAtOnce() {
		NodeProcess other = paused(startNode("other", LONG_LEASE));
		NodeProcess closing = startNode("closing", "timingwheel.store.look-ahead=40s", LONG_LEASE,
				"timingwheel.shutdown.await-termination-period=10s", "spring.task.execution.pool.core-size=4")
			.awaitReady();
		closing.tell("hold");
		this.client.enqueue(0, 3, Instant.now(), Duration.ZERO, 0);
		this.client.enqueue(3, 1, Instant.now(), Duration.ZERO, 2 * A_MINUTE);
		await(() -> this.executions.started() == 4);
		this.client.enqueue(20, 10, Instant.now().plusSeconds(10), Duration.ZERO, 0);
		await(() -> closing.ask("in-flight") == 14);
		this.client.enqueue(10, 10, Instant.now(), Duration.ZERO, 0);
		// All threads are busy, so the node takes only some of the due tasks.
		await(() -> closing.ask("in-flight") > 14);
		other.tell("resume");
		closing.terminate();
		long closedAt = System.currentTimeMillis();
		await(() -> this.executions.startedOn("other") > 0);
		closing.tell("let-go");
		closing.awaitEnd();
		awaitEnded(24);
		Map<Long, List<Execution>> runs = runs();
		assertThat(runs.get(3L)).extracting(Execution::node).containsExactly("closing", "other");
		assertThat(runs.get(3L)).extracting(Execution::attempt).containsExactly(1, 1);
		for (long number = 0; number < 3; number++) {
			assertThat(runs.get(number)).extracting(Execution::node).containsExactly("closing");
		}
		for (long number = 10; number < 30; number++) {
			assertThat(runs.get(number)).extracting(Execution::node).containsExactly("other");
		}
		// If they had to wait for the end of a lease, it would take two minutes.
		assertThat(this.executions.all())
			.allSatisfy((run) -> assertThat(run.startedAt()).isLessThan(closedAt + A_MINUTE));
		assertNeverEarly();
	}

}
