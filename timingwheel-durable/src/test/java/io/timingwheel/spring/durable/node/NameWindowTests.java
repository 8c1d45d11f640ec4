package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.store.LeasedTask;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NameWindowTests {

	private final AtomicLong clock = new AtomicLong(1);

	private final List<Run> released = new ArrayList<>();

	private final AtomicInteger calls = new AtomicInteger();

	private final NameWindow window = new NameWindow(this.clock::get, this.released::add, this.calls::incrementAndGet);

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
			begun.add(this.window.begun());
		}
		return begun;
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
			this.window.started(this.window.begun());
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
	void tasksWaitInTheQueueUntilHalfOfTheWindowIsFree() {
		List<Run> runs = new ArrayList<>();
		for (int i = 0; i < NameWindow.MIN_SIZE + 6; i++) {
			LeasedTask task = new LeasedTask("id" + i, 1, "name", null, "", null, 0, false, 1, 0, 0, null);
			Run run = new Run(task, null, this.window, null, i, false);
			assertThat(this.window.tryBegin(run)).isEqualTo(i < NameWindow.MIN_SIZE);
			runs.add(run);
		}
		assertThat(this.window.hasBacklog()).isTrue();
		assertThat(this.window.room()).isZero();
		assertThat(this.window.removeQueued(runs.get(NameWindow.MIN_SIZE + 1))).isTrue();
		assertThat(this.window.removeQueued(runs.get(NameWindow.MIN_SIZE + 1))).isFalse();
		List<Long> begun = new ArrayList<>();
		for (int i = 0; i < NameWindow.MIN_SIZE; i++) {
			begun.add(this.window.begun());
			this.window.triedToBegin();
		}
		begun.subList(0, 3).forEach(this.window::started);
		assertThat(this.released).isEmpty();
		assertThat(this.calls).hasValue(0);
		this.window.started(begun.get(3));
		assertThat(this.released).containsExactly(runs.get(8), runs.get(10), runs.get(11), runs.get(12));
	}

}
