package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.timingwheel.spring.Postgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is tried on one server: its crash, nodes with wrong clocks, and a large backlog.
 */
@ParameterizedClass
@EnumSource(names = "POSTGRESQL")
class PostgresFaultTests extends FaultTestSupport {

	private static final int OVERDUE = 30_000;

	private static final Duration HOUR = Duration.ofHours(1);

	/**
	 * Cancels tasks at random before, during and after the crash. A cancel that fails may
	 * have taken effect or not.
	 */
	@Test
	void aCrashOfTheServerLosesNoTaskAndNoCancelledTaskRuns() throws Exception {
		Postgres server = (Postgres) server().process();
		int tasks = 6000;
		twoNodes();
		this.client.enqueue(0, tasks, Instant.now().plusSeconds(2), Duration.ofSeconds(12), 5);
		Set<Long> cancelled = ConcurrentHashMap.newKeySet();
		Set<Long> uncertain = ConcurrentHashMap.newKeySet();
		AtomicBoolean end = new AtomicBoolean();
		Thread canceller = new Thread(() -> {
			while (!end.get()) {
				long number = ThreadLocalRandom.current().nextLong(tasks);
				try {
					if (this.client.template().cancel(key(number))) {
						cancelled.add(number);
					}
				}
				catch (RuntimeException ex) {
					uncertain.add(number);
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
			}
		});
		canceller.start();
		try {
			await(() -> this.executions.started() > tasks / 3);
			server.kill();
			server.restart();
			await().ignoreExceptions().until(this.client::isEmpty);
		}
		finally {
			end.set(true);
			canceller.join();
		}
		Set<Long> run = runs().keySet();
		assertThat(cancelled).isNotEmpty().doesNotContainAnyElementsOf(run);
		Set<Long> lost = LongStream.range(0, tasks).boxed().collect(Collectors.toSet());
		lost.removeAll(run);
		lost.removeAll(cancelled);
		lost.removeAll(uncertain);
		assertThat(lost).isEmpty();
		assertNeverEarly();
	}

	@Test
	void aNodeWhoseClockIsWrongRunsNothingEarlyAndKeepsItsLeases() {
		// A node that stalls for some seconds does not lose this lease.
		Duration lease = Duration.ofSeconds(12);
		String property = "timingwheel.store.lease=" + lease;
		NodeProcess right = startNode("right", List.of(), property).awaitReady();
		right.tell("pause");
		List<NodeProcess> wrong = Stream.of(HOUR, HOUR.negated())
			.map((offset) -> startNode("clock" + offset, ShiftedClock.jvmOptions(offset), property))
			.toList();
		wrong.forEach(NodeProcess::awaitReady);
		assertClockIsShifted(wrong.get(0), HOUR);
		assertClockIsShifted(wrong.get(1), HOUR.negated());
		right.tell("resume");
		// Some bodies take longer than a lease, and others do not.
		this.client.enqueue(0, 30, Instant.now().plusSeconds(1), Duration.ofSeconds(1), millis(lease) * 3 / 2);
		this.client.enqueue(100, 600, Instant.now().plusSeconds(1), LEASE.multipliedBy(2), 10);
		long before = System.currentTimeMillis();
		wrong.get(0).tell("enqueue 1000 20 1500 0");
		wrong.get(1).tell("enqueue 2000 20 1500 0");
		wrong.get(0).tell("enqueue 3000 20 4000 0");
		wrong.get(1).tell("enqueue 4000 20 4000 0");
		awaitEnded(710);
		assertThat(singleRuns().values()).allSatisfy((run) -> {
			assertThat(run.deliveries()).isEqualTo(1);
			if (run.number() >= 1000) {
				assertThat(run.dueAt()).isGreaterThanOrEqualTo(before + ((run.number() >= 3000) ? 4000 : 1500));
			}
		});
		assertNeverEarly();
		for (NodeProcess node : wrong) {
			assertThat(this.executions.startedOn(node.id())).isGreaterThan(50);
			assertThat(node.ask("lost-leases")).isZero();
		}
	}

	@Test
	void manyOverdueTasksAreWorkedOffInOrderBySmallNodes() {
		this.client.jdbc().update("""
				insert into timingwheel_task (id, name, task_key, held_key, payload, due_at, next_at, status, fence,
					attempt, deliveries, lost, created_at)
				select gen_random_uuid()::text, 'work', number, 'o' || number,
					'[' || number || ',0]', due, due, 0, 1, 1, 0, 0, due
				from (select number, extract(epoch from now())::bigint * 1000 - 100000 + number * 7919 %% %1$d as due
					from generate_series(0, %1$d - 1) as g (number)) as numbers
				""".formatted(OVERDUE));
		int maxInFlight = 200;
		List<NodeProcess> nodes = Stream.of("small1", "small2")
			.map((id) -> startNode(id, List.of("-Xmx96m"), "timingwheel.store.max-in-flight=" + maxInFlight))
			.toList();
		nodes.forEach(NodeProcess::awaitReady);
		await(() -> {
			for (NodeProcess node : nodes) {
				assertThat(this.client.leasedBy(node)).isLessThanOrEqualTo(maxInFlight);
				assertThat(node.ask("in-flight")).isLessThanOrEqualTo(maxInFlight);
			}
			return this.client.isEmpty();
		});
		assertThat(this.executions.started()).isEqualTo(OVERDUE);
		assertThat(this.executions.numbersEnded()).isEqualTo(OVERDUE);
		for (NodeProcess node : nodes) {
			assertThat(this.executions.startedOn(node.id())).isGreaterThan(OVERDUE / 10);
			assertThat(node.ask("unordered-claims")).isZero();
			assertThat(node.ask("largest-claim")).isBetween(2L, 100L);
		}
	}

}
