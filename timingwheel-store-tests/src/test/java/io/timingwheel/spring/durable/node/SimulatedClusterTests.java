package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.LongSupplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.node.DurableNode.Services;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.Backoff;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three nodes on one store in memory, in virtual time, with the schedules of many users.
 * The nodes pause and go on, stop, are killed and start again, but one of them always
 * works.
 */
class SimulatedClusterTests {

	/** An hour before clocks are set forward in Berlin. */
	private static final Instant START = Instant.parse("2026-03-29T00:00:00Z");

	/** Each time has a run of its own, however late. */
	private static final String ALL = "all";

	/** The periods are so long that no run is late by a period, even of a killed node. */
	private static final String ONCE = "once";

	private static final Map<String, Missed> NAMES = Map.of(ALL, Missed.ALL, ONCE, Missed.ONCE);

	private static final Duration LEASE = Duration.ofSeconds(10);

	private static final int NODES = 3;

	private static final int SCHEDULES = 400;

	private static final long RUNS = 20_000;

	/**
	 * How much later than its time a run starts if no event disturbs its node. The tasks
	 * of a killed node are late by a lease.
	 */
	private static final long PROMPT_MILLIS = 2;

	private final long seed = Long.getLong("timingwheel.seed", System.nanoTime());

	private final SplittableRandom random = new SplittableRandom(this.seed);

	private final InMemoryTaskStore store = new InMemoryTaskStore();

	private final ManualTimeSource time = new ManualTimeSource();

	private final LongSupplier storeClock = () -> START.toEpochMilli() + this.time.nanoTime() / 1_000_000;

	private final @Nullable SimulatedNode[] nodes = new SimulatedNode[NODES];

	private final List<UserSchedule> schedules = new ArrayList<>();

	private final List<String> errors = new ArrayList<>();

	private int started;

	private long runs;

	private long prompt;

	@Test
	void eachTimeHasOneRunWhileNodesPauseStopAndAreKilled() throws Exception {
		for (int i = 0; i < NODES; i++) {
			start(i);
		}
		for (int i = 0; i < SCHEDULES; i++) {
			add(i);
		}
		while (this.runs < RUNS && this.errors.isEmpty()) {
			this.time.advance(Duration.ofMillis(this.random.nextInt(1, 5_000)));
			disturb();
		}
		for (int i = 0; i < NODES; i++) {
			if (this.nodes[i] == null) {
				start(i);
			}
			node(i).resume();
		}
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(this.errors).as("seed " + this.seed).isEmpty();
		assertThat(this.runs).isGreaterThanOrEqualTo(RUNS);
		long now = this.storeClock.getAsLong();
		assertThat(this.schedules).as("seed " + this.seed)
			.allSatisfy((schedule) -> assertThat(schedule.next.toEpochMilli()).as("no run is missing")
				.isGreaterThanOrEqualTo(now));
		assertThat((double) this.prompt / this.runs).as("the share of prompt runs").isGreaterThan(0.5);
		for (int i = 0; i < NODES; i++) {
			node(i).shutdown();
		}
	}

	private SimulatedNode node(int i) {
		return Objects.requireNonNull(this.nodes[i]);
	}

	private void start(int i) {
		this.nodes[i] = new SimulatedNode("node " + ++this.started);
	}

	private void add(int number) {
		boolean all = number % 4 != 0;
		int seconds = all ? this.random.nextInt(1, 10) : this.random.nextInt(60, 300);
		ZoneId zone = ZoneId.of((number % 3 == 0) ? "Europe/Berlin" : "UTC");
		Schedule schedule = switch (number % 5) {
			case 0 ->
				Schedule.cron(all ? "*/%d * * * * *".formatted(seconds) : "%d * * * * *".formatted(seconds % 60), zone);
			case 1 -> Schedule.cron(
					all ? "%d-59/%d * * * * *".formatted(seconds, seconds) : "%d */2 * * * *".formatted(seconds % 60),
					zone);
			default -> Schedule.every(Duration.ofMillis(seconds * 1_000L + this.random.nextInt(1_000)));
		};
		Instant first = Objects.requireNonNull(schedule.next(Instant.ofEpochMilli(this.storeClock.getAsLong())));
		this.store.recur(new NewSchedule(UUID.randomUUID().toString(), all ? ALL : ONCE, String.valueOf(number),
				String.valueOf(number), null, schedule.toString(), new DueTime(first.toEpochMilli(), true), false));
		this.schedules.add(new UserSchedule(schedule, first));
	}

