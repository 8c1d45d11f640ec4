package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.task.Schedule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Nodes whose store drops its connections, and restarts, PostgreSQL after a crash. */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "MARIADB", "H2", "REDIS" })
class StoreOutageTests extends FaultTestSupport {

	@Test
	void nodesGoOnByThemselvesWhenTheStoreHasDroppedConnectionsOrRestarted() throws Exception {
		List<NodeProcess> nodes = startNodes("a", "b");
		int tasks = 800;
		long repeated = 1_000;
		Duration period = Duration.ofMillis(500);
		Instant first = this.client.template().recur(key(repeated), Schedule.every(period), repeated, 20).dueAt();
		this.client.enqueue(0, tasks, Instant.now().plus(SOON), Duration.ofSeconds(5), 20);
		for (int drop = 1; drop <= 3; drop++) {
			int progress = drop * 100;
			await(() -> this.executions.started() > progress);
			this.server.connectionDrop().allBut(this.client);
		}
		await(() -> this.executions.started() > 400 && nodes.stream().allMatch(FaultTestSupport::isUp));
		List<Long> before = nodes.stream().map((node) -> node.logged(GONE)).toList();
		this.server.stop().run();
		await(() -> nodes.stream().allMatch((node) -> node.logged(GONE) > before.get(nodes.indexOf(node))));
		this.server.restart().run();
		await(() -> nodes.stream().allMatch(FaultTestSupport::isUp));
		long restarted = System.currentTimeMillis();
		await(() -> runs().get(repeated)
			.stream()
			.filter((run) -> run.startedAt() > restarted)
			.map(Execution::dueAt)
			.distinct()
			.count() > 3);
		assertThat(this.client.template().cancel(key(repeated))).isTrue();
		awaitEnded(tasks + 1);
		for (NodeProcess node : nodes) {
			// On a busy machine the store may not answer in time once more.
			assertThat(node.logged(GONE) - before.get(nodes.indexOf(node))).isBetween(1L, 3L);
			assertThat(node.logged(GONE)).as("once per outage").isLessThanOrEqualTo(node.logged(BACK));
		}
		List<Long> claims = nodes.stream().map((node) -> node.ask("claims")).toList();
		this.client.enqueue(tasks, 100, Instant.now(), Duration.ofSeconds(1), 0);
		awaitEnded(tasks + 101);
		await(() -> IntStream.range(0, 2).allMatch((i) -> nodes.get(i).ask("claims") > claims.get(i)));
		assertThat(this.executions.all()).extracting(Execution::attempt).containsOnly(1);
		assertNeverEarly();
		assertEachTimeHasOneRun(runs().get(repeated), first.toEpochMilli(), period.toMillis());
	}

	/**
	 * Each time from the first one on has a run, or is covered by a late run of an
	 * earlier time. Only another delivery runs a time again.
	 */
	private static void assertEachTimeHasOneRun(List<Execution> runs, long first, long period) {
		assertThat(runs).extracting(Execution::dueAt, Execution::deliveries).doesNotHaveDuplicates();
		long covered = first - period;
		for (Execution run : runs.stream().sorted(Comparator.comparingLong(Execution::dueAt)).toList()) {
			assertThat((run.dueAt() - first) % period).as("rhythm of %s", run).isZero();
			assertThat(run.dueAt()).as("missed before %s", run).isLessThanOrEqualTo(covered + period);
			covered = Math.max(covered, run.dueAt() + Math.max(0, run.startedAt() - run.dueAt()) / period * period);
		}
	}

}
