package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.faults.FaultServer.Type;
import io.timingwheel.spring.faults.TransactionalWorker.Step;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tasks whose transactions take long, or never commit.
 */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "MARIADB" })
class TransactionFaultTests extends FaultTestSupport {

	private static final long A_MINUTE = Duration.ofMinutes(1).toMillis();

	@Test
	void aTransactionThatHoldsCancelledTasksBeyondALeaseDelaysOnlyThem() throws Exception {
		// If the machine stalls for some seconds, no lease ends, and the tasks can still
		// be cancelled before they are due.
		Duration lease = LEASE.plusSeconds(2);
		List<NodeProcess> nodes = Stream.of("e", "f")
			.map((id) -> startNode(id, List.of(), "timingwheel.store.lease=" + lease,
					"timingwheel.store.look-ahead=10s"))
			.toList();
		nodes.forEach(NodeProcess::awaitReady);
		long complaints = complaints(nodes);
		// Two tasks that a node has on its wheel, and two that no node has claimed yet.
		Instant due = Instant.now().plusSeconds(8);
		this.client.enqueue(0, 2, due, Duration.ZERO, 0);
		this.client.enqueue(2, 2, due.plus(lease), Duration.ZERO, 0);
		await(() -> nodes.stream().mapToInt(this.client::leasedBy).sum() >= 2);
		ExecutorService threads = Executors.newFixedThreadPool(2);
		CountDownLatch cancelled = new CountDownLatch(4);
		CountDownLatch end = new CountDownLatch(1);
		try {
			List<Future<?>> transactions = List.of(
					threads.submit(() -> cancelAndHold(List.of(0L, 2L), cancelled, end, true)),
					threads.submit(() -> cancelAndHold(List.of(1L, 3L), cancelled, end, false)));
			assertThat(cancelled.await(1, TimeUnit.MINUTES)).isTrue();
			this.client.enqueue(10, 500, Instant.now(), LEASE, 0);
			await(() -> this.executions.numbersEnded() == 500);
			awaitTime(due.plus(lease).plusSeconds(2));
			this.client.enqueue(1000, 50, Instant.now(), Duration.ZERO, 0);
			await(() -> this.executions.numbersEnded() == 550);
			assertThat(runs()).doesNotContainKeys(0L, 1L, 2L, 3L);
			end.countDown();
			for (Future<?> transaction : transactions) {
				transaction.get();
			}
		}
		finally {
			end.countDown();
			threads.shutdown();
		}
		awaitEmptyStore();
		assertThat(singleRuns()).hasSize(552).containsKeys(1L, 3L);
		// InnoDB locks the gaps between keys, so a node may wait and say so.
		if (this.store != Type.MARIADB) {
			assertThat(complaints(nodes)).isEqualTo(complaints);
		}
		assertNeverEarly();
	}

	/**
	 * How many warnings and errors the nodes have logged.
	 */
	private static long complaints(List<NodeProcess> nodes) {
		return nodes.stream().mapToLong((node) -> node.logged("WARN") + node.logged("ERROR")).sum();
	}

