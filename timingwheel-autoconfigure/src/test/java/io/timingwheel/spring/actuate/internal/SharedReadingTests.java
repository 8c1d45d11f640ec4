package io.timingwheel.spring.actuate.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SharedReadingTests {

	private static final long HOUR = 3_600_000_000_000L;

	private final AtomicInteger reads = new AtomicInteger();

	@Test
	void aReadingIsKept() {
		SharedReading<Integer> reading = new SharedReading<>(this.reads::incrementAndGet, (value) -> HOUR);
		assertThat(reading.get()).isOne();
		assertThat(reading.get()).isOne();
		reading.forget();
		assertThat(reading.get()).isEqualTo(2);
	}

	@Test
	void anOldReadingIsReadAgain() {
		SharedReading<Integer> reading = new SharedReading<>(this.reads::incrementAndGet, (value) -> 0);
		assertThat(reading.get()).isOne();
		assertThat(reading.get()).isEqualTo(2);
	}

	@Test
	void whileOneThreadReadsTheOthersGetTheReadingBefore() throws InterruptedException {
		CountDownLatch reading = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		SharedReading<Integer> shared = new SharedReading<>(() -> {
			int read = this.reads.incrementAndGet();
			if (read == 2) {
				reading.countDown();
				await(answer);
			}
			return read;
		}, (value) -> 0);
		assertThat(shared.get()).isOne();
		Executor thread = (task) -> new Thread(task).start();
		CompletableFuture<Integer> slow = CompletableFuture.supplyAsync(shared::get, thread);
		reading.await();
		assertThat(shared.get()).isOne();
		answer.countDown();
		assertThat(slow.join()).isEqualTo(2);
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
