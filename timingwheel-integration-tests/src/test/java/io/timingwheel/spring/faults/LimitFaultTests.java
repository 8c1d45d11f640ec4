package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Limits of names on four nodes, of which some die or hang. */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "REDIS_CLUSTER" })
class LimitFaultTests extends FaultTestSupport {

	/** How much longer all may take on a busy machine. */
	private static final Duration TOLERANCE = Duration.ofMinutes(1);

	/**
	 * Four nodes, of which one is killed and one is stopped for longer than its lease.
	 * How long the lease of a task still lasts when its node is stopped depends on when
	 * the node has renewed it, so a run counts until its node is stopped. Some bodies on
	 * this node outlive their leases. The node interrupts them when it goes on.
	 */
	@Test
	void noMoreBodiesRunAtOnceThanTheLimitWhileNodesAreKilledAndStopped() {
		int limit = 10;
		int tasks = 120;
		Duration lease = LEASE.multipliedBy(2);
		List<NodeProcess> nodes = Stream.of("l0", "l1", "l2", "l3")
			.map((id) -> startNode(id, "timingwheel.store.lease=" + lease,
					"timingwheel.tasks.work.max-concurrent=" + limit))
			.toList();
		nodes.forEach(NodeProcess::awaitReady);
		ThreadLocalRandom random = ThreadLocalRandom.current();
		for (int i = 0; i < tasks; i++) {
			this.client.enqueue(i, 1, Instant.now(), Duration.ZERO, random.nextInt(100, 800));
		}
		await(() -> this.executions.started() > tasks / 5);
		NodeProcess killed = nodes.get(0);
		long killedAt = System.currentTimeMillis();
		killed.kill();
		await(() -> this.executions.started() > 2 * tasks / 5);
		NodeProcess stopped = nodes.subList(1, 4)
			.stream()
			.max(Comparator.comparing((node) -> node.ask("in-flight")))
			.orElseThrow();
		stopped.tell("hold");
		long startedBefore = this.executions.startedOn(stopped.id());
		await(() -> this.executions.startedOn(stopped.id()) > startedBefore);
		long stoppingAt = System.currentTimeMillis();
		stopped.stop();
		awaitTime(Instant.now().plus(lease).plusSeconds(3));
		long held = this.executions.startedOn(stopped.id()) - startedBefore;
		// The signal may come a moment after the call has returned, so a body may begin
		// in between.
		long continuedAt = System.currentTimeMillis();
		stopped.goOn();
		await(() -> stopped.ask("lost-leases") >= held);
		stopped.tell("let-go");
		awaitEnded(tasks);
		assertThat(this.executions.all()).filteredOn((run) -> run.node().equals(stopped.id()) && run.endedAt() == null)
			.as("interrupted bodies of the stopped node")
			.hasSizeGreaterThanOrEqualTo(Math.toIntExact(held));
		List<long[]> runs = this.executions.all().stream().map((run) -> {
			long end = (run.endedAt() != null) ? run.endedAt() : Long.MAX_VALUE;
			if (run.node().equals(killed.id())) {
				end = Math.min(end, killedAt);
			}
			else if (run.node().equals(stopped.id()) && run.startedAt() <= continuedAt && end > stoppingAt) {
				end = Math.max(stoppingAt, run.startedAt());
			}
			return new long[] { run.startedAt(), end };
		}).toList();
		assertAtMostAtOnce(limit, runs);
		// Each body takes less than half a second on average.
		long first = runs.stream().mapToLong((run) -> run[0]).min().orElseThrow();
		long last = runs.stream().mapToLong((run) -> run[0]).max().orElseThrow();
		assertThat(Duration.ofMillis(last - first)).isLessThan(
				Duration.ofMillis(450L * tasks / limit).plus(lease.multipliedBy(3)).plus(TOLERANCE.multipliedBy(2)));
	}

}
