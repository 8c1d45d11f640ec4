package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

import io.timingwheel.spring.faults.Executions.Execution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nodes whose store drops its connections or restarts.
 */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "MARIADB", "H2", "REDIS" })
class StoreOutageTests extends FaultTestSupport {

	@Test
	void nodesGoOnByThemselvesWhenTheStoreHasDroppedConnectionsOrRestarted() throws Exception {
		List<NodeProcess> nodes = startNodes("a", "b");
		int tasks = 800;
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
		awaitEnded(tasks);
		for (NodeProcess node : nodes) {
			// On a busy machine the store may not answer in time once more.
			assertThat(node.logged(GONE) - before.get(nodes.indexOf(node))).isBetween(1L, 3L);
			assertThat(node.logged(GONE)).as("once per outage").isLessThanOrEqualTo(node.logged(BACK));
		}
		List<Long> claims = nodes.stream().map((node) -> node.ask("claims")).toList();
		this.client.enqueue(tasks, 100, Instant.now(), Duration.ofSeconds(1), 0);
		awaitEnded(tasks + 100);
		await(() -> IntStream.range(0, 2).allMatch((i) -> nodes.get(i).ask("claims") > claims.get(i)));
		assertThat(this.executions.all()).extracting(Execution::attempt).containsOnly(1);
		assertNeverEarly();
	}

}
