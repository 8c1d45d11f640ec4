package io.timingwheel.spring.faults;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.faults.NodeProcess.Program;
import io.timingwheel.spring.faults.RolledApplication.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes of the {@linkplain FirstBuild first build} are replaced one after the other
 * by nodes of the present build, the first one closed and the second one killed. Then a
 * node of the first build replaces one of these, which is killed. In each phase one node
 * stores tasks of all {@linkplain Kind kinds}, and the other node changes some of them.
 */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "MARIADB", "REDIS" })
class RollingTests extends FaultTestSupport {

	private static final Duration SPREAD = Duration.ofSeconds(5);

	private final Map<String, Long> killedAt = new HashMap<>();

	private static final Program PRESENT = new Program(RolledApplication.class, System.getProperty("java.class.path"));

	private Program first;

	private int nodes;

	private int phase;

	@BeforeParameterizedClassInvocation
	void builds() throws Exception {
		this.killedAt.clear();
		this.nodes = 0;
		this.phase = 0;
		this.first = new Program(RolledApplication.class, FirstBuild.classPath());
	}

	@Test
	void nothingIsLostOrRunsTwiceWhileNodesOfTwoBuildsReplaceOneAnother() {
		NodeProcess left = node(this.first).awaitReady();
		NodeProcess right = node(this.first).awaitReady();
		work(left, right);
		left = replaceClosed(left, PRESENT);
		work(left, right);
		right = replaceKilled(right, PRESENT);
		work(right, left);
		left = replaceKilled(left, this.first);
		work(left, right);
		left.tell("end 0");
		Set<Long> expected = Stream.of(Kind.ORDER, Kind.RETRIED, Kind.LIMITED, Kind.REPLACED)
			.flatMap((kind) -> IntStream.range(0, this.phase).boxed().flatMap((i) -> kind.numbers(i).boxed()))
			.collect(Collectors.toSet());
		await(() -> this.client.store().counts(List.of()).keySet().equals(Set.of(name(Kind.TICK))));
		Map<Long, List<Execution>> runs = runs();
		Map<Long, List<Execution>> schedules = new HashMap<>(runs);
		schedules.keySet().removeAll(expected);
		runs.keySet().removeAll(schedules.keySet());
		assertThat(runs.keySet()).isEqualTo(expected);
		assertThat(schedules.keySet()).allMatch((number) -> Set.of(Kind.TICK, Kind.AGAIN).contains(Kind.of(number)));
		runs.values().forEach(this::assertRunOnce);
		assertNeverEarly();
		assertLimitHolds();
		// Each definition of the schedule has runs, unless the node was killed in one and
		// the next definition came before the end of the lease.
		assertThat(schedules).hasSizeBetween(this.phase, this.phase + 1);
		schedules.values().forEach(this::assertSchedule);
	}

	private NodeProcess node(Program build) {
		String id = ((build == this.first) ? "first-" : "present-") + this.nodes++;
		// A stall of the machine ends no lease. The tasks of a killed node wait for it.
		return startNode(build, id, "timingwheel.store.lease=15s");
	}

	/**
	 * Both nodes get work. When this returns, both have begun with it.
	 */
	private void work(NodeProcess stores, NodeProcess changes) {
		stores.tell("store %d %d".formatted(this.phase, SPREAD.toMillis()));
		changes.tell("change " + this.phase);
		this.phase++;
		for (NodeProcess node : List.of(stores, changes)) {
			long before = this.executions.startedOn(node.id());
			await(() -> this.executions.startedOn(node.id()) > before + 10);
		}
	}

	private NodeProcess replaceClosed(NodeProcess node, Program build) {
		node.terminate();
		node.awaitEnd();
		return node(build).awaitReady();
	}

	private NodeProcess replaceKilled(NodeProcess node, Program build) {
		await(() -> this.executions.runningOn(node.id()) > 0);
		node.kill();
		this.killedAt.put(node.id(), System.currentTimeMillis());
		return node(build).awaitReady();
	}

	private static String name(Kind kind) {
		return kind.name().toLowerCase();
	}

	/**
	 * The last run came to its end, and those before it failed as they should, or their
	 * node was killed.
	 */
	private void assertRunOnce(List<Execution> runs) {
		Kind kind = Kind.of(runs.get(0).number());
		int failures = (kind == Kind.RETRIED) ? 1 : 0;
		Execution last = runs.get(runs.size() - 1);
		List<Execution> failed = runs.stream()
			.filter((run) -> run != last && !this.killedAt.containsKey(run.node()))
			.toList();
		assertThat(last.endedAt()).isNotNull();
		assertThat(failed).hasSizeLessThanOrEqualTo(failures).allSatisfy((run) -> assertThat(run.endedAt()).isNull());
		if (runs.stream().noneMatch((run) -> this.killedAt.containsKey(run.node()))) {
			assertThat(runs).hasSize(1 + failures);
		}
		assertThat(last.attempt()).isEqualTo((kind == Kind.RETRIED) ? 2 : 1);
	}

	private void assertSchedule(List<Execution> runs) {
		Set<Long> dueTimes = new HashSet<>();
		assertThat(runs).filteredOn((run) -> !this.killedAt.containsKey(run.node()))
			.allSatisfy((run) -> assertThat(dueTimes.add(run.dueAt())).isTrue());
		Execution first = runs.get(0);
		Duration period = (Kind.of(first.number()) == Kind.TICK) ? Duration.ofSeconds(1) : RolledApplication.PERIOD;
		assertThat(runs).allSatisfy(
				(run) -> assertThat(run.dueAt() - first.dueAt()).matches((gap) -> gap % period.toMillis() == 0));
	}

	private void assertLimitHolds() {
		List<Execution> limited = this.executions.all()
			.stream()
			.filter((run) -> Kind.of(run.number()) == Kind.LIMITED)
			.toList();
		assertThat(limited).allSatisfy((run) -> assertThat(limited.stream()
			.filter((other) -> other.startedAt() <= run.startedAt() && run.startedAt() < end(other)))
			.hasSizeLessThanOrEqualTo(RolledApplication.MAX_CONCURRENT));
	}

	private long end(Execution run) {
		return (run.endedAt() != null) ? run.endedAt() : this.killedAt.getOrDefault(run.node(), Long.MAX_VALUE);
	}

}
