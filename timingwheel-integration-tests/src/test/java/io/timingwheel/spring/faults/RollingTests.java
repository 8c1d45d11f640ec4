package io.timingwheel.spring.faults;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.faults.NodeProcess.Program;
import io.timingwheel.spring.faults.RolledApplication.Kind;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes of the {@linkplain FirstBuild first build} are replaced one after the other
 * by nodes of the present build, the first one closed and the second one killed. Then a
 * node of the first build replaces one of these, which is killed. In each phase one node
 * stores tasks of all {@linkplain Kind kinds} and a schedule under an alias, and the
 * other node changes some of the tasks. Both builds declare a schedule.
 */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "MARIADB", "REDIS" })
class RollingTests extends FaultTestSupport {

	private static final Program PRESENT = new Program(RolledApplication.class, System.getProperty("java.class.path"));

	private final Map<String, Long> killedAt = new HashMap<>();

	private static Program first;

	private int nodes;

	private int phase;

	@BeforeAll
	static void build() throws Exception {
		if (first == null) {
			first = new Program(RolledApplication.class, FirstBuild.classPath());
		}
	}

	@Test
	void nothingIsLostOrRunsTwiceWhileNodesOfTwoBuildsReplaceOneAnother() {
		this.killedAt.clear();
		this.nodes = 0;
		this.phase = 0;
		NodeProcess left = node(first);
		NodeProcess right = node(first);
		work(left, right);
		left.terminate();
		left.awaitEnd();
		left = node(PRESENT);
		work(left, right);
		right = replaceKilled(right, PRESENT);
		work(right, left);
		left = replaceKilled(left, first);
		work(left, right);
		left.tell("end 0");
		await(() -> this.client.store().counts(List.of()).keySet().equals(Set.of("tick")));
		Map<Long, List<Execution>> schedules = runs();
		Map<Long, List<Execution>> tasks = runs();
		tasks.keySet().removeIf(RolledApplication::isOfASchedule);
		schedules.keySet().removeAll(tasks.keySet());
		assertThat(tasks.keySet()).containsExactlyInAnyOrderElementsOf(
				LongStream.range(0, this.phase).flatMap(RolledApplication::numbers).boxed().toList());
		tasks.values().forEach(this::assertRunOnce);
		assertNeverEarly();
		assertAtMostAtOnce(RolledApplication.MAX_CONCURRENT,
				this.executions.all()
					.stream()
					.filter((run) -> Kind.of(run.number()) == Kind.LIMITED)
					.map((run) -> new long[] { run.startedAt(), end(run) })
					.toList());
		assertThat(schedules.get(RolledApplication.TICK)).as("runs of the declared schedule")
			.extracting((run) -> run.node().startsWith("first-"))
			.contains(true, false);
		// The schedule of a phase has runs, unless the node was killed in the first one
		// and the next schedule replaced it before the end of the lease.
		assertThat(schedules).hasSizeBetween(this.phase, this.phase + 1);
		schedules.values().forEach(this::assertRhythm);
	}

	private NodeProcess node(Program build) {
		String id = ((build == first) ? "first-" : "present-") + this.nodes++;
		// A stall of the machine ends no lease. The tasks of a killed node wait for it.
		return startNode(build, id, "timingwheel.store.lease=15s").awaitReady();
	}

	/** Both nodes get work. When this returns, both have begun with it. */
	private void work(NodeProcess stores, NodeProcess changes) {
		stores.tell("store " + this.phase);
		changes.tell("change " + this.phase);
		this.phase++;
		for (NodeProcess node : List.of(stores, changes)) {
			long before = this.executions.startedOn(node.id());
			await(() -> this.executions.startedOn(node.id()) > before + 10);
		}
	}

	private NodeProcess replaceKilled(NodeProcess node, Program build) {
		await(() -> this.executions.runningOn(node.id()) > 0);
		node.kill();
		this.killedAt.put(node.id(), System.currentTimeMillis());
		return node(build);
	}

	/**
	 * The last run came to its end. On nodes that were not killed no other did, and no
	 * attempt failed but as it should.
	 */
	private void assertRunOnce(List<Execution> runs) {
		int failures = (Kind.of(runs.get(0).number()) == Kind.RETRIED) ? 1 : 0;
		Execution last = runs.get(runs.size() - 1);
		assertThat(last.endedAt()).isNotNull();
		assertThat(last.attempt()).isEqualTo(1 + failures);
		List<Execution> seen = runs.stream().filter((run) -> !this.killedAt.containsKey(run.node())).toList();
		assertThat(seen).filteredOn((run) -> run.endedAt() != null).hasSizeLessThanOrEqualTo(1);
		assertThat(seen).filteredOn((run) -> run.endedAt() == null).hasSizeLessThanOrEqualTo(failures);
	}

	private void assertRhythm(List<Execution> runs) {
		assertThat(runs).filteredOn((run) -> !this.killedAt.containsKey(run.node()))
			.extracting(Execution::dueAt)
			.doesNotHaveDuplicates();
		assertThat(runs).allSatisfy((run) -> assertThat(run.dueAt() - runs.get(0).dueAt())
			.matches((gap) -> gap % RolledApplication.PERIOD.toMillis() == 0));
	}

	private long end(Execution run) {
		return (run.endedAt() != null) ? run.endedAt() : this.killedAt.getOrDefault(run.node(), Long.MAX_VALUE);
	}

}
