package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NameWindowTests {

	private final AtomicLong clock = new AtomicLong(1);

	private final AtomicInteger calls = new AtomicInteger();

	private final NameWindow window = new NameWindow(this.clock::get, this.calls::incrementAndGet);

	private void pass(Duration time) {
		this.clock.addAndGet(time.toNanos());
	}

	/**
	 * Begins as many tasks as the window has room for.
	 * @return when each of them has begun
	 */
	private List<Long> fill() {
		List<Long> begun = new ArrayList<>();
		for (int room = this.window.room(); room > 0; room--) {
			begun.add(begin());
		}
		return begun;
	}

	private long begin() {
		this.window.enter(true);
		return this.clock.get();
	}

	@Test
	void itDoublesAsLongAsAllItsTasksStartWithoutDelay() {
		for (int size = NameWindow.MIN_SIZE; size <= 1024; size *= 2) {
			List<Long> begun = fill();
			assertThat(begun).hasSize(size);
			assertThat(this.window.room()).isZero();
			pass(Duration.ofMillis(1));
			begun.forEach(this.window::started);
		}
	}

	@Test
	void itDoesNotGrowUnlessItIsFull() {
		for (int i = 0; i < 100; i++) {
			this.window.started(begin());
		}
		assertThat(this.window.room()).isEqualTo(NameWindow.MIN_SIZE);
	}

	@Test
	void itShrinksToWhatStartsWithinATenthOfASecond() {
		for (int i = 0; i < 7; i++) {
			fill().forEach(this.window::started);
		}
		for (int i = 0; i < 20; i++) {
			for (long each : fill()) {
				// 250 bodies start in a second.
				pass(Duration.ofMillis(4));
				this.window.started(each);
			}
		}
		assertThat(this.window.room()).isBetween(8, 52);
	}

	@Test
	void itStaysSmallForSlowBodies() {
		for (int i = 0; i < 10; i++) {
			for (long each : fill()) {
				pass(Duration.ofSeconds(1));
				this.window.started(each);
			}
			assertThat(this.window.room()).isEqualTo(NameWindow.MIN_SIZE);
		}
	}

	@Test
	void itIsSmallAgainWhenNoTaskHasStartedForLong() {
		for (int i = 0; i < 4; i++) {
			fill().forEach(this.window::started);
		}
		pass(Duration.ofSeconds(11));
		assertThat(this.window.room()).isEqualTo(NameWindow.MIN_SIZE);
	}

	@Test
	void itTellsOnceThatHalfOfItIsFree() {
		List<Long> begun = fill();
		assertThat(this.window.enter(false)).isFalse();
		assertThat(this.window.hasBacklog()).isTrue();
		assertThat(this.window.hasRoomOrTells()).isFalse();
		begun.subList(0, 3).forEach(this.window::started);
		assertThat(this.calls).hasValue(0);
		this.window.started(begun.get(3));
		this.window.started(begun.get(4));
		assertThat(this.calls).hasValue(1);
		assertThat(this.window.hasRoomOrTells()).isTrue();
		begun.subList(5, 8).forEach(this.window::started);
		assertThat(this.calls).hasValue(1);
	}

}
