package io.timingwheel.spring.durable;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.durable.reference.ReferenceStore;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * The claims of a node with a backlog, in virtual time. So each claim is quick.
 */
class ClaimGrowthTests {

	private static final int TASKS = 5000;

	private final ManualTimeSource time = new ManualTimeSource();

	private final LongSupplier clock = () -> this.time.nanoTime() / 1_000_000;

	private final ReferenceStore store = new ReferenceStore(new ReferenceStore.Data());

	/** How many tasks each claim may take. */
	private final List<Integer> limits = new ArrayList<>();

	/** How many tasks have been stored. */
	private int stored;

	@Test
	void claimsGrowWithABacklogAndHaveTheirUsualSizeAfterIt() throws Exception {
		this.store.setClock(this.clock);
		SimulatedNode storing = new SimulatedNode("storing", this.time, this.store, Map.of(), (number, context) -> {
		});
		enqueue(storing, TestNode.NAME, TASKS, Duration.ZERO);
		AtomicInteger runs = new AtomicInteger();
		SimulatedNode node = new SimulatedNode("node", this.time, recording(), Map.of(TestNode.NAME, Missed.ALL),
				(number, context) -> runs.incrementAndGet());
		for (int i = 0; i < 60 && runs.get() < TASKS; i++) {
			this.time.advance(Duration.ofSeconds(1));
		}
		assertThat(runs).hasValue(TASKS);
		int claims = this.limits.size();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.limits).containsSubsequence(100, 200, 400, 500);
		assertThat(this.limits.subList(claims, this.limits.size())).isNotEmpty().containsOnly(100);
		node.shutdown();
		storing.shutdown();
	}

	/**
	 * One name holds three quarters of what the node may hold. The rest is for other
	 * names, which have no tasks.
	 */
	@Test
	void aNameThatHasItsShareIsClaimedAgainOnlyWhenTasksHaveEnded() {
		this.store.setClock(this.clock);
		SimulatedNode storing = new SimulatedNode("storing", this.time, this.store, Map.of(), (number, context) -> {
		});
		enqueue(storing, TestNode.NAME, TASKS, Duration.ofMillis(1500));
		AtomicInteger runs = new AtomicInteger();
		SimulatedNode node = new SimulatedNode("node", this.time, recording(),
				Map.of(TestNode.NAME, Missed.ALL, "other", Missed.ALL), (number, context) -> runs.incrementAndGet());
		assertTimeoutPreemptively(Duration.ofMinutes(1), () -> this.time.advance(Duration.ofMillis(1400)));
		assertThat(runs).hasValue(0);
		assertThat(node.durable().inFlight()).isEqualTo(750);
		assertThat(this.limits).hasSizeLessThan(20);
		assertTimeoutPreemptively(Duration.ofMinutes(1), () -> this.time.advance(Duration.ofSeconds(30)));
		assertThat(runs).hasValue(TASKS);
		node.kill();
		storing.kill();
	}

	/**
	 * The tasks of one name stay with the node and leave it little room. The tasks of
	 * another name end at once.
	 */
	@Test
	void aNameWithQuickTasksIsClaimedAgainAsSoonAsTheyHaveEnded() {
		this.store.setClock(this.clock);
		SimulatedNode storing = new SimulatedNode("storing", this.time, this.store, Map.of(), (number, context) -> {
		});
		String slow = "slow";
		enqueue(storing, slow, 700, Duration.ofMillis(1500));
		AtomicInteger runs = new AtomicInteger();
		SimulatedNode node = new SimulatedNode("node", this.time, recording(),
				Map.of(TestNode.NAME, Missed.ALL, slow, Missed.ALL), (number, context) -> runs.incrementAndGet());
		this.time.advance(Duration.ofMillis(700));
		assertThat(node.durable().inFlight()).isEqualTo(700);
		enqueue(storing, TestNode.NAME, TASKS, Duration.ZERO);
		assertTimeoutPreemptively(Duration.ofMinutes(1), () -> this.time.advance(Duration.ofMillis(700)));
		assertThat(runs).hasValue(TASKS);
		node.kill();
		storing.kill();
	}

	/**
	 * Tasks that stay with the node leave it less room than a claim of a backlog usually
	 * needs.
	 */
	@Test
	void aLittleRoomIsUsedWithinMillisecondsWhileOtherTasksStay() {
		this.store.setClock(this.clock);
		SimulatedNode storing = new SimulatedNode("storing", this.time, this.store, Map.of(), (number, context) -> {
		});
		enqueue(storing, TestNode.NAME, 800, Duration.ofMillis(950));
		AtomicInteger runs = new AtomicInteger();
		SimulatedNode node = new SimulatedNode("node", this.time, recording(), Map.of(TestNode.NAME, Missed.ALL),
				(number, context) -> runs.incrementAndGet());
		this.time.advance(Duration.ofMillis(100));
		assertThat(node.durable().inFlight()).isEqualTo(800);
		enqueue(storing, TestNode.NAME, TASKS, Duration.ZERO);
		assertTimeoutPreemptively(Duration.ofMinutes(1), () -> this.time.advance(Duration.ofMillis(800)));
		assertThat(runs).hasValue(TASKS);
		node.kill();
		storing.kill();
	}

	@Test
	void aFullNodeClaimsSeveralTasksAtOnceWhileItsTasksEndOneByOne() {
		this.store.setClock(this.clock);
		SimulatedNode storing = new SimulatedNode("storing", this.time, this.store, Map.of(), (number, context) -> {
		});
		for (int i = 1; i <= TASKS; i++) {
			enqueue(storing, TestNode.NAME, 1, Duration.ofMillis(i));
		}
		AtomicInteger runs = new AtomicInteger();
		SimulatedNode node = new SimulatedNode("node", this.time, recording(), Map.of(TestNode.NAME, Missed.ALL),
				(number, context) -> runs.incrementAndGet());
		this.time.advance(Duration.ofSeconds(1));
		int claims = this.limits.size();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(runs.get()).isBetween(2990, 3000);
		assertThat(this.limits.size() - claims).isBetween(1, 60);
		node.kill();
		storing.kill();
	}

	private void enqueue(SimulatedNode node, String name, int count, Duration delay) {
		node.durable()
			.enqueueAll(IntStream.range(0, count)
				.mapToObj((i) -> DurableCall.of(new TaskId(name, "k" + this.stored++), delay, i))
				.toList());
	}

	private DelayedTaskStore recording() {
		return (DelayedTaskStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DelayedTaskStore.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("claim")) {
						this.limits.add(((ClaimRequest) arguments[0]).limit());
					}
					try {
						return method.invoke(this.store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
