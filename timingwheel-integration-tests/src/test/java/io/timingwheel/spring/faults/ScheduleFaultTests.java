package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.task.Schedule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Schedules while nodes and the store fail, and the schedules of many users.
 */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "REDIS" })
class ScheduleFaultTests extends FaultTestSupport {

	/** So many users have a schedule. 20,000 take two minutes on Redis. */
	private static final int SCHEDULES = Integer.getInteger("timingwheel.schedules", 2000);

	private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

	private static final Duration A_DAY = Duration.ofDays(1);

	/**
	 * Four nodes, two of them with wrong clocks, run 20 schedules. One node is killed,
	 * one is stopped beyond its lease, and the store restarts. Each time of each schedule
	 * is covered by one run: by the run of this time, or by a late run of an earlier
	 * time. A run comes again only if the store has not heard of its end.
	 */
	@Test
	void eachTimeOfAScheduleHasOneRunInSpiteOfFaults() throws Exception {
		List<NodeProcess> nodes = new ArrayList<>(List.of(startNode("killed", List.of()),
				startNode("stopped", List.of()), startNode("fast", ShiftedClock.jvmOptions(Duration.ofMinutes(5))),
				startNode("slow", ShiftedClock.jvmOptions(Duration.ofMinutes(-5)))));
		nodes.forEach(NodeProcess::awaitReady);
		assertClockIsShifted(nodes.get(2), Duration.ofMinutes(5));
		assertClockIsShifted(nodes.get(3), Duration.ofMinutes(-5));
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
		server().stop().run();
		awaitTime(Instant.now().plusSeconds(2));
		server().restart().run();
		List<NodeProcess> alive = nodes.subList(1, 4);
		await(() -> alive.stream().allMatch(FaultTestSupport::isUp));
		long progress = this.executions.started();
		await(() -> this.executions.started() > progress + 8L * schedules);
		for (int i = 0; i < schedules; i++) {
			assertThat(this.client.store().cancel(Target.of(key(i), Kind.EITHER))).isTrue();
		}
		awaitEmptyStore();
		assertThat(this.executions.all()).extracting(Execution::node).contains("killed", "stopped", "fast", "slow");
		assertNeverEarly();
		Map<Long, List<Execution>> runs = runs();
		assertThat(runs).hasSize(schedules);
		runs.forEach((number, all) -> {
			assertEachTimeHasOneRun(all, first.get(Math.toIntExact(number)), period);
		});
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

	/**
	 * The schedules of many users. Some have a time every ten seconds. One in twenty has
	 * one time soon and the next on the next day, and the others have none for an hour. A
	 * node is killed while its bodies run. The other nodes keep their leases, so only
	 * what the killed node has run may run again.
	 */
	@Test
	void schedulesOfManyUsersMissNoTimeAndOnlyRunsOfAKilledNodeComeAgain() {
		int half = SCHEDULES / 2;
		NodeProcess killed = startNode("killed", List.of());
		List<NodeProcess> nodes = twoNodesThatKeepTheirLeases();
		killed.awaitReady();
		UserSchedule[] schedules = new UserSchedule[2 * half];
		this.client.forEachNumber(0, half, (number) -> schedules[number] = storeUserSchedule(number));
		awaitProgress(this.executions::started, half / 50);
		killWhileBodiesRun(killed);
		this.client.forEachNumber(half, half, (number) -> schedules[number] = storeUserSchedule(number));
		List<Integer> frequent = numbers(schedules, TimesOfUser.FREQUENT);
		List<Integer> soon = numbers(schedules, TimesOfUser.SOON);
		awaitProgress(this.executions::numbersEnded, frequent.size() + soon.size());
		awaitProgress(() -> this.executions.numbersEnded(2), frequent.size());
		frequent.forEach(
				(number) -> assertThat(this.client.store().cancel(Target.of(key(number), Kind.SCHEDULE))).isTrue());
		await(() -> this.client.counts().running() == 0);
		assertNeverEarly();
		Map<Long, List<Execution>> runs = runs();
		assertThat(runs).hasSize(frequent.size() + soon.size());
		runs.forEach((number, all) -> {
			UserSchedule schedule = schedules[Math.toIntExact(number)];
			assertEachTimeHasOneRun(all, schedule.first(), schedule.times().period);
		});
		assertThat(repeated(runs)).isNotEmpty()
			.allSatisfy((all) -> assertThat(all).extracting(Execution::node).contains(killed.id()));
		Map<String, Long> next = this.client.pending()
			.stream()
			.collect(Collectors.toMap(StoredTask::key, StoredTask::dueAt));
		assertThat(next).hasSize(schedules.length - frequent.size());
		soon.forEach((number) -> assertThat(next.get(String.valueOf(number))).as("next time of %d", number)
			.isEqualTo(schedules[number].first() + A_DAY.toMillis()));
		numbers(schedules, TimesOfUser.LATER)
			.forEach((number) -> assertThat(next.get(String.valueOf(number))).as("first time of %d", number)
				.isEqualTo(schedules[number].first()));
		for (NodeProcess node : nodes) {
			assertThat(this.executions.startedOn(node.id())).isGreaterThan(soon.size() / 100);
		}
	}

	/**
	 * Waits for a number, as long as it grows. A busy machine may need long.
	 */
	private static void awaitProgress(LongSupplier number, long target) {
		for (long before = number.getAsLong(); before < target; before = number.getAsLong()) {
			long last = before;
			await().pollInterval(Duration.ofSeconds(1)).until(() -> number.getAsLong() > last);
		}
	}

	private UserSchedule storeUserSchedule(int number) {
		TimesOfUser times = TimesOfUser.of(number);
		while (true) {
			Schedule schedule = Schedule.every(TEN_SECONDS);
			if (times != TimesOfUser.FREQUENT) {
				Duration delay = (times == TimesOfUser.SOON) ? TEN_SECONDS : Duration.ofMinutes(60 + number % 1200);
				ZonedDateTime first = ZonedDateTime.now(ZoneOffset.UTC).plus(delay);
				schedule = Schedule.cron(
						"%d %d %d * * *".formatted(first.getSecond(), first.getMinute(), first.getHour()),
						ZoneOffset.UTC);
			}
			Instant first = this.client.template().recur(key(number), schedule, number, 2).dueAt();
			// A thread that stalls may store a time of this day too late.
			if (times != TimesOfUser.SOON || first.isBefore(Instant.now().plus(A_DAY.dividedBy(2)))) {
				return new UserSchedule(first.toEpochMilli(), times);
			}
		}
	}

	private static List<Integer> numbers(UserSchedule[] schedules, TimesOfUser times) {
		return IntStream.range(0, schedules.length)
			.filter((number) -> schedules[number].times() == times)
			.boxed()
			.toList();
	}

	/**
	 * The node is stopped at first, so that its bodies cannot end in between.
	 */
	private void killWhileBodiesRun(NodeProcess node) {
		await(() -> {
			node.stop();
			if (this.executions.runningOn(node.id()) == 0) {
				node.goOn();
				return false;
			}
			node.kill();
			return true;
		});
	}

	/**
	 * The runs of each time that has several runs.
	 */
	private static List<List<Execution>> repeated(Map<Long, List<Execution>> runs) {
		return runs.values()
			.stream()
			.flatMap((all) -> all.stream().collect(Collectors.groupingBy(Execution::dueAt)).values().stream())
			.filter((all) -> all.size() > 1)
			.toList();
	}

	/**
	 * The schedule of a user.
	 *
	 * @param first its first time
	 * @param times when its times are
	 */
	private record UserSchedule(long first, TimesOfUser times) {

	}

	private enum TimesOfUser {

		FREQUENT(TEN_SECONDS), SOON(A_DAY), LATER(A_DAY);

		private final Duration period;

		TimesOfUser(Duration period) {
			this.period = period;
		}

		static TimesOfUser of(int number) {
			if (number % 100 == 0) {
				return FREQUENT;
			}
			return (number % 20 == 1) ? SOON : LATER;
		}

	}

}
