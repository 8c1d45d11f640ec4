package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.task.Schedule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Schedules while nodes and the store fail.
 */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "REDIS" })
class ScheduleFaultTests extends FaultTestSupport {

	/**
	 * Three nodes run 20 schedules. One is killed, one is stopped beyond its lease, and
	 * the store restarts. Each time of each schedule is covered by one run: by the run of
	 * this time, or by a late run of an earlier time. A run comes again only if the store
	 * has not heard of its end.
	 */
	@Test
	void eachTimeOfAScheduleHasOneRunInSpiteOfFaults() throws Exception {
		List<NodeProcess> nodes = startNodes("killed", "stopped", "other");
		int schedules = 20;
		Duration period = Duration.ofMillis(500);
		List<Long> first = new ArrayList<>();
		for (int i = 0; i < schedules; i++) {
			first.add(this.client.template().recur(key(i), Schedule.every(period), i, 20).dueAt().toEpochMilli());
		}
		await(() -> this.executions.started() > 5L * schedules);
		nodes.get(0).kill();
		await(() -> this.executions.started() > 12L * schedules);
		nodes.get(1).stop();
		awaitTime(Instant.now().plus(LEASE).plusSeconds(2));
		nodes.get(1).goOn();
		await(() -> this.executions.started() > 20L * schedules);
		this.server.stop().run();
		awaitTime(Instant.now().plusSeconds(2));
		this.server.restart().run();
		List<NodeProcess> alive = nodes.subList(1, 3);
		await(() -> alive.stream().allMatch(FaultTestSupport::isUp));
		long progress = this.executions.started();
		await(() -> this.executions.started() > progress + 8L * schedules);
		for (int i = 0; i < schedules; i++) {
			assertThat(this.client.store().cancel(Target.of(key(i), Kind.EITHER))).isTrue();
		}
		awaitEmptyStore();
		assertThat(this.executions.all()).extracting(Execution::node).contains("killed", "stopped", "other");
		assertNeverEarly();
		Map<Long, List<Execution>> runs = runs();
		assertThat(runs).hasSize(schedules);
		runs.forEach((number, all) -> assertEachTimeHasOneRun(all, first.get(Math.toIntExact(number)), period));
	}

	/**
	 * Each time from the first one on has a run, or is covered by a late run of an
	 * earlier time. A time has more runs only if deliveries were lost. Each run of a time
	 * is then another delivery.
	 */
	private static void assertEachTimeHasOneRun(List<Execution> runs, long first, Duration period) {
		Map<Long, List<Execution>> times = new TreeMap<>(
				runs.stream().collect(Collectors.groupingBy(Execution::dueAt)));
		long millis = period.toMillis();
		long covered = first - millis;
		for (Map.Entry<Long, List<Execution>> time : times.entrySet()) {
			long dueAt = time.getKey();
			assertThat((dueAt - first) % millis).as("rhythm of %s", time).isZero();
			assertThat(dueAt).as("missed before %s", time).isLessThanOrEqualTo(covered + millis);
			assertThat(time.getValue()).as("again without a lost delivery")
				.extracting(Execution::deliveries)
				.doesNotHaveDuplicates();
			long startedAt = time.getValue().stream().mapToLong(Execution::startedAt).max().orElseThrow();
			covered = Math.max(covered, dueAt + Math.max(0, startedAt - dueAt) / millis * millis);
		}
	}

}