	private void cancelAndHold(List<Long> numbers, CountDownLatch cancelled, CountDownLatch end, boolean commit) {
		TransactionTemplate transaction = this.client.transaction();
		// With a stricter isolation a database that locks gaps would also hold up new
		// tasks.
		transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		transaction.executeWithoutResult((status) -> {
			numbers.forEach((number) -> {
				if (this.client.template().cancel(key(number))) {
					cancelled.countDown();
				}
			});
			if (!commit) {
				status.setRollbackOnly();
			}
			try {
				end.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	@Test
	void aNodeThatEndsAtAnyStepLeavesOneEffectPerTask() {
		List<Step> steps = List.of(Step.BEGUN, Step.CHANGED, Step.ACKNOWLEDGED, Step.COMMITTING, Step.COMMITTING,
				Step.COMMITTED);
		createEffects();
		for (int i = 0; i < steps.size(); i += 2) {
			List<NodeProcess> two = Stream.of(i, i + 1)
				.map((number) -> startNode("halting-" + number, List.of()))
				.toList();
			two.forEach(FaultTestSupport::paused);
			for (int number = i; number < i + 2; number++) {
				NodeProcess node = two.get(number - i);
				node.tell("resume");
				enqueueTransactional(number, steps.get(number), 0);
				node.awaitEnd();
				assertThat(runs().get((long) number)).extracting(Execution::node).containsExactly(node.id());
			}
		}
		twoNodes();
		awaitEmptyStore();
		assertOneEffectPerTask(steps.size());
	}

	@Test
	void killedNodesLeaveOneEffectPerTask() {
		createEffects();
		int tasks = 400;
		twoNodes();
		for (int i = 0; i < tasks; i++) {
			enqueueTransactional(i, Step.NONE, 20);
		}
		for (int killed = 1; killed < 3; killed++) {
			int ended = killed * tasks / 4;
			await(() -> this.executions.numbersEnded() > ended);
			twoNodes().get(killed - 1).kill();
		}
		twoNodes();
		awaitEmptyStore();
		assertOneEffectPerTask(tasks);
	}

	@Test
	void aBodyThatOutlivesItsLeaseLeavesNoEffect() {
		createEffects();
		NodeProcess other = otherNode();
		NodeProcess stopped = pausedNode("a");
		paused(other);
		stopped.tell("resume");
		enqueueTransactional(0, Step.NONE, A_MINUTE);
		await(() -> this.executions.startedOn("a") == 1);
		stopped.stop();
		other.tell("resume");
		await(() -> this.executions.startedOn("other") == 1);
		awaitEmptyStore();
		stopped.goOn();
		await(() -> stopped.ask("lost-leases") > 0);
		await(() -> stopped.ask("in-flight") == 0);
		assertOneEffectPerTask(1);
		assertThat(runs().get(0L)).extracting(Execution::node).containsExactly("a", "other");
	}

	private void createEffects() {
		this.client.jdbc().execute("create table if not exists effect (number bigint not null)");
		this.client.jdbc().update("delete from effect");
	}

	private void enqueueTransactional(long number, Step step, long millis) {
		this.client.template()
			.enqueue(TaskId.of(TransactionalWorker.NAME, number), Duration.ZERO, number, step, millis);
	}

	private void assertOneEffectPerTask(int tasks) {
		assertThat(this.client.jdbc().queryForList("select number from effect order by number", Long.class))
			.containsExactlyElementsOf(LongStream.range(0, tasks).boxed().toList());
	}

	@Test
	void aTransactionThatIsRolledBackOrCutOffByACrashLeavesNoTask() {
		List<NodeProcess> nodes = twoNodesThatKeepTheirLeases();
		for (NodeProcess node : nodes) {
			node.tell("rollback 0 10 0 0");
			node.tell("rollback 10 10 500 0");
			node.tell("rollback 20 10 60000 0");
			// While a claim is in progress, the node has less room.
			await(() -> node.ask("in-flight") == 0);
		}
		assertThat(this.client.isEmpty()).isTrue();
		NodeProcess crashing = nodes.get(0);
		// The delay is so short that the node that stores the task leases it at once.
		crashing.tell("transaction 30 10 500 0");
		Instant due = Instant.now().plusMillis(500);
		crashing.kill();
		assertThat(this.client.isEmpty()).isTrue();
		awaitTime(due.plus(POLL_INTERVAL));
		this.client.enqueue(100, 20, Instant.now(), Duration.ZERO, 0);
		awaitEnded(20);
		// The keys are free.
		this.client.enqueue(0, 40, Instant.now(), Duration.ZERO, 0);
		awaitEnded(60);
		assertThat(singleRuns().keySet()).containsExactlyInAnyOrderElementsOf(
				LongStream.concat(LongStream.range(0, 40), LongStream.range(100, 120)).boxed().toList());
		assertThat(IntStream.range(0, 40).mapToObj((i) -> runs().get((long) i).get(0)))
			.allSatisfy((run) -> assertThat(run.startedAt()).isGreaterThan(due.toEpochMilli()));
	}

}
