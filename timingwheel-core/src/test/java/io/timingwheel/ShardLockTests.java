package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class ShardLockTests {

	private final ShardLock lock = new ShardLock() {
	};

	/** Only the thread that holds the lock writes this. */
	private int taken;

	@Test
	void threadsExcludeEachOther() {
		List<Thread> threads = new ArrayList<>();
		AtomicInteger locked = new AtomicInteger();
		long begin = System.nanoTime();
		for (int i = 0; i < 4; i++) {
			boolean driver = i == 0;
			threads.add(start(() -> {
				// Under load each change of the thread takes long.
				for (int n = 0; n < 50_000 && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(5); n++) {
					locked.incrementAndGet();
					if (driver) {
						this.lock.lockNext();
					}
					else {
						this.lock.lock();
					}
					this.taken++;
					this.lock.close();
				}
			}));
		}
		threads.forEach(Latches::join);
		this.lock.lock();
		assertThat(this.taken).isEqualTo(locked.get());
	}

	/** The callers begin to wait before the lock is free, and after the driver. */
	@Test
	void nobodyTakesTheLockWhileTheDriverWaits() {
		for (int round = 0; round < 5; round++) {
			this.taken = 0;
			this.lock.lock();
			AtomicInteger overtaken = new AtomicInteger(-1);
			Thread driver = start(() -> {
				this.lock.lockNext();
				overtaken.set(this.taken);
				this.lock.close();
			});
			await().until(() -> this.lock.reserved != 0);
			AtomicBoolean done = new AtomicBoolean();
			AtomicInteger begun = new AtomicInteger();
			List<Thread> callers = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				callers.add(start(() -> {
					begun.incrementAndGet();
					while (!done.get()) {
						this.lock.lock();
						this.taken++;
						this.lock.close();
					}
				}));
			}
			await().until(() -> begun.get() == 8);
			this.lock.close();
			Latches.join(driver);
			done.set(true);
			callers.forEach(Latches::join);
			assertThat(overtaken).hasValue(0);
			assertThat(this.lock.reserved).isZero();
		}
	}

	@Test
	void threadThatWaitsKeepsItsInterruptFlag() {
		this.lock.lock();
		AtomicBoolean interrupted = new AtomicBoolean();
		Thread waiting = start(() -> {
			Thread.currentThread().interrupt();
			this.lock.lock();
			interrupted.set(Thread.currentThread().isInterrupted());
			this.lock.close();
		});
		await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
		this.lock.close();
		Latches.join(waiting);
		assertThat(interrupted).isTrue();
	}

	private static Thread start(Runnable task) {
		Thread thread = new Thread(task);
		thread.start();
		return thread;
	}

}