	private void run(int number) {
		UserSchedule schedule = this.schedules.get(number);
		Instant due = DelayedTaskContext.current().orElseThrow().dueAt();
		long late = this.storeClock.getAsLong() - due.toEpochMilli();
		if (!due.equals(schedule.next) || late < 0) {
			this.errors
				.add("%s of %s, %d ms late, in place of %s".formatted(due, schedule.schedule, late, schedule.next));
		}
		schedule.next = Objects.requireNonNull(schedule.schedule.next(due));
		this.runs++;
		this.prompt += (late <= PROMPT_MILLIS) ? 1 : 0;
	}

	/**
	 * Changes what one of the nodes does, now and then.
	 */
	private void disturb() throws InterruptedException {
		int i = this.random.nextInt(NODES);
		SimulatedNode node = this.nodes[i];
		int event = this.random.nextInt(40);
		if (node == null) {
			if (event < 10) {
				start(i);
			}
		}
		else if (node.isPaused()) {
			if (event < 10) {
				node.resume();
			}
		}
		else if (othersWork(i)) {
			switch (event) {
				case 0, 1 -> node.pause();
				case 2 -> {
					node.shutdown();
					this.nodes[i] = null;
				}
				case 3 -> {
					node.kill();
					this.nodes[i] = null;
				}
				default -> {
				}
			}
		}
	}

	private boolean othersWork(int i) {
		for (int j = 0; j < NODES; j++) {
			SimulatedNode other = this.nodes[j];
			if (j != i && other != null && !other.isPaused()) {
				return true;
			}
		}
		return false;
	}

	private static final class UserSchedule {

		private final Schedule schedule;

		/** The time of which the next run must be. */
		private Instant next;

		UserSchedule(Schedule schedule, Instant next) {
			this.schedule = schedule;
			this.next = next;
		}

	}

	/**
	 * A node in virtual time, which polls and claims as with threads. All its work is
	 * done by the thread that advances the clock.
	 */
	private final class SimulatedNode {

		private final TimingWheel wheel = TimingWheel.builder(Runnable::run)
			.timeSource(SimulatedClusterTests.this.time)
			.tick(Duration.ofMillis(1))
			.shards(1)
			.build();

		private final DurableNode node;

		private boolean paused;

		SimulatedNode(String id) {
			InMemoryTaskStore store = new InMemoryTaskStore(SimulatedClusterTests.this.store);
			store.testing().setClock(SimulatedClusterTests.this.storeClock);
			DurableHandlers handlers = new DurableHandlers();
			NAMES.forEach((name, missed) -> handlers
				.register(NumberHandler.of(name, SimulatedClusterTests.this::run, Runnable::run, null, missed)));
			NodeSettings settings = new NodeSettings(id, LEASE, Duration.ofSeconds(2), Duration.ofSeconds(1), 100, 1000,
					3, 5, new Backoff(Duration.ofMillis(50), 2, Duration.ofSeconds(1), 0), 1000, null);
			this.node = new DurableNode(store, settings, handlers, this.wheel,
					new Services((name) -> new TaskRecorder(), TaskPolicies.none(), new RunningBodies(),
							HandOverExecutors.onCallingThread(), null, () -> true),
					new WheelLoops(this.wheel));
			this.node.start();
		}

		private boolean isPaused() {
			return this.paused;
		}

		private void pause() {
			this.paused = true;
			this.node.pause();
		}

		private void resume() {
			this.paused = false;
			this.node.resume();
		}

		private void shutdown() throws InterruptedException {
			this.node.shutdown(Duration.ZERO);
			this.wheel.close();
		}

		/**
		 * Ends the node at once. It gives nothing back, and the store hears nothing more
		 * of it.
		 */
		private void kill() {
			this.wheel.close();
		}

	}

}
