package io.timingwheel.spring.durable;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three nodes on one store in virtual time, with the schedules of many users. The nodes
 * pause and go on, stop, are killed and start again, but one of them always works.
 */
public abstract class SimulatedClusterContractTests {

	/** An hour before clocks are set forward in Berlin. */
	private static final Instant START = Instant.parse("2026-03-29T00:00:00Z");

	/** Each time has a run of its own, however late. */
	private static final String ALL = "all";

	/** The periods are so long that no run is late by a period, even of a killed node. */
	private static final String ONCE = "once";

	private static final Map<String, Missed> NAMES = Map.of(ALL, Missed.ALL, ONCE, Missed.ONCE);

	private static final int NODES = 3;

	/**
	 * How much later than its time a run starts if no event disturbs its node. The tasks
	 * of a killed node are late by a lease.
	 */
	private static final long PROMPT_MILLIS = 2;

	private final long seed = Long.getLong("timingwheel.seed", System.nanoTime());

	private final SplittableRandom random = new SplittableRandom(this.seed);

	private final ManualTimeSource time = new ManualTimeSource();

	private final LongSupplier storeClock = () -> START.toEpochMilli() + this.time.nanoTime() / 1_000_000;

	private final @Nullable SimulatedNode[] nodes = new SimulatedNode[NODES];

	private final List<UserSchedule> schedules = new ArrayList<>();

	private final List<String> errors = new ArrayList<>();

	private int started;

	private long runs;

	private long prompt;

	/**
	 * Returns another store object on the same data, which is empty at first.
	 */
	protected abstract DelayedTaskStore store();

	/**
	 * How many runs the test waits for.
	 */
	protected abstract long runs();

	/**
	 * How many schedules there are.
	 */
	protected int schedules() {
		return 400;
	}

	@Test
	void eachTimeHasOneRunWhileNodesPauseStopAndAreKilled() throws Exception {
		for (int i = 0; i < NODES; i++) {
			start(i);
		}
		for (int i = 0; i < schedules(); i++) {
			add(i);
		}
		while (this.runs < runs() && this.errors.isEmpty()) {
			this.time.advance(Duration.ofMillis(this.random.nextInt(1, 5_000)));
			disturb();
		}
		for (int i = 0; i < NODES; i++) {
			if (this.nodes[i] == null) {
				start(i);
			}
			node(i).resume();
		}
		this.time.advance(SimulatedNode.LEASE.multipliedBy(3));
		assertThat(this.errors).as("seed " + this.seed).isEmpty();
		assertThat(this.runs).isGreaterThanOrEqualTo(runs());
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
		DelayedTaskStore store = store();
		store.testing().setClock(this.storeClock);
		this.nodes[i] = new SimulatedNode("node " + ++this.started, this.time, store, NAMES, this::run);
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
		Instant first = node(number % NODES).durable()
			.recur(TaskId.of(all ? ALL : ONCE, number), schedule, number)
			.dueAt();
		this.schedules.add(new UserSchedule(schedule, first));
	}

	private void run(int number, DelayedTaskContext context) {
		UserSchedule schedule = this.schedules.get(number);
		Instant due = context.dueAt();
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

}
