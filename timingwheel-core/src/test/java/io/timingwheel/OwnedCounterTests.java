package io.timingwheel;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OwnedCounterTests {

	private final OwnedCounter counter = new OwnedCounter.Padded();

	/**
	 * One thread owns the counter, and the others share.
	 */
	@Test
	void countsEachIncrementOfEachThread() {
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			Thread thread = new Thread(() -> {
				for (int n = 0; n < 50_000; n++) {
					this.counter.increment();
				}
			});
			threads.add(thread);
			thread.start();
		}
		threads.forEach(Latches::join);
		assertThat(this.counter.sum()).isEqualTo(20 * 50_000);
	}

	@Test
	void sumSeesTheIncrementsOfTheCaller() {
		for (int i = 1; i <= 100; i++) {
			this.counter.increment();
			assertThat(this.counter.sum()).isEqualTo(i);
		}
	}

}
