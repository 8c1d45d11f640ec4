package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three nodes on one store in memory, in virtual time, with the schedules of many users.
 * The nodes pause and go on, stop, are killed and start again, but one of them always
 * works.
 */
class SimulatedClusterTests extends NodeTestSupport {

	/** An hour before clocks are set forward in Berlin. */
	private static final Instant START = Instant.parse("2026-03-29T00:00:00Z");

	/** Each time has a run of its own, however late. */
	private static final String ALL = "all";

	/** The periods are so long that no run is late by a period, even of a killed node. */
	private static final String ONCE = "once";

	private static final Map<String, Missed> NAMES = Map.of(ALL, Missed.ALL, ONCE, Missed.ONCE);

	private static final int NODES = 3;

	private static final int SCHEDULES = 400;

	private static final long ENOUGH = 20_000;

	/**
	 * How much later than its time a run starts if no event disturbs its node. The tasks
	 * of a killed node are late by a lease.
	 */
	private static final long PROMPT_MILLIS = 2;

	private final long seed = Long.getLong("timingwheel.seed", System.nanoTime());

	private final SplittableRandom random = new SplittableRandom(this.seed);

	private final @Nullable DurableNode[] nodes = new DurableNode[NODES];

	private final List<UserSchedule> userSchedules = new ArrayList<>();

	private final List<String> errors = new ArrayList<>();

	private long ended;

	private long prompt;

	SimulatedClusterTests() {
		this.lease = Duration.ofSeconds(10);
		this.maxLostDeliveries = 5;
		NAMES.forEach((name, missed) -> handle(NumberHandler.of(name, this::run, Runnable::run, null, missed)));
	}

	@Override
	long storeNow() {
		return START.toEpochMilli() + this.time.nanoTime() / 1_000_000;
	}

	@Test
	void eachTimeHasOneRunWhileNodesPauseStopAndAreKilled() throws Exception {
		Arrays.setAll(this.nodes, (i) -> node());
		IntStream.range(0, SCHEDULES).forEach(this::add);
		while (this.ended < ENOUGH && this.errors.isEmpty()) {
			this.time.advance(Duration.ofMillis(this.random.nextInt(1, 5_000)));
			disturb();
		}
		Arrays.setAll(this.nodes, (i) -> (this.nodes[i] != null) ? this.nodes[i] : node());
		Stream.of(this.nodes).forEach(DurableNode::resume);
		this.time.advance(this.lease.multipliedBy(3));
		assertThat(this.errors).as("seed " + this.seed).isEmpty();
		assertThat(this.ended).isGreaterThanOrEqualTo(ENOUGH);
		assertThat(this.userSchedules).as("seed " + this.seed)
			.allSatisfy((schedule) -> assertThat(schedule.next.toEpochMilli()).as("no run is missing")
				.isGreaterThanOrEqualTo(storeNow()));
		assertThat((double) this.prompt / this.ended).as("the share of prompt runs").isGreaterThan(0.5);
	}

	@Test
	void theNodesTogetherStartAsManyTasksAsTheRateAllows() {
		int perSecond = 100;
		int seconds = 20;
		this.policies.declare(NAME,
				new PolicySettings(null, BackoffSettings.NONE, null, null, StartRate.parse(perSecond + "/s"), null));
		List<Long> starts = new ArrayList<>();
		handle(NAME, (number) -> starts.add(storeNow()));
		Arrays.setAll(this.nodes, (i) -> node());
		IntStream.range(0, perSecond * (seconds + 5)).forEach((i) -> enqueue(i, Duration.ZERO));
		advance(Duration.ofSeconds(seconds));
		// A burst is a tenth of a second's starts.
		assertThat(starts).hasSizeBetween(perSecond * seconds - 10, perSecond * seconds + 10);
		assertThat(starts).allSatisfy((start) -> assertThat(starts).filteredOn((other) -> other >= start)
			.filteredOn((other) -> other < start + 1000)
			.hasSizeLessThanOrEqualTo(perSecond + 10));
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
		Instant first = Objects.requireNonNull(schedule.next(Instant.ofEpochMilli(storeNow())));
		this.store.recur(new NewSchedule(UUID.randomUUID().toString(), all ? ALL : ONCE, String.valueOf(number),
				"[%d]".formatted(number), schedule.toString(), new DueTime(first.toEpochMilli(), true), false));
		this.userSchedules.add(new UserSchedule(schedule, first));
	}

	private void run(int number) {
		UserSchedule schedule = this.userSchedules.get(number);
		Instant due = DelayedTaskContext.current().orElseThrow().dueAt();
		long late = storeNow() - due.toEpochMilli();
		if (!due.equals(schedule.next) || late < 0) {
			this.errors
				.add("%s of %s, %d ms late, in place of %s".formatted(due, schedule.schedule, late, schedule.next));
		}
		schedule.next = Objects.requireNonNull(schedule.schedule.next(due));
		this.ended++;
		this.prompt += (late <= PROMPT_MILLIS) ? 1 : 0;
	}

	/** Changes what one of the nodes does, now and then. */
	private void disturb() throws InterruptedException {
		int i = this.random.nextInt(NODES);
		DurableNode node = this.nodes[i];
		int event = this.random.nextInt(40);
		if (node == null || !node.isClaiming()) {
			if (event < 10 && node == null) {
				this.nodes[i] = node();
			}
			else if (event < 10) {
				node.resume();
			}
		}
		else if (Stream.of(this.nodes).filter((other) -> other != null && other.isClaiming()).count() > 1) {
			if (event < 2) {
				node.pause();
			}
			else if (event == 2) {
				node.shutdown(Duration.ZERO);
				this.nodes[i] = null;
			}
			else if (event == 3) {
				kill(node);
				this.nodes[i] = null;
			}
		}
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
