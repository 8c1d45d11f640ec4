package io.timingwheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that the driver takes the lock of the {@link WaitingTimers} before other threads,
 * in each of its steps.
 */
class WaitingTimersTests {

	private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

	private final ManualTimeSource clock = new ManualTimeSource();

	private final WheelClock time = new WheelClock(this.clock, MILLI);

	private final WaitingTimers waiting = new WaitingTimers();

	private final Shard shard = new Shard.Padded(this.time, new Alarm(), new TaskErrors(TaskErrors::log), this.waiting,
			new Wheel(256, MILLI));

	private final RefusalQueue queue = new RefusalQueue("executor", this.waiting);

	@Test
	void driverGoesFirstWhenItCreatesAQueue() {
		assertDriverGoesFirst(() -> new RefusalQueue("other", this.waiting));
	}

	@Test
	void driverGoesFirstWhenATimerIsRefused() {
		Timer timer = expiredTimer();
		assertDriverGoesFirst(() -> this.shard.refused(timer, this.queue));
		assertThat(timer.isWaiting()).isTrue();
	}

	@Test
	void driverGoesFirstWhenItPutsTimersBack() {
		Timer timer = timerInHand();
		this.shard.batch().keepCurrent(this.queue);
		assertThat(this.shard.batch().poll()).isNull();
		assertDriverGoesFirst(this.shard::putBackKept);
		assertThat(timer.isWaiting()).isTrue();
	}

	@Test
	void driverGoesFirstWhenItTakesATimerFromAQueue() {
		Timer timer = expiredTimer();
		this.shard.refused(timer, this.queue);
		assertDriverGoesFirst(() -> this.shard.expireWaiting(timer, this.queue));
		assertThat(timer.isExpired()).isTrue();
	}

	@Test
	void driverGoesFirstInEachStepOfARetry() {
		this.queue.beginRetry();
		assertDriverGoesFirst(this.queue::poll);
		assertDriverGoesFirst(this.queue::refused);
		assertDriverGoesFirst(this.queue::endRetry);
	}

	@Test
	void driverGoesFirstWhenARetryIsAccepted() {
		this.queue.beginRetry();
		assertDriverGoesFirst(this.queue::accepted);
	}

	/**
	 * The step begins while another thread holds the lock.
	 */
	private void assertDriverGoesFirst(Runnable step) {
		Thread driver = new Thread(step);
		this.waiting.lock();
		try {
			driver.start();
			await().until(this.waiting.lock::isReserved);
		}
		finally {
			this.waiting.unlock();
		}
		Latches.join(driver);
		assertThat(this.waiting.lock.isReserved()).isFalse();
	}

	private Timer expiredTimer() {
		Timer timer = timerInHand();
		assertThat(timer.expire(this.shard.batch().tick())).isTrue();
		return timer;
	}

	private Timer timerInHand() {
		Timer timer = new Timer(this.shard, () -> {
		}, 1);
		this.shard.add(timer, 1);
		this.clock.advance(Duration.ofMillis(1));
		while (this.shard.batch().isEmpty()) {
			this.shard.advance(this.time.now());
		}
		assertThat(this.shard.batch().poll()).isSameAs(timer);
		return timer;
	}

}
