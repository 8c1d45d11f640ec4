package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.StartLimitContractTests;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class RedisStartLimitTests extends StartLimitContractTests {

	private final RedisStores stores = TestRedis.STANDALONE.stores(getClass());

	@Override
	protected void clear() {
		this.stores.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.stores.node();
	}

	@Override
	protected boolean countsNodesWithoutTheLimit() {
		return false;
	}

	/**
	 * The node was stopped after it had taken the places, or the clock of a partition is
	 * ahead.
	 */
	@Test
	void aClaimWhosePlacesHaveEndedBeforeItBeginsTasksEndsAndGivesThemBack() {
		long start = this.store.now();
		AtomicInteger calls = new AtomicInteger();
		int before = RedisStores.OPTIONS.partitions() + 1;
		// First come the calls that look for tasks, and the one that takes the places.
		this.store.setClock(() -> (calls.getAndIncrement() < before) ? start : start + LEASE.toMillis() + 1000);
		Stream.generate(() -> task(NAME, null, new DueTime(1000, true), IfPending.REPLACE, null))
			.limit(40)
			.forEach(this.other::enqueue);
		StartLimits limits = new StartLimits(40, 0, HOUR.toMillis() * 1000 / 20, 20);
		assertTimeoutPreemptively(Duration.ofMinutes(2), () -> assertThat(claim(this.store, limits)).isEmpty());
		assertThat(calls).hasValueGreaterThan(before);
		assertThat(claim(this.store, limits)).as("the starts of the rate were given back").hasSize(20);
	}

}
