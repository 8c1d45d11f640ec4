package io.timingwheel.spring.durable.support;

import java.util.List;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.LeasedTask;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TaskPollerTests {

	private static final long NOW = 1_000_000;

	private static final long INTERVAL = 1000;

	private static final long LOOK_AHEAD = 2000;

	private static final LeasedTask TASK = new LeasedTask("id", 1, "name", null, "{}", null, NOW + 500, false, 1, 0, 0,
			false);

	private static long sleep(List<LeasedTask> tasks, long nextAt) {
		return TaskPoller.sleepMillis(new Claimed(tasks, NOW, nextAt), INTERVAL, LOOK_AHEAD);
	}

	@Test
	void withoutTasksThePollerSleepsUntilTheNextOneCanBeClaimed() {
		assertThat(sleep(List.of(), NOW + LOOK_AHEAD + 300)).isEqualTo(300);
		assertThat(sleep(List.of(), NOW + LOOK_AHEAD + 1)).isEqualTo(50);
	}

	@Test
	void withoutTasksThePollerSleepsForAPollIntervalAtMost() {
		assertThat(sleep(List.of(), Long.MAX_VALUE)).isEqualTo(INTERVAL);
		assertThat(sleep(List.of(), NOW + LOOK_AHEAD + 5000)).isEqualTo(INTERVAL);
	}

	@Test
	void withoutTasksThePollerWaitsForTheLeaseOfAnotherNode() {
		assertThat(sleep(List.of(), NOW + 700)).isEqualTo(700);
	}

	@Test
	void afterAClaimWithTasksThePollerClaimsAgainSoon() {
		assertThat(sleep(List.of(TASK), Long.MAX_VALUE)).isEqualTo(Claimed.MAX_PAUSE_MILLIS);
		assertThat(sleep(List.of(TASK), NOW + LOOK_AHEAD + 70)).isEqualTo(70);
		assertThat(sleep(List.of(TASK), NOW + LOOK_AHEAD - 5)).isEqualTo(Claimed.MAX_PAUSE_MILLIS);
	}

	@Test
	void aShortPollIntervalIsNotExceeded() {
		assertThat(TaskPoller.sleepMillis(new Claimed(List.of(TASK), NOW, NOW), 20, LOOK_AHEAD)).isEqualTo(20);
		assertThat(TaskPoller.sleepMillis(new Claimed(List.of(), NOW, NOW), 20, LOOK_AHEAD)).isEqualTo(20);
	}

}
