package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.faults.Executions.Execution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tasks of nodes that die, hang, or close.
 */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "REDIS" })
class NodeFaultTests extends FaultTestSupport {

	/**
	 * How long the other node may need on a busy machine, beyond the lease and a poll, to
	 * work off the tasks of both nodes.
	 */
	private static final Duration TOLERANCE = Duration.ofMinutes(1);

	private static final Duration TOO_LATE = Duration.ofMillis(10);

	static final long A_MINUTE = Duration.ofMinutes(1).toMillis();

	private static final int RACES = 1000;

	/** The average time for each of these calls. */
	private static final int MILLIS_PER_RACE = 4;

	@Test
	void tasksOfAKilledNodeRunOnTheOtherNode() {
		NodeProcess killed = startNode("killed", List.of());
		NodeProcess other = otherNode().awaitReady();
		killed.awaitReady();
		other.tell("resume");
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
			startNode("dies" + deaths, List.of(), properties).awaitEnd();
		}
		startNode("last", List.of(), properties);
		await(() -> this.executions.numbersEnded() == 9 && this.client.counts().equals(new StoredCounts(0, 0, 0, 1)));
		assertThat(this.client.dead()).singleElement()
			.matches((task) -> "0".equals(task.key()) && task.error().contains("max-lost-deliveries"));
		assertThat(runs().get(0L)).hasSize(2);
	}

	@Test
	void reportsOfANodeThatWasStoppedBeyondItsLeaseAreRefused() {
		NodeProcess other = paused(otherNode());
		NodeProcess stopped = startNode("stopped", List.of(), "timingwheel.store.look-ahead=20s").awaitReady();
		Instant later = Instant.now().plusSeconds(12);
		this.client.enqueue(20, 5, later, Duration.ZERO, 0);
		this.client.enqueue(0, 5, Instant.now(), Duration.ZERO, 10_000);
		this.client.enqueue(10, 5, Instant.now(), Duration.ZERO, A_MINUTE);
		await(() -> this.executions.started() == 10 && stopped.ask("in-flight") == 15);
		stopped.stop();
		assertThat(Instant.now()).as("the machine is too slow for this test").isBefore(later);
		assertThat(this.client.replace(key(20), DueTime.after(Duration.ZERO), 120).outcome())
			.isEqualTo(Outcome.REPLACED);
		assertThat(this.client.replace(key(10), DueTime.after(Duration.ZERO), 110).outcome())
			.isEqualTo(Outcome.INSERTED);
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
		NodeProcess other = paused(otherNode());
		NodeProcess closing = startNode("closing", List.of(), "timingwheel.store.look-ahead=40s", LONG_LEASE,
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

	@Test
	void aCancelOrReplacementThatRacesTheStartHasOneOutcome() throws Exception {
		twoNodesThatKeepTheirLeases();
		int perRound = 1000;
		int tasks = 0;
		Set<Long> raced = ConcurrentHashMap.newKeySet();
		Set<Long> cancelled = new HashSet<>();
		Set<Long> replaced = new HashSet<>();
		ExecutorService threads = Executors.newFixedThreadPool(8);
		try {
			AtomicInteger offset = new AtomicInteger();
			Duration lead = SOON.multipliedBy(2);
			// A busy machine may take longer to store a round than until the tasks are
			// due, or be late with all calls of a round.
			while (tasks < RACES || (!haveRaced(raced, cancelled, replaced) && tasks < 5 * RACES)) {
				Instant before = Instant.now();
				Instant due = before.plus(lead);
				this.client.enqueue(tasks, perRound, due, Duration.ofMillis((long) MILLIS_PER_RACE * perRound), 0);
				lead = Duration.between(before, Instant.now()).plusSeconds(1);
				int first = tasks;
				tasks += perRound;
				AtomicInteger next = new AtomicInteger();
				List<Future<Set<Long>>> racers = IntStream.range(0, 8).mapToObj((i) -> threads.submit(() -> {
					Set<Long> won = new HashSet<>();
					for (int n = next.getAndIncrement(); n < perRound; n = next.getAndIncrement()) {
						long number = first + n;
						Instant at = due.plusMillis((long) MILLIS_PER_RACE * n).plusMillis(offset.get());
						// A busy machine has no time for all calls.
						if (Instant.now().isBefore(at.plus(TOO_LATE))) {
							raced.add(number);
							if (race(number, at, offset)) {
								won.add(number);
							}
						}
					}
					return won;
				})).toList();
				for (Future<Set<Long>> racer : racers) {
					racer.get().forEach((number) -> ((number % 2 == 0) ? cancelled : replaced).add(number));
				}
			}
		}
		finally {
			threads.shutdown();
		}
		awaitEmptyStore();
		assertThat(haveRaced(raced, cancelled, replaced))
			.as("enough of %d calls cancel (%d), replace (%d) and come too late", raced.size(), cancelled.size(),
					replaced.size())
			.isTrue();
		Set<Long> expected = LongStream.range(0, tasks)
			.filter((number) -> !cancelled.contains(number) && !replaced.contains(number))
			.boxed()
			.collect(Collectors.toSet());
		raced.stream().filter((number) -> number % 2 == 1).forEach((number) -> expected.add(-number));
		assertThat(singleRuns().keySet()).isEqualTo(expected);
		assertNeverEarly();
	}

	/**
	 * Whether there were enough calls, and enough of each outcome. Otherwise the calls
	 * did not race with the starts.
	 */
	private boolean haveRaced(Set<Long> calls, Set<Long> cancelled, Set<Long> replaced) {
		int enough = Math.max(1, calls.size() / 50);
		return calls.size() > RACES / 20 && cancelled.size() >= enough && replaced.size() >= enough
				&& calls.size() - cancelled.size() - replaced.size() >= enough;
	}

	/**
	 * Cancels a task with an even number, or replaces a task with an odd number, at about
	 * the time when it starts.
	 * @param at when that is
	 * @param offset how long after it is due; the call corrects it
	 * @return whether it had not started
	 */
	private boolean race(long number, Instant at, AtomicInteger offset) throws InterruptedException {
		long millis = at.toEpochMilli() + ThreadLocalRandom.current().nextInt(-3, 4) - System.currentTimeMillis();
		Thread.sleep(Math.max(0, millis));
		boolean won = (number % 2 == 0) ? this.client.store().cancel(Target.of(key(number), Kind.EITHER))
				: this.client.replace(key(number), DueTime.after(Duration.ZERO), -number).outcome() == Outcome.REPLACED;
		offset.updateAndGet((current) -> Math.max(-20, Math.min(current + (won ? 1 : -1), 500)));
		return won;
	}

}
