package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.task.Schedule;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * What nodes have to keep up for a minute. These tests are classes of their own, so that
 * they run at the same time as the other faults.
 */
abstract class LongFaultContractTests extends FaultTestSupport {

	LongFaultContractTests(FaultEnvironment environment) {
		super(environment);
	}

	/**
	 * The times are those of the store, which counts the starts. A node without a
	 * processor may start bodies later.
	 */
	@Test
	void fourNodesKeepTheRateForAMinute() {
		int perSecond = 100;
		int seconds = 60;
		for (int i = 0; i < 4; i++) {
			startNode("r" + i, List.of(), "timingwheel.tasks.work.rate=" + perSecond + "/s");
		}
		this.client.enqueue(0, perSecond * (seconds + 5), Instant.now(), Duration.ZERO, 0);
		await(() -> this.executions.started() >= perSecond * seconds);
		long[] starts = this.executions.all()
			.stream()
			.map(Execution::begunAt)
			// A run that comes once more has not begun with its claim.
			.filter(Objects::nonNull)
			.mapToLong(Long::longValue)
			.sorted()
			.toArray();
		// The first second has the start of the JVMs.
		long from = starts[0] + 1000;
		long[] measured = LongStream.of(starts).filter((start) -> start >= from).toArray();
		int most = IntStream.range(0, measured.length)
			.map((i) -> (int) LongStream.of(measured)
				.filter((start) -> start >= measured[i] && start < measured[i] + 1000)
				.count())
			.max()
			.orElseThrow();
		double average = 1000.0 * (measured.length - 1) / (measured[measured.length - 1] - measured[0]);
		assertThat(most).isLessThanOrEqualTo(perSecond + perSecond / 10);
		assertThat(average).isLessThanOrEqualTo(1.01 * perSecond);
		// A busy machine may fall behind for some time.
		int stretch = 10 * perSecond;
		double best = IntStream.range(0, measured.length - stretch)
			.mapToDouble((i) -> 1000.0 * stretch / (measured[i + stretch] - measured[i]))
			.max()
			.orElseThrow();
		assertThat(best).isGreaterThanOrEqualTo(0.95 * perSecond);
	}

	/**
	 * Four nodes, two of them with wrong clocks, run 20 schedules. One node is killed,
	 * one is stopped beyond its lease, and the store restarts. Each time of each schedule
	 * is covered by one run: by the run of this time, or by a late run of an earlier
	 * time. A run comes again only if the store has not heard of its end.
	 */
	@Test
	void eachTimeOfAScheduleHasOneRunInSpiteOfFaults() throws Exception {
		List<NodeProcess> nodes = new ArrayList<>(List.of(startNode("killed", List.of()),
				startNode("stopped", List.of()), startNode("fast", ShiftedClock.jvmOptions(Duration.ofMinutes(5))),
				startNode("slow", ShiftedClock.jvmOptions(Duration.ofMinutes(-5)))));
		nodes.forEach(NodeProcess::awaitReady);
		assertClockIsShifted(nodes.get(2), Duration.ofMinutes(5));
		assertClockIsShifted(nodes.get(3), Duration.ofMinutes(-5));
		int schedules = 20;
		Duration period = Duration.ofMillis(500);
		List<Long> first = new ArrayList<>();
		for (int i = 0; i < schedules; i++) {
			first.add(this.client.template().recur(key(i), Schedule.every(period), i, 20).dueAt().toEpochMilli());
		}
		await(() -> this.executions.started() > 10L * schedules);
		nodes.get(0).kill();
		await(() -> this.executions.started() > 30L * schedules);
		nodes.get(1).stop();
		awaitTime(Instant.now().plus(LEASE).plusSeconds(2));
		nodes.get(1).goOn();
		await(() -> this.executions.started() > 50L * schedules);
		environment().stop();
		awaitTime(Instant.now().plusSeconds(2));
		environment().start();
		List<NodeProcess> alive = nodes.subList(1, 4);
		await(() -> alive.stream().allMatch(FaultTestSupport::isUp));
		long progress = this.executions.started();
		await(() -> this.executions.started() > progress + 20L * schedules);
		for (int i = 0; i < schedules; i++) {
			assertThat(this.client.store().cancel(key(i))).isTrue();
		}
		awaitEmptyStore();
		assertThat(this.executions.all()).extracting(Execution::node).contains("killed", "stopped", "fast", "slow");
		assertNeverEarly();
		Map<Long, List<Execution>> runs = runs();
		assertThat(runs).hasSize(schedules);
		runs.forEach((number, all) -> {
			long start = first.get(Math.toIntExact(number));
			Set<Long> times = new HashSet<>();
			long covered = start - period.toMillis();
			for (Execution run : all.stream().sorted(Comparator.comparing(Execution::dueAt)).toList()) {
				assertThat((run.dueAt() - start) % period.toMillis()).as("rhythm of %s", run).isZero();
				if (times.add(run.dueAt())) {
					assertThat(run.dueAt()).as("missed before %s", run)
						.isLessThanOrEqualTo(covered + period.toMillis());
				}
				else {
					assertThat(run.deliveries()).as("again without a lost delivery: %s", run).isGreaterThan(1);
				}
				long late = Math.max(0, run.startedAt() - run.dueAt()) / period.toMillis();
				covered = Math.max(covered, run.dueAt() + late * period.toMillis());
			}
		});
	}

	static void assertClockIsShifted(NodeProcess node, Duration offset) {
		for (String clock : List.of("clock", "instant")) {
			assertThat(node.ask(clock) - System.currentTimeMillis()).isCloseTo(offset.toMillis(), within(30_000L));
		}
	}

}
