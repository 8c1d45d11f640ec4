package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.StartLimitContractTests;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class RedisStartLimitTests extends StartLimitContractTests {

	/**
	 * A claim reads the clock for each call that looks for tasks, and for the one that
	 * takes places.
	 */
	private static final int READINGS_BEFORE_BEGIN = RedisStores.OPTIONS.partitions() + 1;

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
		this.store.setClock(
				() -> (calls.getAndIncrement() < READINGS_BEFORE_BEGIN) ? start : start + LEASE.toMillis() + 1000);
		enqueueMany(NAME, 40);
		StartLimits limits = new StartLimits(40, 0, HOUR.toMillis() * 1000 / 20, 20);
		assertTimeoutPreemptively(Duration.ofMinutes(2), () -> assertThat(claim(this.store, limits)).isEmpty());
		assertThat(calls).hasValueGreaterThan(READINGS_BEFORE_BEGIN);
		assertThat(claim(this.store, limits)).as("the starts of the rate were given back").hasSize(20);
	}

	/**
	 * The other node begins tasks while a node is between the request that takes starts
	 * and the one that begins tasks. Time passes as well, in which the starts of the
	 * first node no longer hold up others.
	 */
	@Test
	void startsAreNotGivenBackForTheTimeThatHasPassed() {
		StartLimits rate = new StartLimits(0, 0, 10_000, 6);
		enqueueMany(NAME, 100);
		AtomicLong clock = new AtomicLong(this.store.now());
		this.other.setClock(clock::get);
		AtomicInteger readings = new AtomicInteger(READINGS_BEFORE_BEGIN);
		this.store.setClock(() -> {
			if (readings.getAndDecrement() == 0) {
				for (int i = 0; i < 3; i++) {
					clock.addAndGet(30);
					assertThat(claim(this.other, rate)).hasSize(3);
				}
			}
			return clock.get();
		});
		assertThat(claim(this.store, rate)).as("too late").isEmpty();
		assertThat(claim(this.other, rate)).as("with those of the same millisecond a burst")
			.hasSizeLessThanOrEqualTo(3);
	}

	@Test
	void startsThatComeTooLateAreGivenBackForTheTimeThatIsLeft() {
		StartLimits rate = new StartLimits(0, 0, 10_000, 6);
		enqueueMany(NAME, 100);
		AtomicLong clock = new AtomicLong(this.store.now());
		this.other.setClock(clock::get);
		AtomicInteger readings = new AtomicInteger(READINGS_BEFORE_BEGIN);
		this.store.setClock(() -> {
			if (readings.getAndDecrement() == 0) {
				clock.addAndGet(51);
			}
			return clock.get();
		});
		Claimed late = this.store.claim(new ClaimRequest("a", Map.of(NAME, new Limit(100, 0)), 100, false, LOOK_AHEAD,
				LEASE, ANY_SIZE, Map.of(NAME, rate)));
		assertThat(late.tasks()).isEmpty();
		assertThat(late.startAt()).as("asks again at once").isLessThanOrEqualTo(late.now());
		assertThat(late.heldBack()).isEmpty();
		assertThat(claim(this.other, rate)).hasSize(6);
	}

	/**
	 * Each request takes longer than tasks may begin late. The network is slow, or the
	 * clocks of two servers differ.
	 */
	@Test
	void tasksWithARateBeginAlthoughAllRequestsTakeLong() {
		StartLimits rate = new StartLimits(0, 0, 10_000, 6);
		enqueueMany(NAME, 100);
		AtomicLong clock = new AtomicLong(this.store.now());
		this.store.setClock(() -> clock.addAndGet(5));
		int begun = 0;
		for (int i = 0; i < 20; i++) {
			begun += claim(this.store, rate).size();
		}
		assertThat(begun).isGreaterThanOrEqualTo(20);
	}

	/**
	 * The network was slow for the claims of another name before.
	 */
	@Test
	void aFurtherNameWithARateNeedNotLearnThatAllRequestsTakeLong() {
		StartLimits rate = new StartLimits(0, 0, 10_000, 6);
		enqueueMany(NAME, 100);
		enqueueMany("further", 100);
		AtomicLong clock = new AtomicLong(this.store.now());
		for (int i = 0; i < 8; i++) {
			assertThat(claimSlowly(NAME, rate, clock.addAndGet(1000), 51, 0)).isZero();
		}
		assertThat(claimSlowly("further", rate, clock.addAndGet(1000), 51, 0)).isEqualTo(6);
	}

	/**
	 * The clock of the partitions with the tasks is ahead of the one that counts the
	 * starts of a name. The starts of another name are counted by the first clock.
	 */
	@Test
	void clocksThatDifferForANameHoldItUpOnlyForAFewClaims() {
		StartLimits rate = new StartLimits(0, 0, 10_000, 6);
		String even = "even";
		enqueueMany(NAME, 100);
		enqueueMany(even, 200);
		AtomicLong clock = new AtomicLong(this.store.now());
		int begun = 0;
		for (int i = 0; i < 20; i++) {
			begun += claimSlowly(NAME, rate, clock.addAndGet(1000), 51, 0);
			assertThat(claimSlowly(even, rate, clock.addAndGet(1000), 0, 0)).isEqualTo(6);
		}
		assertThat(begun).isGreaterThanOrEqualTo(48);
	}

	/**
	 * A claim that finds a task needs one request more than a claim that finds none. The
	 * second request comes after the usual time.
	 */
	@Test
	void claimsThatFindNothingDoNotMakeTheOthersTooLate() {
		StartLimits limits = new StartLimits(0, 1, 10_000, 6);
		AtomicLong clock = new AtomicLong(this.store.now());
		enqueueDue("k");
		assertThat(claimSlowly(NAME, limits, clock.get(), 0, 0)).isEqualTo(1);
		enqueueDue("k");
		int begun = 0;
		for (int i = 0; i < 20; i++) {
			assertThat(claimSlowly(NAME, limits, clock.addAndGet(100), 27, 27)).as("the key is busy").isZero();
			enqueueDue("free " + i);
			begun += claimSlowly(NAME, limits, clock.addAndGet(100), 28, 28);
			this.other.cancel(TaskId.of(NAME, "free " + i));
		}
		assertThat(begun).isGreaterThanOrEqualTo(12);
	}

	/**
	 * Claims tasks while each request takes some time.
	 * @param now the time of the requests that look for tasks and take starts
	 * @param first the milliseconds until the first request that begins tasks
	 * @param second the milliseconds from then to the second one
	 * @return how many tasks have begun
	 */
	private int claimSlowly(String name, StartLimits limits, long now, long first, long second) {
		AtomicInteger readings = new AtomicInteger();
		this.store.setClock(() -> {
			int begins = readings.getAndIncrement() - READINGS_BEFORE_BEGIN;
			return now + ((begins >= 0) ? first : 0) + ((begins >= RedisStores.OPTIONS.partitions()) ? second : 0);
		});
		// A request for suspects makes each claim look.
		return this.store
			.claim(new ClaimRequest("a", Map.of(name, new Limit(100, 0)), 100, true, LOOK_AHEAD, LEASE, ANY_SIZE,
					Map.of(name, limits)))
			.tasks()
			.size();
	}

	private void enqueueDue(String key) {
		this.other.enqueue(task(NAME, key, new DueTime(1000, true), IfPending.REPLACE, null));
	}

	private void enqueueMany(String name, int count) {
		this.other.enqueueAll(Stream.generate(() -> task(name, null, new DueTime(1000, true), IfPending.REPLACE, null))
			.limit(count)
			.toList());
	}

}
